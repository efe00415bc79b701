from dataclasses import replace

import pytest

from aerobee.app.diagnosis.disk import DiskFacts, disk_findings
from aerobee.app.diagnosis.finding import BAD, OK, WARN

GIB = 1 << 30
GOOD = DiskFacts("/data", 100 * GIB, 50 * GIB, "ext4", "sda", "none", False, 1.0, 2.0)


def level(facts: DiskFacts, subject: str) -> str:
    (found,) = [one for one in disk_findings(facts) if one.subject == subject]
    assert found.level == OK or (found.change and found.why)
    return found.level


def test_a_good_disk_is_well() -> None:
    assert {one.level for one in disk_findings(GOOD)} == {OK}
    assert len(disk_findings(GOOD)) == 4


@pytest.mark.parametrize(
    ("total", "free", "wanted"),
    [
        (100, 26, OK),
        (100, 25, WARN),
        (100, 10, BAD),
        (4, 2.5, WARN),  # half is free, but it is small
        (4, 1.4, BAD),
        (0, 0, BAD),
    ],
)
def test_room_is_judged_by_share_and_by_size(total: float, free: float, wanted: str) -> None:
    facts = replace(GOOD, total_bytes=int(total * GIB), free_bytes=int(free * GIB))
    assert level(facts, "room") == wanted


@pytest.mark.parametrize(
    ("system", "wanted"),
    [
        ("xfs", OK),
        ("btrfs", WARN),
        ("zfs", WARN),
        ("tmpfs", WARN),
        ("overlay", WARN),
        ("nfs4", BAD),
        ("fuse.sshfs", BAD),
        ("cifs", BAD),
        ("something", WARN),
        ("", WARN),
    ],
)
def test_file_systems_are_told_apart(system: str, wanted: str) -> None:
    assert level(replace(GOOD, system=system), "file system") == wanted


@pytest.mark.parametrize(
    ("scheduler", "wanted"), [("none", OK), ("mq-deadline", OK), ("bfq", WARN), ("cfq", WARN)]
)
def test_schedulers_are_judged(scheduler: str, wanted: str) -> None:
    assert level(replace(GOOD, scheduler=scheduler), "I/O scheduler") == wanted


def test_the_scheduler_that_is_advised_goes_with_the_disk() -> None:
    for is_rotating, wanted in ((True, "mq-deadline"), (False, "none")):
        facts = replace(GOOD, scheduler="bfq", is_rotating=is_rotating)
        (found,) = [one for one in disk_findings(facts) if one.level == WARN]
        assert found.commands == (f"echo {wanted} > /sys/block/sda/queue/scheduler",)


def test_a_disk_without_a_scheduler_is_not_judged_for_it() -> None:
    found = disk_findings(replace(GOOD, scheduler="", device=""))
    assert "I/O scheduler" not in [one.subject for one in found]


@pytest.mark.parametrize(("ms", "wanted"), [(19.9, OK), (20.0, WARN), (100.0, BAD)])
def test_a_slow_sync_is_said(ms: float, wanted: str) -> None:
    assert level(replace(GOOD, sync_ms=ms, worst_sync_ms=ms), "time of a sync") == wanted


def test_a_folder_that_cannot_be_written_is_bad() -> None:
    facts = replace(GOOD, sync_ms=None, worst_sync_ms=None, complaint="Permission denied")
    assert level(facts, "time of a sync") == BAD
    assert "Permission denied" in disk_findings(facts)[-1].seen
