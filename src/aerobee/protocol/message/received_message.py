"""The body of a pull's or a pop's answer → messages as an application has them.

One object for each message, with what nobody may ever ask for left as bytes: properties are taken
apart, a compressed body is expanded and ids are written when they are first looked at. So a body
that cannot be expanded is the business of whoever handles that message, and stops no other.

V1. Records are whole and their checksums hold, or the answer is refused as a whole.
V2. A message's parts are read, never written; `is_settled` is its holder's.
V3. A record that holds a batch is taken apart: message i has the batch's offset + i.

A message of a retry topic says the topic that it was first sent to; its queue is the one it came
from, for that is where its offset counts.
"""

from typing import TYPE_CHECKING

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_id import OffsetMessageId, address_text
from aerobee.model.message_queue import LogOffset, MessageQueue, QueueId
from aerobee.model.message_type import NO_PRIORITY, priority_of
from aerobee.model.names import is_retry_topic
from aerobee.model.properties import (
    INNER_BASE,
    INNER_COUNT,
    KEYS,
    POP_CHECKPOINT,
    RESERVED_NAMES,
    RETRY_TOPIC,
    SHARDING_KEY,
    START_DELIVER_TIME,
    TAGS,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_ID,
    UNIQUE_KEY,
    decode_properties,
    find_property,
)
from aerobee.protocol.message.compression import EXPANDED_BYTES_HARD_MAX, decompress
from aerobee.protocol.message.message_batch import decode_batch
from aerobee.protocol.message.record import FINDINGS, WHOLE, Record
from aerobee.protocol.message.stored_message import without_crc

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, bytes_at, same_bytes

_COMPRESSED = 0x1
_POP_CHECKPOINT = POP_CHECKPOINT.encode()
_TAGS = TAGS.encode()
_RETRY_TOPIC = RETRY_TOPIC.encode()
_UNIQUE_KEY = UNIQUE_KEY.encode()
# What clients and brokers write for each other, though an application may write it, too.
_NOT_HEADERS = RESERVED_NAMES | {
    INNER_BASE,
    INNER_COUNT,
    SHARDING_KEY,
    START_DELIVER_TIME,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_ID,
}


def is_compiled() -> bool:
    return cython.compiled


class ReceivedMessage:
    """One message as it was received. Made by a MessageReader."""

    __slots__ = (
        "_body",
        "_born_host",
        "_properties",
        "_store_host",
        "_text",
        "born_timestamp",
        "flag",
        "holder",
        "is_settled",
        "log_offset",
        "offset",
        "queue",
        "reconsume_times",
        "size",
        "store_timestamp",
        "sys_flag",
        "topic",
    )

    def __init__(self) -> None:
        self._body = b""
        self._born_host = b""
        self._properties: dict[str, str] | None = None
        self._store_host = b""
        self._text = b""
        self.born_timestamp = 0
        self.flag = 0
        self.holder: object = None
        self.is_settled = False
        self.log_offset = 0
        self.offset = 0
        self.queue: MessageQueue = _NO_QUEUE
        self.reconsume_times = 0
        self.size = 0
        self.store_timestamp = 0
        self.sys_flag = 0
        self.topic = ""

    @property
    def body(self) -> bytes:
        """As it was sent. RemoteProtocolError if it is compressed and cannot be expanded."""
        if self.sys_flag & 1:
            self._expand()
        return self._body

    @property
    def properties(self) -> dict[str, str]:
        """All that the message carries, what RocketMQ added included."""
        if self._properties is None:
            self._properties = decode_properties(without_crc(self._text))
        return self._properties

    @property
    def headers(self) -> dict[str, str]:
        """The application's own properties."""
        return {name: value for name, value in self.properties.items() if name not in _NOT_HEADERS}

    @property
    def tag(self) -> str:
        found = find_property(self._text, _TAGS)
        return "" if found is None else found.decode("utf-8", "replace")

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.properties.get(KEYS, "").split())

    @property
    def priority(self) -> int | None:
        """The priority that it was sent with; None if it has none."""
        found = priority_of(self.properties)
        return None if found == NO_PRIORITY else found

    @property
    def attempt(self) -> int:
        """1 at first; each retry is one more."""
        return self.reconsume_times + 1

    @property
    def message_id(self) -> str:
        """The id that the sender gave the message; the broker's id if the sender gave none."""
        found = find_property(self._text, _UNIQUE_KEY)
        return self.offset_id if found is None else found.decode("utf-8", "replace")

    @property
    def receipt(self) -> str:
        """The pop receipt among the properties of a message that was popped from a retry topic."""
        found = find_property(self._text, _POP_CHECKPOINT)
        return "" if found is None else found.decode("utf-8", "replace")

    @property
    def offset_id(self) -> str:
        """The broker's name for the record: where it lies."""
        host = self._store_host
        port = int.from_bytes(host[-4:], "big", signed=True)
        return str(OffsetMessageId(address_text(host[:-4]), port, LogOffset(self.log_offset)))

    @property
    def born_host(self) -> str:
        """The address and port of the sender."""
        host = self._born_host
        return f"{address_text(host[:-4])}:{int.from_bytes(host[-4:], 'big', signed=True)}"

    def count_attempt(self) -> None:
        """It was tried and failed, and will be tried again without going back to the broker."""
        self.reconsume_times += 1

    def _expand(self) -> None:
        self._body = decompress(self._body, self.sys_flag, bytes_max=EXPANDED_BYTES_HARD_MAX)
        self.sys_flag &= ~_COMPRESSED


class MessageReader:
    """Reads answers of one queue, one after another. What messages share, they share as objects.

    `kind` is what messages are made as: ReceivedMessage, or a class that adds to it.
    """

    __slots__ = (
        "_born_host",
        "_is_retry",
        "_kind",
        "_prefix",
        "_queues",
        "_record",
        "_store_host",
        "_tags",
        "_topic",
        "_topic_bytes",
        "offset_delta",
    )

    def __init__(
        self, kind: type[ReceivedMessage], tags: frozenset[str] | None = None, prefix: str = ""
    ) -> None:
        """`tags`: only messages with one of these; None: all. A broker compares hashes of tags,
        so that some may come which were not asked for. `prefix`: of topics, left out of what
        messages say."""
        self._kind = kind
        self._prefix = prefix
        self._tags = tags
        self._queues: dict[tuple[bytes, int], MessageQueue] = {}
        self._record = Record()
        self._topic_bytes = b""
        self._topic = ""
        self._is_retry = False
        self._born_host = b"\0" * 8
        self._store_host = b"\0" * 8
        self.offset_delta = 0
        """What is added to the offsets of records: those of a static topic are physical."""

    def read(self, data: bytes, queue: MessageQueue, holder: object) -> list[ReceivedMessage]:
        """The messages of an answer, in order. RemoteProtocolError: it is none.

        A queue whose id is negative stands for any of its broker: each message then says its own.
        """
        is_any = queue.queue_id < 0
        messages: list[ReceivedMessage] = []
        memory = bytes_address(data)
        end = len(data)
        position = 0
        record = self._record
        while position < end:
            found = record.read(memory, position, end)
            if found != 0:
                raise RemoteProtocolError(f"{FINDINGS[found]} at byte {position} of an answer")
            if not record.is_sound(memory, False):
                raise RemoteProtocolError(
                    f"the checksum of the message at offset {record.queue_offset} of {queue} "
                    "is wrong"
                )
            message = self._kind()
            message.holder = holder
            message.queue = queue
            self._fill(message, memory)
            if is_any:
                message.queue = self._queue_of(queue)
            position += record.size
            if message.sys_flag & 0xC0 == 0xC0:  # both bits: the body is a batch
                messages += self._split(message)
            elif self._tags is None or message.tag in self._tags:
                messages.append(message)
        return messages

    def _fill(self, message: ReceivedMessage, memory: memoryview) -> None:
        """Have a message say what the record says that was just read."""
        record = self._record
        message.offset = record.queue_offset + self.offset_delta
        message.log_offset = record.log_offset
        message.born_timestamp = record.born_timestamp
        message.store_timestamp = record.store_timestamp
        message.flag = record.flag
        message.sys_flag = record.sys_flag
        message.reconsume_times = record.reconsume_times
        message.size = record.size
        message._body = bytes_at(memory, record.body_start, record.body_size)
        message._text = bytes_at(memory, record.properties_start, record.properties_size)
        # Hosts and topic are mostly those of the message before: then no object is made.
        at = record.position + 48
        size = 20 if record.sys_flag & 0x10 else 8
        if len(self._born_host) != size or not same_bytes(
            bytes_address(self._born_host), 0, memory, at, size
        ):
            self._born_host = bytes_at(memory, at, size)
        message._born_host = self._born_host
        at += size + 8
        size = 20 if record.sys_flag & 0x20 else 8
        if len(self._store_host) != size or not same_bytes(
            bytes_address(self._store_host), 0, memory, at, size
        ):
            self._store_host = bytes_at(memory, at, size)
        message._store_host = self._store_host
        size = record.topic_size
        if len(self._topic_bytes) != size or not same_bytes(
            bytes_address(self._topic_bytes), 0, memory, record.topic_start, size
        ):
            self._see_topic(bytes_at(memory, record.topic_start, size))
        message.topic = self._first_topic(message) if self._is_retry else self._topic

    def _queue_of(self, any_queue: MessageQueue) -> MessageQueue:
        """The queue of the record that was just read."""
        key = (self._topic_bytes, self._record.queue_id)
        found = self._queues.get(key)
        if found is None:
            topic = self._topic_bytes.decode()
            found = MessageQueue(topic, any_queue.broker_name, QueueId(self._record.queue_id))
            self._queues[key] = found
        return found

    def _see_topic(self, topic: bytes) -> None:
        try:
            self._topic = topic.decode().removeprefix(self._prefix)
        except UnicodeDecodeError:
            raise RemoteProtocolError(f"a topic that is no UTF-8: {topic[:64]!r}") from None
        self._topic_bytes = topic
        self._is_retry = is_retry_topic(self._topic)

    def _first_topic(self, message: ReceivedMessage) -> str:
        """The topic that a message of a retry topic was first sent to."""
        found = find_property(message._text, _RETRY_TOPIC)
        if found is None:
            return self._topic
        return found.decode("utf-8", "replace").removeprefix(self._prefix)

    def _split(self, batch: ReceivedMessage) -> list[ReceivedMessage]:
        """The messages of a record that holds a batch."""
        entries = decode_batch(batch.body)
        claimed = batch.properties.get(INNER_COUNT)
        # A wrong count would give later messages of the queue the offsets of these.
        if claimed is not None and claimed != str(len(entries)):
            raise RemoteProtocolError(f"an inner batch of {len(entries)} messages claims {claimed}")
        messages = []
        for index, entry in enumerate(entries):
            message = self._kind()
            message.holder = batch.holder
            message.queue = batch.queue
            message.topic = batch.topic
            message.offset = batch.offset + index
            message.log_offset = batch.log_offset
            message.born_timestamp = batch.born_timestamp
            message.store_timestamp = batch.store_timestamp
            message.flag = entry.flag
            message.sys_flag = batch.sys_flag & ~0xC1
            message.reconsume_times = batch.reconsume_times
            message.size = len(entry.body)
            message._body = entry.body
            message._text = "".join(
                [f"{name}\x01{value}\x02" for name, value in entry.properties.items()]
            ).encode()
            message._born_host = batch._born_host
            message._store_host = batch._store_host
            if self._tags is None or message.tag in self._tags:
                messages.append(message)
        return messages


_NO_QUEUE = MessageQueue("", "", QueueId(0))

assert WHOLE == 0  # what `read` compares with, as C compares it
