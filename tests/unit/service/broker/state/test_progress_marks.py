import pytest

from aerobee.errors import CorruptFile, DiskFailed
from aerobee.model.properties import DELAY
from aerobee.ports.clock import Now
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.broker.delay.delay_levels import DelayLevels
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.progress_marks import MARKS_MAX, SAVE_MS, Mark, with_mark
from aerobee.service.broker.state.tables import Ground, Tables, open_tables
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import Seal, TimerCheck, decode_check, encode_check
from tests.delay_kit import CONFIG, LEVELS_MS, message
from tests.store_kit import ROOT, StoreKit, draft, read_all

PATH = f"{ROOT}/config/progressMarks.json"
CHECK_PATH = f"{ROOT}/config/timercheck"
OWN_GROUP, OWN_TOPIC = "CID_RMQ_SYS_TRANS", "RMQ_SYS_TRANS_HALF_TOPIC"
SCHEDULE = b"SCHEDULE_TOPIC_XXXX"


class Rig:
    """The tables of a broker over its store."""

    def __init__(self, disk: SimDisk | None = None, clock: SimClock | None = None) -> None:
        self.kit = StoreKit(disk, CONFIG, clock=clock)
        self.store, self.disk, self.worker = self.kit.store, self.kit.disk, self.kit.worker
        self.tables = self.open()

    def open(self) -> Tables:
        changes = ChangesFile(self.disk, f"{ROOT}/config/broker.properties", {})
        live = LiveConfig(BrokerConfig(), SETTINGS, changes, self.worker, {})
        ground = Ground(self.store, self.disk, self.worker)
        return open_tables(BrokerIdentity(), live, ground, self.now())

    def now(self) -> Now:
        return self.kit.clock.now()

    def progress(self, offset: int) -> None:
        """Every feature is at this offset, its timer as many milliseconds far."""
        tables = self.tables
        tables.delay_offsets.save({1: offset}, self.now().wall_ms)
        tables.delay_offsets.finish()
        tables.offsets.commit(OWN_GROUP, OWN_TOPIC, 0, offset, 99)
        tables.offsets.commit("g", OWN_TOPIC, 0, offset, 99)
        tables.offsets_file.saving.close(self.now())
        check = TimerCheck(offset, 520, offset, offset, 0, 99, 3)
        self.disk.replace(CHECK_PATH, encode_check(check, Seal(1_000, 20_000, 64)))

    def mark(self) -> None:
        """The time of two marks passes: the timer's checkpoint is in the second."""
        for _ in range(2):
            self.tables.progress_marks.saving.on_tick(self.kit.clock.advance(SAVE_MS))
            self.worker.run_all()
            self.worker.collect()

    def grow(self) -> int:
        """Two more messages in each queue; the end of the log."""
        for topic in (SCHEDULE, OWN_TOPIC.encode(), b"rmq_sys_wheel_timer"):
            self.kit.append_many(2, topic)
        self.kit.settle()
        return self.store.end_offset

    def cut(self, log_offset: int) -> "Rig":
        """The next process, which cuts the log."""
        disk = self.disk.kill()
        Store.open(disk, ROOT, CONFIG, SimDiskWorker(), cut_at=log_offset)
        return Rig(disk.kill(), self.kit.clock)

    def found(self) -> tuple[int, int, int, int]:
        """(delay level, own group, timer's time, timer's queue)."""
        decoded = decode_check(self.disk.read(CHECK_PATH))
        assert decoded is not None
        return (
            self.tables.delay_offsets.saved[1],
            self.tables.offsets.find(OWN_GROUP, OWN_TOPIC, 0),
            decoded[0].read_ms,
            decoded[0].taken_in,
        )


def marked() -> tuple[Rig, list[int]]:
    """Marks with progress 1, 3 and 5 in logs that end at these offsets, and progress 6 since."""
    rig, ends = Rig(), []
    for progress in (1, 3, 5):
        ends.append(rig.grow())
        rig.progress(progress)
        rig.mark()
    rig.grow()
    rig.progress(6)
    return rig, ends


@pytest.mark.parametrize(("number", "expected"), [(0, 1), (1, 3), (2, 5)])
def test_a_cut_takes_progress_back_to_what_the_log_still_has(number: int, expected: int) -> None:
    rig, ends = marked()
    after = rig.cut(ends[number])
    assert after.found() == (expected,) * 4
    assert after.tables.offsets.find("g", OWN_TOPIC, 0) == min(6, 2 * number + 2), "consumers' own"


def test_what_was_taken_back_is_on_the_disk_before_the_log_grows() -> None:
    rig, ends = marked()
    after = rig.cut(ends[0])
    while after.store.end_offset <= ends[2]:
        after.grow()
    assert Rig(after.disk.power_cut(), rig.kit.clock).found() == (1,) * 4


def test_a_wheel_that_knows_of_the_tail_is_not_used_again() -> None:
    rig, ends = marked()
    decoded = decode_check(rig.cut(ends[1]).disk.read(CHECK_PATH))
    assert decoded is not None
    assert decoded[1] is None


def test_a_cut_between_two_marks_goes_back_to_the_one_before() -> None:
    rig, ends = marked()
    middle = read_all(rig.store, SCHEDULE, 0)[5].log_offset
    assert ends[1] < middle < ends[2]
    assert rig.cut(middle).found() == (3,) * 4


def test_without_a_mark_everything_in_the_log_is_done_again() -> None:
    rig = Rig()
    end = rig.grow()
    rig.progress(1)
    rig.grow()
    assert rig.cut(end).found() == (0, 0, 0, 0)


def test_a_start_without_a_cut_changes_nothing() -> None:
    rig, _ = marked()
    rig.kit.settle()
    assert Rig(rig.disk.power_cut(), rig.kit.clock).found() == (6,) * 4


def test_a_mark_speaks_of_no_byte_that_a_power_cut_can_take() -> None:
    rig, _ = marked()
    rig.mark()
    rig.kit.append(draft(SCHEDULE, 0))
    rig.progress(7)
    rig.tables.progress_marks.saving.on_tick(rig.kit.clock.advance(SAVE_MS))
    assert rig.store.flushed_offset < rig.store.end_offset
    while rig.worker.pending():
        rig.worker.run_next()
    assert b'"logOffset":%d' % rig.store.end_offset not in rig.disk.read(PATH)


def test_progress_that_stands_still_is_not_saved_again() -> None:
    rig, _ = marked()
    rig.mark()
    before = rig.disk.read(PATH)
    rig.grow()
    rig.mark()
    assert rig.disk.read(PATH) == before


def test_a_start_fails_if_the_progress_cannot_be_taken_back() -> None:
    rig, ends = marked()
    after = rig.cut(ends[0])
    after.progress(2)
    after.disk.remove(CHECK_PATH)
    after.disk.capacity_bytes = 0
    with pytest.raises(DiskFailed):
        after.open()


@pytest.mark.parametrize("content", [b"{", b'{"marks":[7]}', b'{"marks":[{"logOffset":"x"}]}'])
def test_a_damaged_file_ends_the_start(content: bytes) -> None:
    rig = Rig()
    rig.disk.replace(PATH, content)
    with pytest.raises(CorruptFile):
        rig.open()


def test_a_delayed_message_whose_copy_was_cut_is_delivered_again() -> None:
    rig = Rig()
    levels = _levels(rig)
    writer = _writer(rig)
    writer.put(message(b"late", "Orders", 0, **{DELAY: "1"}), rig.now())
    rig.kit.settle()
    rig.mark()
    cut_at = rig.store.end_offset
    _run(rig, levels)
    assert [one.body for one in read_all(rig.store, b"Orders", 0)] == [b"late"]
    levels.stop(rig.now())
    assert rig.tables.delay_offsets.saved == {1: 1}

    after = rig.cut(cut_at)
    assert read_all(after.store, b"Orders", 0) == []
    _run(after, _levels(after))
    assert [one.body for one in read_all(after.store, b"Orders", 0)] == [b"late"]


def _writer(rig: Rig) -> MessageWriter:
    return MessageWriter(rig.store, SafeAnswers(rig.store, lambda: 5_000), len(LEVELS_MS))


def _levels(rig: Rig) -> DelayLevels:
    offsets = rig.tables.delay_offsets
    return DelayLevels(rig.store, _writer(rig), offsets, rig.worker, LEVELS_MS, rig.now())


def _run(rig: Rig, levels: DelayLevels) -> None:
    for _ in range(3):
        levels.on_tick(rig.kit.clock.advance(LEVELS_MS[0]))
        rig.kit.settle()


def test_marks_are_bounded_and_a_short_tail_costs_little() -> None:
    marks: list[Mark] = []
    end = 0
    for number in range(1, 5_000):
        end = number * 1_000
        marks = with_mark(marks, Mark(end))
        assert len(marks) <= MARKS_MAX
    for tail in (1, 1_000, 10_000, 100_000, 1_000_000, 4_900_000):
        left = [mark.log_offset for mark in marks if mark.log_offset <= end - tail]
        assert left, "the oldest stays"
        assert end - left[-1] <= max(2_000, 4 * tail)


def test_a_mark_at_the_same_place_replaces_the_one_before() -> None:
    first, second = Mark(10, {1: 1}), Mark(10, {1: 2})
    assert with_mark(with_mark([], first), second) == [second]
