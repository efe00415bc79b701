"""Facts of this machine for the judges, read from Linux's files.

Reading changes nothing, except for one file of a few kilobytes that is made beside the store to
measure a sync, and removed.
"""

import contextlib
import ctypes
import importlib.metadata
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from aerobee._compiled import HOT_MODULES, is_compiled
from aerobee.app.diagnosis.clock import ClockFacts
from aerobee.app.diagnosis.disk import DiskFacts
from aerobee.app.diagnosis.kernel import KernelFacts
from aerobee.app.diagnosis.runtime import RuntimeFacts
from aerobee.app.load.measure.proc import Proc

SYNCS = 15
_SYNC_BYTES = 4096
_UNSYNCHRONIZED = 5
_TIMEX_BYTES = 512


def kernel_facts(root: Path = Path("/")) -> KernelFacts:
    """Return kernel settings; `root` is the folder that contains `proc` and `sys`."""
    vm = root / "proc/sys/vm"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    swaps = _text(root / "proc/swaps").splitlines()
    return KernelFacts(
        _number(vm / "overcommit_memory"),
        _number(vm / "max_map_count"),
        _number(vm / "swappiness"),
        _number(vm / "zone_reclaim_mode"),
        chosen_in(_text(root / "sys/kernel/mm/transparent_hugepage/enabled")) or None,
        (1 << 62) if hard == resource.RLIM_INFINITY else hard,
        has_swap=len(swaps) != 1,
    )


def disk_facts(store: str, root: Path = Path("/")) -> DiskFacts:
    """Return facts about the disk of a store's path, which need not exist yet."""
    path = Path(os.path.abspath(os.path.expanduser(store)))
    while not path.is_dir() and path.parent != path:
        path = path.parent
    room = os.statvfs(path)
    number = os.stat(path).st_dev
    device = Proc(root / "proc").device_of(number)
    queue = _queue_of(root, device)
    rotating = _number(queue / "rotational")
    times, complaint = sync_times(path)
    return DiskFacts(
        str(path),
        # What is set aside for root counts neither as used nor as free: as brokers see it.
        room.f_frsize * (room.f_blocks - room.f_bfree + room.f_bavail),
        room.f_frsize * room.f_bavail,
        file_system_in(_text(root / "proc/self/mountinfo"), number),
        device,
        chosen_in(_text(queue / "scheduler")),
        None if rotating is None else rotating != 0,
        statistics.median(times) if times else None,
        max(times) if times else None,
        complaint,
    )


def clock_facts(root: Path = Path("/")) -> ClockFacts:
    """Return whether the clock is synchronised, its source, jumps of wall time, and whether it is
    steady."""
    before = time.time() - time.monotonic()
    last = time.monotonic_ns()
    is_steady = True
    for _ in range(1000):
        now = time.monotonic_ns()
        is_steady = is_steady and now >= last
        last = now
    source = root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
    jumped = (time.time() - time.monotonic()) - before
    return ClockFacts(_is_synchronized(), _text(source).strip(), jumped, is_steady)


def runtime_facts() -> RuntimeFacts:
    try:
        loop_version = importlib.metadata.version("uvloop")
    except importlib.metadata.PackageNotFoundError:
        loop_version = ""
    return RuntimeFacts(
        sys.version_info[:3],
        platform.python_implementation(),
        loop_version,
        sum(map(is_compiled, HOT_MODULES)),
        len(HOT_MODULES),
        sys.platform,
    )


def sync_times(folder: Path, count: int = SYNCS) -> tuple[list[float], str]:
    """Return the milliseconds that each of several small synced writes took; or the reason why
    not."""
    times = []
    try:
        descriptor, name = tempfile.mkstemp(prefix=".aerobee-doctor-", dir=folder)
        try:
            for _ in range(count):
                os.write(descriptor, bytes(_SYNC_BYTES))
                began = time.perf_counter()
                os.fdatasync(descriptor)
                times.append(1000 * (time.perf_counter() - began))
        finally:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(name)
    except OSError as error:
        return [], error.strerror or str(error)
    return times, ""


def chosen_in(text: str) -> str:
    """Return the word in brackets: `always [madvise] never`; a text without brackets is returned as
    it is."""
    before, opened, rest = text.partition("[")
    return rest.partition("]")[0] if opened else before.strip()


def file_system_in(mountinfo: str, number: int) -> str:
    """Return the type of the file system with this device number; the last mount hides the
    others."""
    wanted = f"{os.major(number)}:{os.minor(number)}"
    found = ""
    for line in mountinfo.splitlines():
        fields, _, kind = line.partition(" - ")
        if fields.split()[2:3] == [wanted]:
            found = kind.split()[0]
    return found


def _queue_of(root: Path, device: str) -> Path:
    """Return the folder of a disk's settings; a partition has those of its disk."""
    block = root / "sys/class/block" / device if device else root / "sys/nothing"
    with contextlib.suppress(OSError):
        block = block.resolve()
    if not (block / "queue").is_dir() and (block.parent / "queue").is_dir():
        block = block.parent
    return block / "queue"


def _is_synchronized() -> bool | None:
    """Whether the kernel's clock is synchronised; None where it cannot be asked."""
    try:
        state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (AttributeError, OSError):
        return None
    return None if state < 0 else state != _UNSYNCHRONIZED


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""
