"""Cleaning of a whole store: what goes, in which order, how fast, and what never does."""

import errno
from dataclasses import replace

import pytest

from aerobee.errors import DiskFailed, DiskFull, StoreBusy
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.retain.cleaner import QUEUES_A_STEP, RETRY_INTERVAL_MS, Cleaner
from aerobee.storage.retain.retention import CLOCK_SETTLE_MS
from tests.store_kit import ROOT, SMALL, StoreKit, bodies_of, draft, offsets_of, properties

RETENTION_MS = 600_000
DAY_MS = 86_400_000
CONFIG = replace(SMALL, retention_ms=RETENTION_MS, disk_free_bytes_min=1)
LOG = f"{ROOT}/commitlog"
QUEUE = f"{ROOT}/consumequeue/Orders/0"
INDEX = f"{ROOT}/index"


class CleaningKit(StoreKit):
    """A store whose log files hold eight messages each."""

    def fill(self, file_count: int, topic: bytes = b"Orders") -> None:
        """So many full files, durable and dispatched, and one message in the next file."""
        start = self.store.end_offset // SMALL.log_file_bytes
        number = 0
        while self.store.end_offset // SMALL.log_file_bytes < start + file_count:
            text = properties(KEYS=f"k{number} a b c")
            self.append(draft(topic, 0, f"{number}".encode().ljust(360), text))
            number += 1
        self.settle()

    def clean(self, ms: int = 1) -> None:
        """One step of which the disk work is done at once."""
        self.step(ms)
        self.worker.run_all()
        self.worker.collect()

    def clean_for(self, ms: int, each_ms: int = 50) -> None:
        for _ in range(0, ms, each_ms):
            self.clean(each_ms)

    def log_files(self) -> list[int]:
        names = self.disk.list_directory(LOG)
        return [int(name) // SMALL.log_file_bytes for name in names]


def kept_until(kit: CleaningKit) -> None:
    """Let time pass until everything is too old."""
    kit.clock.advance(RETENTION_MS + CLOCK_SETTLE_MS)


def small_disk(files: int) -> SimDisk:
    """A disk on which a few log files are too much, besides what the rest takes."""
    return SimDisk(capacity_bytes=60_000 + files * SMALL.log_file_bytes)


# What goes.


def test_old_log_files_go_with_their_queue_files_and_index_files() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(6)
    index_files = kit.disk.list_directory(INDEX)
    assert len(kit.disk.list_directory(QUEUE)) == 7
    kept_until(kit)
    kit.clean_for(2000)
    assert kit.log_files()[0] == 6
    assert kit.store.min_offset == 6 * SMALL.log_file_bytes
    assert offsets_of(kit.store.queue(b"Orders", 0)) == (48, 49, 49)
    assert len(kit.disk.list_directory(QUEUE)) == 1
    assert len(kit.disk.list_directory(INDEX)) < len(index_files)
    assert bodies_of(kit.store) == [b"48".ljust(360)]


def test_a_file_goes_when_its_newest_record_is_too_old_and_not_before() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(2)
    newest_ms = kit.clock.now().wall_ms  # no later than this
    kit.clock.advance(RETENTION_MS // 2)
    kit.fill(2)
    kit.clean_for(RETENTION_MS // 4, 1000)
    assert kit.log_files()[0] == 0
    kit.clean_for(RETENTION_MS // 2, 1000)
    assert kit.clock.now().wall_ms - newest_ms > RETENTION_MS
    assert kit.log_files()[0] == 2


def test_the_last_file_with_a_message_never_goes() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(1)
    for _ in range(3):
        kept_until(kit)
        kit.clean_for(2000)
    assert kit.log_files()[0] == 1
    assert bodies_of(kit.store) == [b"8".ljust(360)]


def test_a_new_and_empty_last_file_does_not_make_the_one_before_it_removable() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.append(draft(body=bytes(3000)))
    kit.settle()
    kit.append(draft(body=bytes(3900)))  # the file that holds it has no room for another
    kit.settle()
    kept_until(kit)
    kit.clean_for(2000)
    assert len(bodies_of(kit.store)) == 1


def test_without_an_index_there_is_none_to_clean() -> None:
    kit = CleaningKit(config=replace(CONFIG, index_enabled=False))
    kit.fill(2)
    kept_until(kit)
    kit.clean_for(2000)
    assert kit.log_files()[0] == 2


# In which order.


def test_messages_are_hidden_before_their_log_is_forgotten_and_names_go_last() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(1)
    for queue_id in range(1, QUEUES_A_STEP + 1):
        kit.append(draft(queue_id=queue_id))
    kit.settle()
    kept_until(kit)
    kit.step()
    assert offsets_of(kit.store.queue(b"Orders", 0))[0] == 8
    assert kit.store.min_offset == 0, "one queue is left to look at"
    kit.step()
    assert kit.store.min_offset == SMALL.log_file_bytes
    assert kit.log_files()[0] == 0
    kit.worker.run_all()
    kit.clean_for(1000)
    assert kit.log_files()[0] > 0


def test_one_log_file_goes_per_interval() -> None:
    config = replace(CONFIG, delete_interval_ms=100)
    kit = CleaningKit(config=config)
    kit.fill(5)
    kept_until(kit)
    kit.clean()
    begun_ms = kit.clock.now().monotonic_ms
    while kit.store.min_offset < 5 * SMALL.log_file_bytes:
        kit.clean(10)
        gone = kit.store.min_offset // SMALL.log_file_bytes
        assert gone <= 1 + (kit.clock.now().monotonic_ms - begun_ms) // 100
    assert kit.clock.now().monotonic_ms - begun_ms == pytest.approx(400, abs=60)


def test_no_log_file_goes_while_the_one_before_is_not_gone() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kept_until(kit)
    for _ in range(20):
        kit.step(1000)
    assert kit.store.min_offset == SMALL.log_file_bytes
    kit.clean_for(1000)
    assert kit.store.min_offset == 3 * SMALL.log_file_bytes


# When the disk is full.


def test_a_full_disk_makes_the_oldest_files_go_whatever_their_age() -> None:
    kit = CleaningKit(small_disk(20), config=replace(CONFIG, disk_used_ratio_clean=0.5))
    kit.fill(20)
    kit.clean_for(4000)
    space = kit.disk.space(ROOT)
    assert (space.total_bytes - space.free_bytes) / space.total_bytes <= 0.5
    assert 0 < kit.log_files()[0] < 20, "and no more than was needed"
    assert 0.5 * space.total_bytes - (space.total_bytes - space.free_bytes) < 2 * 4096
    assert kit.store.appender.refusal is None


def test_a_disk_that_others_fill_takes_all_but_the_last_file() -> None:
    kit = CleaningKit(SimDisk(capacity_bytes=1 << 20), config=CONFIG)
    kit.fill(4)
    kit.disk.create("others/much", (1 << 20) - 150_000)
    kit.clean_for(3000)
    assert kit.log_files()[0] == 4
    assert kit.store.appender.refusal is None
    kit.disk.create("others/more", 60_000)
    kit.clean_for(2000)
    with pytest.raises(DiskFull, match="appends stop above 90 %"):
        kit.append(draft())
    assert bodies_of(kit.store) == [b"32".ljust(360)]
    kit.disk.remove("others/much")
    kit.clean_for(2000)
    kit.append(draft())


# Which clock.


@pytest.mark.parametrize("jump_ms", [DAY_MS, 365 * DAY_MS, 82 * 365 * DAY_MS])
def test_a_jump_of_the_wall_clock_forward_deletes_nothing(jump_ms: int) -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kit.clean_for(2 * CLOCK_SETTLE_MS, 1000)
    kit.clock.jump_wall(jump_ms)
    kit.fill(1)
    kit.clean_for(10_000, 1000)
    assert kit.log_files()[0] == 0
    kit.clock.jump_wall(-jump_ms)
    kit.clean_for(RETENTION_MS, 1000)
    assert kit.log_files()[0] == 3, "what ends with a stamp of the future is kept until then"


def test_a_jump_back_only_delays() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kit.clock.jump_wall(-DAY_MS)
    kit.clean_for(2 * RETENTION_MS, 5000)
    assert kit.log_files()[0] == 0
    kit.clock.jump_wall(DAY_MS)
    kit.clean_for(2000)
    assert kit.log_files()[0] == 3


def test_a_start_with_a_wrong_clock_that_is_soon_set_right_deletes_nothing() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kit.clock.jump_wall(DAY_MS)
    again = CleaningKit(kit.disk.kill(), CONFIG, clock=kit.clock)
    again.clean_for(CLOCK_SETTLE_MS // 2, 1000)
    again.clock.jump_wall(-DAY_MS)
    again.clean_for(CLOCK_SETTLE_MS, 1000)
    assert again.log_files()[0] == 0


# What is needed stays.


def test_a_file_stays_until_the_mark_that_spares_it_is_on_the_disk() -> None:
    never = replace(CONFIG, checkpoint_interval_ms=10 * DAY_MS, checkpoint_bytes=1 << 40)
    kit = CleaningKit(config=never)
    for number in range(20):
        kit.append(draft(body=f"{number}".encode().ljust(360)))
    kit.store.sync()
    kept_until(kit)
    kit.clean_for(5000)
    assert kit.log_files()[0] == 0
    assert kit.store.min_offset == 0


def test_a_file_stays_if_a_power_cut_would_leave_an_older_mark() -> None:
    often = replace(CONFIG, checkpoint_interval_ms=3, mark_interval_ms=2, flush_interval_ms=1)
    kit = CleaningKit(config=often)
    marking = kit.store._parts.marking
    advances = set()
    for number in range(600):
        if number % 8 == 0:
            kit.append(draft(body=bytes(300)))
        kit.step()
        for _ in range(number % 7):
            kit.worker.run_next()
        kit.worker.collect()
        after = DurableMarkFile.open(kit.disk.power_cut(), f"{ROOT}/durable_mark").mark
        assert marking.dispatched_durably <= after.dispatched
        advances.add(marking.dispatched_durably)
    assert len(advances) > 10


def test_what_is_not_flushed_stays() -> None:
    kit = CleaningKit(config=CONFIG)
    for number in range(20):
        kit.append(draft(body=f"{number}".encode().ljust(360)))
    kit.clock.advance(RETENTION_MS)
    for _ in range(200):
        kit.step(1000)
    assert kit.store.min_offset == 0


def story_of_a_reader(defects: Defects) -> None:
    """A reader holds what it read while everything is cleaned away."""
    kit = CleaningKit(config=CONFIG, defects=defects)
    kit.fill(3)
    read = kit.store.read(b"Orders", 0, 0, 100, 1 << 20)
    before = [bytes(part) for part in read.slices]
    kept_until(kit)
    kit.clean_for(3000)
    assert kit.log_files()[0] == 3
    assert [bytes(part) for part in read.slices] == before
    read.verify(0)


def test_a_reader_keeps_what_it_has() -> None:
    story_of_a_reader(NO_DEFECTS)


def test_planted_file_in_use_wiped_is_noticed_by_a_reader() -> None:
    with pytest.raises(AssertionError):
        story_of_a_reader(frozenset({Defect.FILE_IN_USE_WIPED}))


# Starting and ending.


def test_what_a_crash_left_of_a_cleaning_is_cleaned_after_the_start() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    disk = kit.disk.kill()
    for number in range(3):
        disk.remove(f"{LOG}/{number * SMALL.log_file_bytes:020}")
    assert len(disk.list_directory(INDEX)) == 4
    again = CleaningKit(disk, CONFIG, clock=kit.clock)
    again.clean_for(1000)
    assert offsets_of(again.store.queue(b"Orders", 0)) == (24, 25, 25)
    assert len(disk.list_directory(QUEUE)) == 1
    assert len(disk.list_directory(INDEX)) == 1
    assert bodies_of(again.store) == [b"24".ljust(360)]


def test_a_topic_may_be_seen_for_less_time_than_its_log_is_kept() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kit.store.set_topic_retention(b"Orders", 30_000)
    kit.clean_for(2 * CLOCK_SETTLE_MS, 1000)
    assert kit.log_files()[0] == 0
    assert offsets_of(kit.store.queue(b"Orders", 0)) == (25, 25, 25)
    kit.append(draft())
    kit.clean()
    assert bodies_of(kit.store) == [b"a body"]


def test_closing_waits_for_the_disk_thread() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kept_until(kit)
    kit.step()
    kit.step()
    assert kit.worker.pending() == 2
    kit.store._cleaner.close()
    assert kit.worker.pending() == 0
    kit.store.close()
    again = CleaningKit(kit.disk, CONFIG, clock=kit.clock)
    assert offsets_of(again.store.queue(b"Orders", 0))[:2] == (8, 25)


def test_a_folder_that_cannot_be_synced_ends_the_writing() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kept_until(kit)
    kit.step()
    kit.step()
    kit.disk.faults.fail_call(3, errno.EIO)
    kit.worker.run_all()
    assert [call.name for call in kit.disk.faults.calls[-3:]] == [
        "space",
        "remove",
        "sync_directory",
    ]
    kit.step()
    with pytest.raises(DiskFailed, match="a sync of store/"):
        kit.append(draft())
    assert kit.store.failure is not None
    kit.store.close()
    assert kit.disk.exists(f"{ROOT}/abort")


# Shortage.


def new_cleaner(config: StorageConfig = CONFIG) -> Cleaner:
    kit = CleaningKit(config=config, clock=SimClock())
    return kit.store._cleaner


def test_a_shortage_is_waited_out_a_second_at_a_time() -> None:
    cleaner = new_cleaner()
    assert cleaner.has_room(0)
    cleaner.note_shortage(OSError(errno.ENOSPC, "full"))
    assert cleaner.is_short
    refusal = cleaner.refusal()
    assert isinstance(refusal, DiskFull)
    assert refusal.message == "no room for a file of the store: [Errno 28] full"
    assert not cleaner.has_room(10)
    assert not cleaner.has_room(10 + RETRY_INTERVAL_MS - 1)
    assert cleaner.has_room(10 + RETRY_INTERVAL_MS)
    assert not cleaner.is_short
    assert cleaner.refusal() is None


def test_too_much_open_is_busy_and_waited_out_like_a_shortage() -> None:
    cleaner = new_cleaner()
    cleaner.note_shortage(OSError(errno.EMFILE, "too many"))
    refusal = cleaner.refusal()
    assert isinstance(refusal, StoreBusy)
    assert refusal.message == "a file of the store could not be made: [Errno 24] too many"
    assert not cleaner.has_room(10)
    assert cleaner.has_room(10 + RETRY_INTERVAL_MS)
    assert cleaner.refusal() is None


def test_an_error_that_is_no_shortage_is_a_failed_disk_for_good() -> None:
    cleaner = new_cleaner()
    cleaner.note_shortage(OSError(errno.EIO, "broken"))
    assert cleaner.is_short
    for now_ms in (0, RETRY_INTERVAL_MS, 10 * RETRY_INTERVAL_MS):
        assert not cleaner.has_room(now_ms)
    refusal = cleaner.refusal()
    assert isinstance(refusal, DiskFailed)
    assert refusal.message == "a file of the store could not be made: [Errno 5] broken"


# Another time.


def test_files_go_by_the_time_that_was_set_last() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kit.clean_for(CLOCK_SETTLE_MS + 1_000, 1_000)
    assert kit.log_files()[0] == 0
    kit.store.set_retention(30_000)
    kit.clean_for(10_000)
    assert kit.log_files()[0] > 0


def test_a_longer_time_for_a_topic_keeps_nothing_longer() -> None:
    kit = CleaningKit(config=CONFIG)
    kit.fill(3)
    kit.store.set_topic_retention(b"Orders", 10 * RETENTION_MS)
    kit.clean_for(RETENTION_MS + CLOCK_SETTLE_MS, 10_000)
    assert kit.log_files()[0] > 0


def test_the_room_on_the_disk_is_told() -> None:
    kit = CleaningKit(SimDisk(capacity_bytes=1 << 20), CONFIG)
    space = kit.store.disk_space()
    assert space is not None
    assert space.total_bytes == 1 << 20
    assert 0 < space.free_bytes < 1 << 20
