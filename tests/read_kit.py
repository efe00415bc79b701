"""Queues over a small log, and a reader of them.

kit = filled(3, apart=True)          three messages of Orders, others between them
read = kit.read(1)                   from offset 1 on
offsets(read)                        which messages it found
"""

from aerobee.protocol.message.record import RecordWriter
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.commit.log_files import LogFiles
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.dispatch.dispatcher import Dispatcher
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.read.queue_reader import QueueReader
from tests.store_kit import draft, properties

EVER = 1 << 40
NOW = 1_700_000_000_000


class ReadKit:
    """A log of 4 KiB files, queues fed from it, and a reader that finds all of it hot."""

    def __init__(self, *, with_crc: bool = True) -> None:
        self.disk = SimDisk()
        sequence = FileSequence(self.disk, "log", 4096)
        files = LogFiles(sequence, SimDiskWorker(), 0, NO_DEFECTS)
        self.log = CommitLog(files, RecordWriter(bytes(8), with_crc), 4088)
        self.log.start_at(0, 0)
        self.queues = ConsumeQueues(self.disk, "queues", 4)
        batch_queues = BatchConsumeQueues(self.disk, "batches", 4)
        self.dispatcher = Dispatcher(sequence, self.queues, batch_queues, None, ())
        self.reader = QueueReader(sequence)
        self.next_offsets: dict[bytes, int] = {}

    def put(self, topic: bytes = b"Orders", body: bytes = b"body", tag: str = "") -> int:
        """One message, dispatched and readable; its log offset."""
        offset = self.next_offsets.get(topic, 0)
        self.next_offsets[topic] = offset + 1
        text = properties(TAGS=tag) if tag else b""
        log_offset = self.log.append(draft(topic, 0, body, text), offset, NOW)
        self.dispatcher.run(self.log.end_offset(), EVER)
        self.reader.readable_to = self.reader.dispatched_to = self.dispatcher.offset
        return log_offset

    def damage_body(self, log_offset: int) -> None:
        self.log.sequence.files[0].view[log_offset + 88] ^= 1

    def queue(self, topic: bytes = b"Orders") -> ConsumeQueue:
        return self.queues.find_or_make(topic, 0)

    def read(
        self,
        offset: int = 0,
        count_max: int = 1000,
        bytes_max: int = EVER,
        tags: tuple[bytes, ...] | None = None,
        topic: bytes = b"Orders",
    ) -> QueueRead:
        codes = None if tags is None else frozenset(tag_code(tag) for tag in tags)
        return self.reader.read(self.queue(topic), offset, count_max, bytes_max, codes)


def offsets(read: QueueRead) -> list[int]:
    """Queue offsets of the records that a read found."""
    data = b"".join(read.slices)
    assert (len(data), read.size) == (read.size, sum(len(part) for part in read.slices))
    messages = decode_records(data)
    assert len(messages) == read.count
    return [message.queue_offset for message in messages]


def filled(count: int, *, apart: bool = False) -> ReadKit:
    """So many messages with tags a, b, c in turn; `apart`: with another queue's in between."""
    kit = ReadKit()
    for number in range(count):
        kit.put(body=str(number).encode(), tag="abc"[number % 3])
        if apart:
            kit.put(b"Other")
    return kit
