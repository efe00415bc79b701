"""The disk's judge: free space, file system, scheduler, and the duration of a sync.

Limits of space are those at which brokers delete files and refuse messages.
"""

from dataclasses import dataclass

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding
from aerobee.app.load.workload.amounts import shown_bytes

AREA = "disk"
DELETES_AT = 0.75
REFUSES_AT = 0.90
ROOM_BYTES = 3 << 30
"""Two files of a log, and what is beside it."""
SYNC_WARN_MS = 20.0
SYNC_BAD_MS = 100.0

_GOOD_SYSTEMS = ("ext4", "xfs", "ext3")
_COPYING_SYSTEMS = ("btrfs", "zfs", "bcachefs")
_MEMORY_SYSTEMS = ("tmpfs", "ramfs")
_GOOD_SCHEDULERS = ("none", "mq-deadline", "deadline", "noop", "kyber")


@dataclass(frozen=True, slots=True)
class DiskFacts:
    path: str
    """Where the store is or would be; the nearest folder that is there was looked at."""
    total_bytes: int
    free_bytes: int
    system: str
    device: str = ""
    """As the kernel calls it; empty: no disk of its own."""
    scheduler: str = ""
    is_rotating: bool | None = None
    sync_ms: float | None = None
    """The median of a few small writes, each made durable. None: it could not be tried."""
    worst_sync_ms: float | None = None
    complaint: str = ""
    """Why it could not."""


def disk_findings(facts: DiskFacts) -> list[Finding]:
    found = [_room(facts), _system(facts), _scheduler(facts), _sync(facts)]
    return [one for one in found if one is not None]


def _room(facts: DiskFacts) -> Finding:
    used = 1 - facts.free_bytes / facts.total_bytes if facts.total_bytes else 1.0
    seen = f"{facts.path}: {shown_bytes(facts.free_bytes)} free, {used:.0%} used"
    if used >= REFUSES_AT or facts.free_bytes < ROOM_BYTES / 2:
        return Finding(
            BAD,
            AREA,
            "room",
            seen,
            "make room, or keep the store elsewhere: storePathRootDir",
            f"a broker takes no more messages on a disk that is {REFUSES_AT:.0%} full",
            (f"du -xh --max-depth=2 {facts.path} | sort -h | tail",),
        )
    if used >= DELETES_AT or facts.free_bytes < ROOM_BYTES:
        return Finding(
            WARN,
            AREA,
            "room",
            seen,
            "make room, or keep messages for less time: fileReservedTime",
            f"from {DELETES_AT:.0%} on a broker deletes old messages before their time",
            (f"du -xh --max-depth=2 {facts.path} | sort -h | tail",),
        )
    return Finding(OK, AREA, "room", seen)


def _system(facts: DiskFacts) -> Finding:
    subject = "file system"
    device = f" on {facts.device}" if facts.device else ""
    seen = f"{facts.system or 'unknown'}{device}"
    if facts.system in _GOOD_SYSTEMS:
        return Finding(OK, AREA, subject, seen)
    if facts.system in _MEMORY_SYSTEMS:
        return Finding(
            WARN,
            AREA,
            subject,
            f"{seen}: in memory",
            "keep the store on a disk, if messages are to outlive the machine's next start",
            "nothing is durable there, whatever is synced",
        )
    if facts.system in _COPYING_SYSTEMS:
        return Finding(
            WARN,
            AREA,
            subject,
            seen,
            "use ext4 or xfs, or switch copying off for the folder",
            "it writes every change somewhere else: logs that are mapped and written in place "
            "fall into pieces",
            (f"chattr +C {facts.path}",) if facts.system == "btrfs" else (),
        )
    if facts.system == "overlay":
        return Finding(
            WARN,
            AREA,
            subject,
            "overlay: a container's own layer",
            "mount a volume there",
            "it is gone with the container, and slower than a volume",
        )
    if facts.system.startswith(("nfs", "cifs", "smb", "fuse", "9p", "ceph", "glusterfs")):
        return Finding(
            BAD,
            AREA,
            subject,
            seen,
            "keep the store on a disk of this machine",
            "mapped files over a network: a sync may say that it is done and not be, and an outage "
            "kills the process",
        )
    return Finding(
        WARN, AREA, subject, seen, "use ext4 or xfs", "nobody has tried a store on this one"
    )


def _scheduler(facts: DiskFacts) -> Finding | None:
    subject = "I/O scheduler"
    if not facts.scheduler:
        return None
    kind = {True: ", a rotating disk", False: ", no moving parts", None: ""}[facts.is_rotating]
    seen = f"{facts.scheduler} for {facts.device}{kind}"
    if facts.scheduler in _GOOD_SCHEDULERS:
        return Finding(OK, AREA, subject, seen)
    wanted = "mq-deadline" if facts.is_rotating else "none"
    return Finding(
        WARN,
        AREA,
        subject,
        seen,
        f"set it to {wanted}",
        "one that shares out by process lets a sync wait for others' reads",
        (f"echo {wanted} > /sys/block/{facts.device}/queue/scheduler",),
    )


def _sync(facts: DiskFacts) -> Finding:
    subject = "time of a sync"
    if facts.sync_ms is None or facts.worst_sync_ms is None:
        return Finding(
            BAD,
            AREA,
            subject,
            f"{facts.path}: {facts.complaint}",
            "let the broker's user write there",
            "a store that cannot be written cannot be used",
        )
    seen = f"{facts.sync_ms:.2f} ms, at worst {facts.worst_sync_ms:.2f} ms"
    if facts.sync_ms < SYNC_WARN_MS:
        return Finding(OK, AREA, subject, seen)
    return Finding(
        BAD if facts.sync_ms >= SYNC_BAD_MS else WARN,
        AREA,
        subject,
        seen,
        "use a disk with a write cache that survives a power cut, or ASYNC_FLUSH",
        "with SYNC_FLUSH a send waits for one of these, and all who wait at once share it",
    )
