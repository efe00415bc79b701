import pytest

from aerobee.service.broker.timer.slot_walk import SlotWalk, TimerDamaged
from aerobee.sim.disk import SimDisk
from aerobee.storage.timer.timer_log import DEFAULT, DELETE, ROLL, TimerLog, TimerUnit
from aerobee.storage.timer.timer_wheel import Slot

TIME = 1_700_000_005_000


def chain(magics: list[int], time_ms: int = TIME) -> tuple[TimerLog, list[int]]:
    """A log with one slot's units, and one of another slot before each."""
    log = TimerLog(SimDisk(), "timerlog", 10 * 52 + 20)
    positions: list[int] = []
    for number, magic in enumerate(magics):
        log.append(*TimerUnit(-1, 1, time_ms, 1_000, 7, 7, 7))
        previous = positions[-1] if positions else -1
        positions.append(log.append(*TimerUnit(previous, magic, time_ms, 0, number, 100, 0)))
    return log, positions


def left(walk: SlotWalk) -> list[int]:
    return [walk.position(index) for index in range(walk.left)]


def walked(log: TimerLog, slot: Slot, step: int = 100) -> SlotWalk:
    walk = SlotWalk(log, slot)
    while not walk.is_over:
        walk.step(step)
    return walk


@pytest.mark.parametrize("step", [1, 2, 3, 100])
def test_units_come_in_the_order_in_which_they_were_added(step: int) -> None:
    log, positions = chain([DEFAULT] * 12)
    walk = walked(log, Slot(TIME, positions[0], positions[-1], 12), step)
    assert walk.left == 12
    assert left(walk)[:5] == positions[:5]
    walk.take(5)
    assert left(walk) == positions[5:]
    walk.take(0)
    assert walk.left == 7


def test_units_before_the_first_are_done_with_but_still_take_back() -> None:
    log, positions = chain([DEFAULT | DELETE, DEFAULT, DEFAULT, DEFAULT | DELETE, DEFAULT])
    walk = walked(log, Slot(TIME, positions[2], positions[-1], 3))
    assert left(walk) == [positions[2], positions[4]]
    assert sorted(walk.deletes) == [positions[0], positions[3]]


def test_what_is_rolled_takes_nothing_back_yet() -> None:
    log, positions = chain([DEFAULT | ROLL | DELETE, DEFAULT | ROLL])
    walk = walked(log, Slot(TIME, positions[0], positions[-1], 2))
    assert left(walk) == positions
    assert not walk.deletes


def test_progress_names_the_first_that_is_left() -> None:
    log, positions = chain([DEFAULT] * 3)
    slot = Slot(TIME, positions[0], positions[-1], 3)
    walk = SlotWalk(log, slot)
    assert walk.progress() == slot, "not known yet"
    walk.step(100)
    walk.take(2)
    assert walk.progress() == Slot(TIME, positions[2], positions[2], 1)
    walk.take(1)
    assert walk.progress() == Slot(TIME, positions[2] + 1, positions[2], 0)


def test_a_chain_into_a_file_that_is_gone_ends_there_and_says_so() -> None:
    log, positions = chain([DEFAULT] * 12)
    assert log.take_first(1 << 40) is not None
    kept = [position for position in positions if position >= log.first_position]
    assert 0 < len(kept) < 12
    walk = walked(log, Slot(TIME, positions[0], positions[-1], 12))
    assert left(walk) == kept
    assert walk.was_cut
    walk = walked(log, Slot(TIME, kept[1], positions[-1], 12))
    assert left(walk) == kept[1:]
    assert not walk.was_cut, "what is gone was done with"


@pytest.mark.parametrize("last", [26, 5_000, 0, 10 * 52])
def test_a_slot_that_leads_to_no_unit_of_its_own_is_damage(last: int) -> None:
    log, _ = chain([DEFAULT] * 12)
    with pytest.raises(TimerDamaged):
        walked(log, Slot(TIME, 0, last, 12))


def test_a_chain_that_does_not_go_back_is_damage() -> None:
    log = TimerLog(SimDisk(), "timerlog", 10 * 52 + 20)
    log.append(*TimerUnit(0, 1, TIME, 0, 0, 100, 0))
    with pytest.raises(TimerDamaged):
        walked(log, Slot(TIME, 0, 0, 1))
