"""The kernel's judge: settings that affect a broker: memory, maps, files.

A broker maps its files: shared with the page cache, one map for each file of the log and of every
queue. Its memory must not be swapped out, and writes must not wait for memory to be reclaimed.
"""

from dataclasses import dataclass

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding

AREA = "kernel"
MAPS_GOOD = 262_144
MAPS_LEAST = 65_530
FILES_GOOD = 65_536
FILES_LEAST = 4096
SWAPPINESS_GOOD = 10
_SYSCTL_FILE = "/etc/sysctl.d/90-aerobee.conf"


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """Values of kernel settings. None: this machine does not tell."""

    overcommit: int | None = None
    map_count: int | None = None
    swappiness: int | None = None
    zone_reclaim: int | None = None
    huge_pages: str | None = None
    """The mode that is chosen: always, madvise, never."""
    files_hard: int | None = None
    has_swap: bool = True


def kernel_findings(facts: KernelFacts) -> list[Finding]:
    found = [
        _overcommit(facts.overcommit),
        _map_count(facts.map_count),
        _swappiness(facts.swappiness, facts.has_swap),
        _zone_reclaim(facts.zone_reclaim),
        _huge_pages(facts.huge_pages),
        _files(facts.files_hard),
    ]
    return [one for one in found if one is not None]


def sysctl(name: str, value: int) -> tuple[str, str]:
    """Return commands that set a value now, and after the next boot."""
    return f"sysctl -w {name}={value}", f"echo '{name} = {value}' >> {_SYSCTL_FILE}"


def _overcommit(value: int | None) -> Finding | None:
    subject = "vm.overcommit_memory"
    if value is None:
        return None
    if value != 2:
        return Finding(OK, AREA, subject, str(value))
    return Finding(
        WARN,
        AREA,
        subject,
        "2: memory is refused before it is used up",
        "set it to 1, as RocketMQ advises, or 0",
        "a process that asks for room, for a large answer or for starting another process, may be "
        "refused while most of the memory is page cache",
        sysctl(subject, 1),
    )


def _map_count(value: int | None) -> Finding | None:
    subject = "vm.max_map_count"
    if value is None:
        return None
    if value >= MAPS_GOOD:
        return Finding(OK, AREA, subject, f"{value:,}")
    return Finding(
        BAD if value < MAPS_LEAST else WARN,
        AREA,
        subject,
        f"{value:,}",
        f"set it to {MAPS_GOOD:,} or more",
        "each file of the log and of every queue that is in use is a map; a broker with thousands "
        "of queues needs more, and cannot open a queue when there are none left",
        sysctl(subject, MAPS_GOOD),
    )


def _swappiness(value: int | None, has_swap: bool) -> Finding | None:
    subject = "vm.swappiness"
    if value is None:
        return None
    if value <= SWAPPINESS_GOOD or not has_swap:
        return Finding(OK, AREA, subject, f"{value}" + ("" if has_swap else ", and no swap"))
    return Finding(
        WARN,
        AREA,
        subject,
        str(value),
        "set it to 1",
        "the page cache of a busy log pushes the broker's own memory out to swap, and messages "
        "wait while it comes back",
        sysctl(subject, 1),
    )


def _zone_reclaim(value: int | None) -> Finding | None:
    subject = "vm.zone_reclaim_mode"
    if value is None:
        return None
    if value == 0:
        return Finding(OK, AREA, subject, "0")
    return Finding(
        WARN,
        AREA,
        subject,
        str(value),
        "set it to 0",
        "page cache is thrown away while other memory nodes are empty, and consumers read the disk",
        sysctl(subject, 0),
    )


def _huge_pages(mode: str | None) -> Finding | None:
    subject = "transparent huge pages"
    if mode is None:
        return None
    if mode != "always":
        return Finding(OK, AREA, subject, mode)
    return Finding(
        WARN,
        AREA,
        subject,
        "always",
        "set them to madvise",
        "the kernel stops a process to put pages together: pauses of milliseconds, seen at p99",
        ("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",),
    )


def _files(hard: int | None) -> Finding | None:
    subject = "open files (ulimit -Hn)"
    if hard is None:
        return None
    if hard >= FILES_GOOD:
        return Finding(OK, AREA, subject, f"{hard:,}")
    return Finding(
        BAD if hard < FILES_LEAST else WARN,
        AREA,
        subject,
        f"{hard:,}",
        f"allow {FILES_GOOD:,} or more: LimitNOFILE= of its unit, or limits.conf",
        "every connection is a file; a broker takes all that it may have, and refuses the rest",
        (f"echo '* - nofile {FILES_GOOD}' >> /etc/security/limits.d/90-aerobee.conf",),
    )
