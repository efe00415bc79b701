"""Messages that are no plain record → rows: compressed bodies, and batches inside a record.

The slow path of `message_columns`: it makes one object per message.
"""

from aerobee.model.message import StoredMessage
from aerobee.model.properties import KEYS, TAGS, encode_properties
from aerobee.pipeline.arrow.message_columns import Row
from aerobee.protocol.message.stored_message import client_messages


def unpacked_rows(record: bytes) -> list[Row]:
    """Return the messages of one record, unpacked and decompressed, as rows."""
    return [_row(message) for message in client_messages(record)]


def _row(message: StoredMessage) -> Row:
    return Row(
        _optional(message.properties.get(KEYS)),
        message.body,
        message.topic.encode(),
        message.queue_id,
        message.queue_offset,
        message.store_timestamp,
        message.born_timestamp,
        _optional(message.properties.get(TAGS)),
        message.message_id.encode(),
        message.reconsume_times,
        encode_properties(message.properties),
        message.log_offset,
    )


def _optional(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
