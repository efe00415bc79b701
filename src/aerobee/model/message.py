"""StoredMessage: a message as the log has it, every field of a record.

The layout of a record is drawn in `protocol/message/stored_message.py`. The body is as stored:
still compressed if the system flag says so.
"""

from dataclasses import dataclass
from typing import NamedTuple

from aerobee.model.flags import TransactionType, transaction_type
from aerobee.model.message_id import OffsetMessageId, address_text
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import KEYS, TAGS, UNIQUE_KEY

KEY_SEPARATOR = " "
_NO_OFFSET = LogOffset(0)


class Host(NamedTuple):
    """An IP address and a port, as in a record."""

    address: str
    port: int


def unpack_host(packed: bytes) -> Host:
    """The host in 4 or 16 bytes of address and 4 of port, signed as Java reads them."""
    return Host(address_text(packed[:-4]), int.from_bytes(packed[-4:], "big", signed=True))


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
        """The id that the sender gave it (UNIQ_KEY); empty if none."""
        return self.properties.get(UNIQUE_KEY, "")

    @property
    def offset_message_id(self) -> str:
        """The broker's id of the record: its address and log offset."""
        return str(OffsetMessageId(self.store_host.address, self.store_host.port, self.log_offset))

    @property
    def message_id(self) -> str:
        """The id that is shown to users: the sender's, else the broker's."""
        return self.unique_id or self.offset_message_id
