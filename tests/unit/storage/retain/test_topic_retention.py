"""Topics that are seen for less time than the log is kept."""

import pytest

from aerobee.errors import Misuse
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.derived_files import DerivedFiles
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.retain.removals import Removals
from aerobee.storage.retain.topic_retention import (
    PASS_INTERVAL_MS,
    QUEUES_A_STEP,
    TopicRetention,
)
from tests.store_kit import properties

FILE_UNITS = 8
START = 1_700_000_000_000
RECORD_BYTES = 100


class TopicKit:
    """Queues whose records are only times: each record is stored a millisecond after the last."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        self.worker = SimDiskWorker()
        self.queues = ConsumeQueues(self.disk, "store/consumequeue", FILE_UNITS)
        self.batch_queues = BatchConsumeQueues(self.disk, "store/batchconsumequeue", FILE_UNITS)
        self.removals = Removals(self.disk, self.worker, NO_DEFECTS)
        self.times: dict[int, int] = {}
        self.reads = 0
        self.log_end = 0
        self.topics = TopicRetention(
            DerivedFiles(
                self.queues, self.batch_queues, None, KeptFiles(self.disk, "store/compacted")
            ),
            self.store_timestamp_at,
            self.removals,
        )

    def store_timestamp_at(self, log_offset: int) -> int | None:
        self.reads += 1
        return self.times.get(log_offset)

    def fill(self, topic: bytes, queue_id: int, count: int) -> None:
        queue = self.queues.find_or_make(topic, queue_id)
        for _ in range(count):
            queue.append(queue.max_offset, self._next_record(), RECORD_BYTES, 0)

    def fill_batches(self, topic: bytes, count: int) -> None:
        """Records of three messages each."""
        for number in range(count):
            time_ms = START + len(self.times)
            text = properties(INNER_BASE=str(3 * number), INNER_NUM="3")
            log_offset = self._next_record()
            self.batch_queues.append(topic, 0, log_offset, RECORD_BYTES, 0, time_ms, text)

    def _next_record(self) -> int:
        self.times[self.log_end] = START + len(self.times)
        self.log_end += RECORD_BYTES
        return self.log_end - RECORD_BYTES

    def min_offset(self, topic: bytes = b"Orders", queue_id: int = 0) -> int:
        queue = self.queues.find(topic, queue_id)
        assert queue is not None
        return queue.min_offset

    def names(self, topic: str = "Orders") -> list[str]:
        return self.disk.list_directory(f"store/consumequeue/{topic}/0")

    def remove_all(self) -> None:
        for ms in range(100):
            self.removals.step(ms)
            self.worker.run_all()
            self.worker.collect()


def test_messages_older_than_their_topic_allows_are_hidden() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 50)
    kit.topics.set(b"Orders", 10)
    kit.topics.step(START + 40, 0)
    assert kit.min_offset() == 30, "the one stored 10 ms ago is still seen"


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 50])
def test_every_time_is_found_exactly(count: int) -> None:
    for age_ms in range(-1, count + 2):
        kit = TopicKit()
        kit.fill(b"Orders", 0, count)
        kit.topics.set(b"Orders", 1)
        kit.topics.step(START + 1 + age_ms, 0)
        assert kit.min_offset() == min(max(age_ms, 0), count)


def test_a_queue_of_which_all_is_old_is_empty_and_goes_on_at_its_end() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 20)
    kit.topics.set(b"Orders", 10)
    kit.topics.step(START + 500, 0)
    queue = kit.queues.find(b"Orders", 0)
    assert queue is not None
    assert (queue.min_offset, queue.max_offset) == (20, 20)
    kit.fill(b"Orders", 0, 1)
    assert queue.unit(20) is not None


def test_queue_files_in_which_nothing_is_seen_are_removed_but_not_the_last() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 3 * FILE_UNITS)
    kit.topics.set(b"Orders", 1)
    kit.topics.step(START + 2 * FILE_UNITS, 0)
    assert kit.min_offset() == 2 * FILE_UNITS - 1
    assert len(kit.names()) == 3, "the core only lets go of them"
    kit.remove_all()
    assert kit.names() == [f"{n * FILE_UNITS * 20:020}" for n in (1, 2)]
    kit.topics.step(START + 5000, PASS_INTERVAL_MS)
    kit.remove_all()
    assert kit.names() == [f"{2 * FILE_UNITS * 20:020}"]


def test_other_topics_are_left_alone() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 10)
    kit.fill(b"Others", 0, 10)
    kit.topics.set(b"Orders", 1)
    kit.topics.step(START + 500, 0)
    assert kit.min_offset() == 10
    assert kit.min_offset(b"Others") == 0


def test_a_record_that_is_gone_counts_as_old() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 10)
    for number in range(4):
        del kit.times[number * RECORD_BYTES]
    kit.topics.set(b"Orders", 1000)
    kit.topics.step(START, 0)
    assert kit.min_offset() == 4


def test_units_of_a_gap_are_hidden_with_the_messages_before_it() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 3)
    queue = kit.queues.find(b"Orders", 0)
    assert queue is not None
    queue.append(6, kit._next_record(), RECORD_BYTES, 0)
    kit.topics.set(b"Orders", 1)
    kit.topics.step(START + 3, 0)
    assert queue.min_offset == 2
    kit.topics.step(START + 4, PASS_INTERVAL_MS)
    assert queue.min_offset == 6


def test_a_topic_of_batches_hides_whole_batches() -> None:
    kit = TopicKit()
    kit.fill_batches(b"Batches", 10)
    kit.topics.set(b"Batches", 1)
    kit.topics.step(START + 5, 0)
    queue = kit.batch_queues.find(b"Batches", 0)
    assert queue is not None
    assert (queue.min_offset, queue.max_offset) == (12, 30)
    kit.topics.step(START + 500, PASS_INTERVAL_MS)
    assert (queue.min_offset, queue.max_offset) == (30, 30)
    kit.remove_all()
    assert len(kit.disk.list_directory("store/batchconsumequeue/Batches/0")) == 1


# A little at a time.


def test_a_step_looks_at_a_few_queues() -> None:
    kit = TopicKit()
    count = 3 * QUEUES_A_STEP
    for queue_id in range(count):
        kit.fill(b"Orders", queue_id, 1)
    kit.topics.set(b"Orders", 1)
    for done in range(0, count + 1, QUEUES_A_STEP):
        assert sum(kit.min_offset(b"Orders", i) for i in range(count)) == done
        kit.topics.step(START + 500, done)


def test_a_pass_begins_once_a_second() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 10)
    kit.topics.set(b"Orders", 1)
    kit.topics.step(START + 3, 5000)
    kit.topics.step(START + 9, 5000 + PASS_INTERVAL_MS - 1)
    assert kit.min_offset() == 2
    kit.topics.step(START + 9, 5000 + PASS_INTERVAL_MS)
    assert kit.min_offset() == 8


def test_a_queue_without_old_messages_costs_one_look_at_the_log() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 1000)
    kit.topics.set(b"Orders", 5000)
    kit.topics.step(START, 0)
    assert kit.reads == 1


def test_a_search_stays_near_the_first_message_it_begins_at() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 1000)
    far = 20 * RECORD_BYTES
    kit.times = {offset: time for offset, time in kit.times.items() if offset < far}
    kit.topics.set(b"Orders", 1)
    kit.topics.step(START + 9, 0)  # a look beyond would see a record that is gone, and hide it
    assert kit.min_offset() == 8


# Setting.


def test_without_a_time_of_its_own_a_topic_shows_what_the_log_has() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 10)
    kit.topics.set(b"Orders", 1)
    kit.topics.set(b"Orders", None)
    kit.topics.set(b"Never", None)
    kit.topics.step(START + 500, 0)
    assert kit.min_offset() == 0
    assert kit.reads == 0


def test_what_is_set_back_during_a_pass_is_not_hidden_by_it() -> None:
    kit = TopicKit()
    for queue_id in range(QUEUES_A_STEP + 1):
        kit.fill(b"Orders", queue_id, 1)
    kit.topics.set(b"Orders", 1)
    kit.topics.step(START + 500, 0)
    kit.topics.set(b"Orders", None)
    kit.topics.step(START + 500, 1)
    assert kit.min_offset(b"Orders", QUEUES_A_STEP) == 0


def test_a_change_is_looked_at_without_waiting_for_the_next_pass() -> None:
    kit = TopicKit()
    kit.fill(b"Orders", 0, 10)
    kit.topics.set(b"Orders", 500)
    kit.topics.step(START + 9, 0)
    kit.topics.set(b"Orders", 1)
    kit.topics.step(START + 9, 1)
    assert kit.min_offset() == 8


@pytest.mark.parametrize("retention_ms", [0, -1])
def test_a_time_that_is_not_positive_is_refused(retention_ms: int) -> None:
    with pytest.raises(Misuse, match="must be positive"):
        TopicKit().topics.set(b"Orders", retention_ms)
