import pytest

from aerobee.service.broker.timer.timer_log_cleaning import INTERVAL_MS, TimerLogCleaning
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.timer.timer_log import TimerLog, TimerUnit

FOLDER = "store/timerlog"


class Rig:
    """Ten files of five units, for records at 0, 100, 200 …"""

    def __init__(self) -> None:
        self.disk, self.worker, self.clock = SimDisk(), SimDiskWorker(), SimClock()
        self.log = TimerLog(self.disk, FOLDER, 280)
        for number in range(50):
            self.log.append(*TimerUnit(-1, 1, 0, 0, 100 * number, 100, 0))
        self.cleaning = TimerLogCleaning(self.disk, self.worker, self.log, self.clock.now())

    def step(self, log_offset_min: int, ms: int = INTERVAL_MS) -> int:
        self.cleaning.step(log_offset_min, self.clock.advance(ms))
        self.worker.run_all()
        self.worker.collect()
        return len(self.disk.list_directory(FOLDER))


def test_files_go_whose_records_have_all_gone() -> None:
    rig = Rig()
    assert rig.step(0) == 10
    assert rig.step(400) == 10
    assert rig.step(401) == 9
    assert rig.step(2_000) == 6
    assert rig.step(1 << 40) == 1, "the newest is written to"


def test_nobody_looks_before_the_interval_is_over() -> None:
    rig = Rig()
    assert rig.step(1 << 40, INTERVAL_MS - 1) == 10
    assert rig.step(1 << 40, 1) == 1


def test_a_file_that_cannot_be_removed_stays(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    rig.disk.faults.fail_call(1)
    assert rig.step(401) == 10
    assert "stays" in caplog.text
    assert rig.log.first_position == 280
