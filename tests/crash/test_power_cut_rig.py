"""The rig catches what was not synced and does not cry wolf; the real disk keeps its promises."""

import contextlib
import errno
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.system.disk import PAGE_BYTES, MappedDisk
from tests.power_cut import Rig, missing

pytestmark = [pytest.mark.root, pytest.mark.skipif(bool(missing()), reason=missing())]

# In a process of its own: if it failed to fail, it would die of SIGBUS.
_WARM_A_HOLE = """
import sys
from aerobee.system.disk import MappedDisk
file = MappedDisk().open_sparse(sys.argv[1])
try:
    file.warm(0, len(file.view))
except OSError as error:
    print(error)
"""


@pytest.fixture(scope="module", params=["ext4", "xfs"])
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    with Rig(request.param) as rig:
        yield rig


@contextlib.contextmanager
def _after_cut(rig: Rig) -> Iterator[Path]:
    place = rig.cut()
    yield place
    rig.drop(place)


def test_unsynced_bytes_are_lost_and_synced_ones_are_not(rig: Rig) -> None:
    disk = MappedDisk()
    files = {name: disk.create(f"{rig.data}/{name}", 1 << 20) for name in ("never", "once")}
    for file in files.values():
        file.sync()
    disk.sync_directory(str(rig.data))
    for file in files.values():
        file.view[5000:9000] = b"A" * 4000
    files["once"].sync()
    with _after_cut(rig) as place:
        assert disk.read(f"{place}/never") == bytes(1 << 20)
        assert disk.read(f"{place}/once")[5000:9000] == b"A" * 4000


def test_a_name_is_there_after_its_folder_was_synced(rig: Rig) -> None:
    disk = MappedDisk()
    disk.make_directory(f"{rig.data}/deep/er")
    disk.create(f"{rig.data}/deep/er/synced", 4096).sync()
    disk.sync_directory(f"{rig.data}/deep/er")
    disk.create(f"{rig.data}/deep/er/unsynced", 4096)
    with _after_cut(rig) as place:
        assert disk.list_directory(f"{place}/deep/er") == ["synced"]


def test_folders_and_replaced_files_are_durable_at_once(rig: Rig) -> None:
    disk = MappedDisk()
    disk.make_directory(f"{rig.data}/one/two/three")
    disk.replace(f"{rig.data}/state", b"old")
    disk.replace(f"{rig.data}/state", b"new")
    with _after_cut(rig) as place:
        assert disk.exists(f"{place}/one/two/three")
        assert disk.read(f"{place}/state") == b"new"


def test_a_plain_write_and_rename_is_not_durable(rig: Rig) -> None:
    """What `replace` would be without its two syncs; if this survives, the rig is blind."""
    disk = MappedDisk()
    disk.replace(f"{rig.data}/careless", b"old")
    (rig.data / "careless.tmp").write_bytes(b"new")
    disk.rename(f"{rig.data}/careless.tmp", f"{rig.data}/careless")
    with _after_cut(rig) as place:
        assert disk.read(f"{place}/careless") == b"old"


def test_a_failed_sync_is_told_once_and_only_dropping_the_cache_shows_the_loss(rig: Rig) -> None:
    disk = MappedDisk()
    path = f"{rig.data}/lost"
    size = 4096 * PAGE_BYTES
    file = disk.create(path, size)
    file.sync()
    disk.sync_directory(str(rig.data))
    rig.fill()
    file.view[:] = b"D" * size
    with pytest.raises(OSError, match="cannot sync") as failure:
        file.sync()
    assert failure.value.errno in (errno.ENOSPC, errno.EIO)
    assert failure.value.filename == path
    file.sync()
    file.close()
    rig.unfill()

    assert disk.read(path) == b"D" * size  # what a restarted process would believe
    disk.drop_cache(path)
    truth = disk.read(path)
    assert truth.count(b"D") < size
    with _after_cut(rig) as place:
        assert disk.read(f"{place}/lost") == truth

    file = disk.open(path)
    file.view[:] = b"E" * size
    file.sync()
    with _after_cut(rig) as place:
        assert disk.read(f"{place}/lost") == b"E" * size
    file.close()
    disk.remove(path)


def _take_all(disk: MappedDisk, prefix: str, size: int, taken: list[str]) -> None:
    """Files of this size until one is refused."""
    while True:
        path = f"{prefix}{len(taken)}"
        disk.create(path, size).close()
        taken.append(path)


def test_a_full_disk_refuses_a_new_file_and_room_for_a_hole_and_warming_it_raises(rig: Rig) -> None:
    disk = MappedDisk()
    hole = rig.data / "hole"
    with open(hole, "wb") as file:
        file.truncate(16 << 20)
    taken: list[str] = []
    for size in (64 << 20, 1 << 20, 4096):
        with pytest.raises(OSError, match="No space left") as full:
            _take_all(disk, f"{rig.data}/taken", size, taken)
        assert full.value.errno == errno.ENOSPC
        assert not disk.exists(f"{rig.data}/taken{len(taken)}")
    with pytest.raises(OSError, match="cannot reserve"):
        disk.open(str(hole))
    warming = subprocess.run(
        [sys.executable, "-c", _WARM_A_HOLE, str(hole)], capture_output=True, text=True
    )
    assert warming.returncode == 0, warming.stderr
    assert "cannot make pages ready" in warming.stdout
    for path in (*taken, str(hole)):
        disk.remove(path)


def test_leaving_the_rig_leaves_nothing_behind() -> None:
    before = set(Path("/var/tmp").glob("power_cut.*"))
    with Rig("ext4") as rig:
        place = rig.cut()
        assert str(place) in Path("/proc/mounts").read_text()
    assert set(Path("/var/tmp").glob("power_cut.*")) == before
    assert str(place.parent) not in Path("/proc/mounts").read_text()
