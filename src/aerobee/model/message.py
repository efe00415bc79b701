"""A message twice: as an application writes it, and as the log holds it.

`StoredMessage` has every field of a record (its layout is drawn in `protocol.stored_message`).
Its body is as stored: still compressed where the system flag says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aerobee.errors import Misuse
from aerobee.model.flags import TransactionType, transaction_type
from aerobee.model.message_id import OffsetMessageId
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import KEYS, TAGS, UNIQUE_KEY, is_reserved

KEY_SEPARATOR = " "
_NO_OFFSET = LogOffset(0)


class Host(NamedTuple):
    """An IP address and a port, as a record holds them."""

    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Message:
    """What an application sends.

    M1. `properties` are the application's own: none of them is reserved.
    M2. No key is empty or holds a space: that is what separates keys in a record.
    """

    topic: str
    body: bytes
    tag: str = ""
    keys: tuple[str, ...] = ()
    flag: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.properties:
            if is_reserved(name):
                raise Misuse(f"the property name {name!r} is reserved", hint="use another name")
        for key in self.keys:
            if not key or KEY_SEPARATOR in key:
                raise Misuse(f"a message key must be text without spaces, not {key!r}")

    def record_properties(self) -> dict[str, str]:
        """The properties as they are sent: the application's, its tag and its keys."""
        together = dict(self.properties)
        if self.tag:
            together[TAGS] = self.tag
        if self.keys:
            together[KEYS] = KEY_SEPARATOR.join(self.keys)
        return together


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One record of the log, or one message out of a record that holds a batch.

    `store_size` and `body_crc` are 0 in a message that is not, or not by itself, a record.
    `properties` are without the whole-record checksum: that one is the record's, not the message's.
    """

    topic: str
    queue_id: QueueId
    queue_offset: QueueOffset
    log_offset: LogOffset
    body: bytes
    properties: dict[str, str]
    born_timestamp: int
    born_host: Host
    store_timestamp: int
    store_host: Host
    flag: int = 0
    sys_flag: int = 0
    reconsume_times: int = 0
    prepared_offset: LogOffset = _NO_OFFSET
    store_size: int = 0
    body_crc: int = 0

    @property
    def tag(self) -> str:
        return self.properties.get(TAGS, "")

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for key in self.properties.get(KEYS, "").split(KEY_SEPARATOR) if key)

    @property
    def transaction_type(self) -> TransactionType:
        return transaction_type(self.sys_flag)

    @property
    def unique_id(self) -> str:
        """The sender's id for it; empty if it gave none."""
        return self.properties.get(UNIQUE_KEY, "")

    @property
    def offset_message_id(self) -> str:
        """The broker's id for the record."""
        return str(OffsetMessageId(self.store_host.address, self.store_host.port, self.log_offset))

    @property
    def message_id(self) -> str:
        """What users call the id: the sender's, else the broker's."""
        return self.unique_id or self.offset_message_id
