import pytest

from aerobee.errors import CorruptFile
from aerobee.service.broker.state.staged_rounds import (
    IDLE_MS_MAX,
    WRITERS_MAX,
    StagedRound,
    StagedRounds,
    _with,
)
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "store/config/stagedRounds.json"


def opened(disk: SimDisk, worker: SimDiskWorker) -> StagedRounds:
    return StagedRounds(ConfigFile(disk, PATH), worker)


def test_a_decision_is_told_once_it_is_on_the_disk_and_comes_back() -> None:
    disk, worker = SimDisk(), SimDiskWorker()
    decisions = opened(disk, worker)
    told: list[BaseException | None] = []
    decision = StagedRound(9, (81505, 90210), False, 100)
    decisions.decide("W", decision, told.append)
    assert (told, decisions.find("W")) == ([], None)
    worker.run_all()
    worker.collect()
    assert told == [None]
    back = opened(disk.power_cut(), worker)
    assert back.open() == [("W", decision)]
    back.decide("W", StagedRound(9, (), True, 100), told.append)
    worker.run_all()
    worker.collect()
    assert (back.open(), back.find("W")) == ([], StagedRound(9, (), True, 100))


def test_who_has_been_silent_for_long_is_forgotten_unless_something_is_open() -> None:
    now = IDLE_MS_MAX + 10
    old, young = StagedRound(1, (), True, 9), StagedRound(1, (), True, 10)
    still_open = StagedRound(1, (5,), False, 0)
    kept = _with(
        {"old": old, "young": young, "open": still_open}, "new", StagedRound(1, (), True, now)
    )
    assert list(kept) == ["young", "open", "new"]


def test_of_too_many_the_oldest_is_forgotten() -> None:
    table = {f"w{number}": StagedRound(1, (), True, 5) for number in range(WRITERS_MAX)}
    kept = _with(table, "new", StagedRound(1, (), True, 6))
    assert len(kept) == WRITERS_MAX
    assert "w0" not in kept
    assert "new" in kept


@pytest.mark.parametrize(
    "content", [b'{"writes":{"W":{}}}', b'{"writes":{"W":{"roundId":1,"usedMs":1,"places":["x"]}}}']
)
def test_a_file_that_cannot_be_believed_stops_the_start(content: bytes) -> None:
    disk = SimDisk()
    disk.replace(PATH, content)
    with pytest.raises(CorruptFile):
        opened(disk, SimDiskWorker())
