"""A send on the general path: the fields of its header as values, and the message that is stored.

Flags that only the broker may set (addresses, transactions, inner batches) are not taken from it.

Imports more than 15 modules because a send touches topics, types, batches and transactions.
"""

from dataclasses import dataclass

from aerobee.errors import LocalProtocolError, MessageIllegal, RemoteProtocolError
from aerobee.model.flags import MULTI_TAGS
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_id import pack_address
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.message_type import (
    NO_PRIORITY,
    MessageType,
    find_type_fault,
    priority_of,
    type_of,
)
from aerobee.model.names import is_retry_topic
from aerobee.model.properties import (
    KEYS,
    PRIORITY,
    PROPERTIES_BYTES_MAX,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
    decode_properties,
)
from aerobee.model.topic import SINGLE_TAG, TopicConfig
from aerobee.protocol.message.message_batch import decode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.recall_handle import RecallHandle, encode_recall_handle
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.send.send_fields import SEND_BATCH_MESSAGE, SEND_ONCE, SendFields
from aerobee.service.request import excess_remark

_DEFAULT_QUEUES = 4
# The rest of the system flag is the broker's to set: addresses, transactions, inner batches.
_SENDERS_FLAGS = 0x701


@dataclass(slots=True)
class SendRequest:
    """The decoded send. Changed while it is handled: a queue is chosen, properties are added."""

    group: str
    topic: str
    default_topic: str
    default_queues: int
    queue_id: int
    sys_flag: int
    born_timestamp: int
    flag: int
    properties: dict[str, str]
    reconsume_times: int
    reconsume_times_max: int
    """-1: not said."""
    is_batch: bool
    version: int
    """The version of the sender's client."""
    body: bytes
    is_once: bool = False
    """SEND_ONCE: a repeated send is recognised by its producer mark and not stored again."""
    is_known: bool = False
    """SEND_ONCE: whether the broker has acknowledged a send of this producer to this queue."""
    is_quiet: bool = False
    """SEND_ONCE: whether the producer needs no offsets, in this answer or in a repeated one."""
    has_long_properties: bool = False
    """Whether its properties, as they came, are longer than a record can hold."""
    excess: str = ""
    """The excess of its header: see `CommandHeader`."""

    @property
    def is_half(self) -> bool:
        """Whether it begins a transaction. A retry (reconsumed before) does not."""
        flag = self.properties.get(TRANSACTION_PREPARED, "")
        return flag.lower() == "true" and self.reconsume_times <= 0

    def has_keys(self) -> bool:
        """Whether it has a key; of a batch, whether each of its messages has."""
        if not self.is_batch:
            return bool(self.properties.get(KEYS, "").strip())
        return all(one.properties.get(KEYS, "").strip() for one in decode_batch(self.body))

    def type_fault(self, topic: TopicConfig) -> str | None:
        """The error if the topic takes messages of another type."""
        actual = MessageType.NORMAL if self.is_batch else type_of(self.properties)
        return find_type_fault(topic, actual, is_strict=False)

    def fit_to(self, topic: TopicConfig, turn: int) -> None:
        """Choose a queue, round robin if the sender names none, and set the flag for multiple
        tags."""
        if self.queue_id < 0:
            self.queue_id = turn % max(topic.write_queues, 1)
        self._rank(topic)
        if topic.filter_type != SINGLE_TAG:
            self.sys_flag |= MULTI_TAGS

    def _rank(self, topic: TopicConfig) -> None:
        """Choose the queue of the message's priority, whatever queue the sender names: the last
        queue for priorities beyond it. A message that also has another type has no priority."""
        priority = priority_of(self.properties)
        # The queue of a message that is stored once is part of what it is recognised by.
        if priority == NO_PRIORITY or self.is_batch or self.is_once:
            return
        if type_of(self.properties) is MessageType.PRIORITY:
            self.queue_id = min(priority, max(topic.write_queues - 1, 0))
        else:
            del self.properties[PRIORITY]

    def recall_handle(self, broker_name: str, out_ms: int) -> str:
        """The handle that recalls the message before its delivery time `out_ms`; "" for a message
        without one, for retries, and for an id with a space in it."""
        if out_ms == 0 or is_retry_topic(self.topic):
            return ""
        unique_id = self.properties.get(UNIQUE_KEY, "")
        try:
            return encode_recall_handle(
                RecallHandle(self.topic, broker_name, out_ms + 1, unique_id)
            )
        except LocalProtocolError:
            return ""

    def message(self, born_host: Host) -> StoredMessage:
        """The message, without a place in the log yet."""
        return StoredMessage(
            topic=self.topic,
            queue_id=QueueId(self.queue_id),
            queue_offset=QueueOffset(0),
            log_offset=LogOffset(0),
            body=self.body,
            properties=self.properties,
            born_timestamp=self.born_timestamp,
            born_host=born_host,
            store_timestamp=0,
            store_host=born_host,
            flag=self.flag,
            sys_flag=self.sys_flag,
            reconsume_times=self.reconsume_times,
        )

    def batch(self, born_host: Host) -> MessageDraft:
        """The batch: each of its messages becomes a record with the properties that it has."""
        draft = MessageDraft()
        draft.topic = self.topic.encode()
        draft.queue_id = self.queue_id
        draft.sys_flag = self.sys_flag
        draft.flag = self.flag
        draft.born_timestamp = self.born_timestamp
        draft.born_host = pack_address(born_host.address) + born_host.port.to_bytes(4, "big")
        draft.is_batch = True
        draft.set_body(memoryview(self.body))
        return draft


def read_send_request(header: CommandHeader, body: bytes) -> SendRequest:
    """RemoteProtocolError names the field at fault; MessageIllegal: it was not read, because the
    header is too large."""
    try:
        return _read(SendFields(header), header, body)
    except RemoteProtocolError:
        if not header.excess:
            raise
    # A code of its own: clients do not try such a message again.
    raise MessageIllegal(excess_remark(header.excess))


def _read(fields: SendFields, header: CommandHeader, body: bytes) -> SendRequest:
    text = fields.optional_text("i").encode()
    return SendRequest(
        group=fields.optional_text("a"),
        topic=fields.text("b").decode(),
        default_topic=fields.optional_text("c"),
        default_queues=fields.optional_int32("d", _DEFAULT_QUEUES),
        queue_id=fields.int32("e"),
        sys_flag=fields.int32("f") & _SENDERS_FLAGS,
        born_timestamp=fields.int64("g"),
        flag=fields.int32("h"),
        properties=decode_properties(text),
        reconsume_times=fields.optional_int32("j", 0),
        reconsume_times_max=fields.optional_int32("l", -1),
        is_batch=header.code == SEND_BATCH_MESSAGE or fields.is_true("m"),
        version=header.version,
        body=body,
        is_once=header.code == SEND_ONCE,
        is_known=fields.is_known(),
        is_quiet=fields.is_quiet(),
        has_long_properties=len(text) > PROPERTIES_BYTES_MAX,
        excess=header.excess,
    )
