"""The way into the log: who gets which place in a queue, and what is turned away whole."""

import pytest

from aerobee.errors import DiskFull, MessageIllegal, Misuse
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import WHOLE, Record, RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.appender import Appender
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.commit.log_files import LogFiles
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.consume_queues import ConsumeQueues
from tests.store_kit import COMMITTED, PREPARED, ROLLED_BACK, batch_draft, draft

NOW = 1_700_000_000_000
FILE_BYTES = 4096


class AppenderKit:
    """An appender on a log of its own."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        sequence = FileSequence(self.disk, "commitlog", FILE_BYTES)
        files = LogFiles(sequence, SimDiskWorker(), 0, NO_DEFECTS)
        self.log = CommitLog(files, RecordWriter(StorageConfig().store_host, True), FILE_BYTES - 8)
        self.log.start_at(0, 0)
        self.queues = ConsumeQueues(self.disk, "consumequeue", 8)
        self.appender = Appender(self.log, self.queues)

    def append(self, message: MessageDraft) -> int:
        return self.appender.append(message, NOW)

    def next_offset(self, queue_id: int = 0) -> int:
        queue = self.queues.find(b"Orders", queue_id)
        return 0 if queue is None else queue.next_offset

    def records(self) -> list[tuple[int, int]]:
        """(log offset, queue offset) of every record of the first file."""
        found, position = [], 0
        record = Record()
        while record.read_from(self.log.sequence.files[0].view, position) == WHOLE:
            found.append((record.log_offset, record.queue_offset))
            position += record.size
        return found

    def image(self) -> tuple[int, int, dict[str, bytes]]:
        """All that an append can change."""
        return self.log.end_offset(), self.next_offset(), self.disk.files()


def test_messages_of_a_queue_get_offsets_one_after_another() -> None:
    kit = AppenderKit()
    places = []
    for _ in range(3):
        log_offset = kit.append(draft())
        places.append((log_offset, kit.appender.queue_offset))
        assert kit.appender.count == 1
    assert [queue_offset for _, queue_offset in places] == [0, 1, 2]
    assert places == kit.records()
    assert kit.next_offset() == 3


def test_each_queue_counts_for_itself() -> None:
    kit = AppenderKit()
    given = []
    for queue_id in (0, 1, 0, 1, 1):
        kit.append(draft(queue_id=queue_id))
        given.append(kit.appender.queue_offset)
    assert given == [0, 0, 1, 1, 2]
    assert (kit.next_offset(0), kit.next_offset(1)) == (2, 3)


def test_a_batch_takes_a_place_for_each_of_its_messages() -> None:
    kit = AppenderKit()
    kit.append(draft())
    first = kit.append(batch_draft(b"Orders", 0, [b"a", b"b", b"c"]))
    assert (kit.appender.queue_offset, kit.appender.count) == (1, 3)
    assert kit.records()[1] == (first, 1)
    kit.append(draft())
    assert kit.appender.queue_offset == 4
    assert [queue_offset for _, queue_offset in kit.records()] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("sys_flag", [PREPARED, ROLLED_BACK])
def test_what_nobody_reads_from_a_queue_takes_no_place_in_it(sys_flag: int) -> None:
    kit = AppenderKit()
    kit.append(draft())
    kit.append(draft(sys_flag=sys_flag))
    assert (kit.appender.queue_offset, kit.appender.count) == (0, 1)
    kit.append(draft())
    assert kit.appender.queue_offset == 1
    assert [queue_offset for _, queue_offset in kit.records()] == [0, 0, 1]


def test_a_committed_message_takes_a_place() -> None:
    kit = AppenderKit()
    kit.append(draft())
    kit.append(draft(sys_flag=COMMITTED))
    assert kit.appender.queue_offset == 1
    assert kit.next_offset() == 2


def test_while_refused_nothing_gets_in_and_the_reason_is_told() -> None:
    kit = AppenderKit()
    kit.append(draft())
    before = kit.image()
    kit.appender.refusal = DiskFull("no room")
    with pytest.raises(DiskFull, match="no room"):
        kit.append(draft())
    assert kit.image() == before
    kit.appender.refusal = None
    kit.append(draft())
    assert kit.next_offset() == 2


def test_a_refusal_comes_before_every_other_complaint() -> None:
    kit = AppenderKit()
    kit.appender.refusal = DiskFull("no room")
    with pytest.raises(DiskFull):
        kit.append(draft(b"no/topic", body=bytes(100_000)))


@pytest.mark.parametrize(
    "text", [b"k\x01" + bytes(32_766 - 20), b"k\x01" + b"x" * 5000 + b"\x02"], ids=["int16", "file"]
)
def test_a_message_that_does_not_fit_leaves_no_trace(text: bytes) -> None:
    kit = AppenderKit()
    kit.append(draft())
    before = kit.image()
    with pytest.raises(MessageIllegal):
        kit.append(draft(text=text))
    assert kit.image() == before


def test_a_malformed_batch_leaves_no_trace() -> None:
    kit = AppenderKit()
    kit.append(draft())
    before = kit.image()
    torn = draft(body=encode_batch([BatchMessage(b"a", {}), BatchMessage(b"b", {})])[:-1])
    torn.is_batch = True
    with pytest.raises(MessageIllegal, match="malformed"):
        kit.append(torn)
    assert kit.image() == before


def test_a_batch_in_a_transaction_leaves_no_trace() -> None:
    kit = AppenderKit()
    kit.append(draft())
    before = kit.image()
    prepared = batch_draft(b"Orders", 0, [b"a"])
    prepared.sys_flag = PREPARED
    with pytest.raises(MessageIllegal, match="transaction"):
        kit.append(prepared)
    assert kit.image() == before


@pytest.mark.parametrize(("topic", "queue_id"), [(b"../up", 0), (b"", 0), (b"Orders", 4096)])
def test_a_queue_that_cannot_be_is_misuse(topic: bytes, queue_id: int) -> None:
    kit = AppenderKit()
    before = kit.image()
    with pytest.raises(Misuse):
        kit.append(draft(topic, queue_id))
    assert kit.image() == before
    assert kit.queues.all() == []


def test_a_roll_without_room_leaves_the_queue_as_it_was() -> None:
    kit = AppenderKit()
    for _ in range(3):
        kit.append(draft(body=bytes(1000)))
    kit.disk.capacity_bytes = 5000
    before = kit.image()
    with pytest.raises(DiskFull):
        kit.append(draft(body=bytes(1000)))
    assert kit.image() == before


def test_the_appender_knows_where_a_topic_was_deleted() -> None:
    kit = AppenderKit()
    queues = ConsumeQueues(kit.disk, "consumequeue", 8, {b"Gone": 5000})
    appender = Appender(kit.log, queues)
    assert (appender.born_at(b"Gone"), appender.born_at(b"Orders")) == (5000, 0)
