"""A batch body ⇄ its messages: what a client sends as one body, and what an inner batch stores.

Entries follow each other without separators. Big-endian:

     0  total size of the entry   4   = 22 + body + properties
     4  magic                     4   0, read by nobody
     8  body CRC                  4   0, read by nobody: the broker computes its own
    12  user flag                 4
    16  body size, body           4 + n
        properties size, text     2 + n

Laws. The entries are counted, and their sizes checked, before the first one is decoded; bytes
that do not add up are refused as a whole. Agrees with Java's MessageDecoder.encodeMessages.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.model.properties import decode_properties, encode_properties

ENTRY_BYTES_MIN = 22
BATCH_MESSAGES_MAX = 32767  # the batch consume queue counts the messages of a batch in an int16

_HEAD = struct.Struct(">iiiii")
_TOTAL = struct.Struct(">i")
_PROPERTIES_SIZE = struct.Struct(">h")


@dataclass(frozen=True, slots=True)
class BatchMessage:
    """One message of a batch: what is its own. Topic, queue and times are the whole batch's."""

    body: bytes
    properties: dict[str, str]
    flag: int = 0


def encode_batch(messages: Iterable[BatchMessage]) -> bytes:
    parts = []
    for message in messages:
        text = encode_properties(message.properties)
        total = ENTRY_BYTES_MIN + len(message.body) + len(text)
        try:
            parts.append(_HEAD.pack(total, 0, 0, message.flag, len(message.body)))
        except struct.error:
            raise LocalProtocolError(f"no batch has room for {message!r:.200}") from None
        parts += (message.body, _PROPERTIES_SIZE.pack(len(text)), text)
    if not parts:
        raise LocalProtocolError("a batch without messages")
    return b"".join(parts)


def decode_batch(batch: bytes, *, count_max: int = BATCH_MESSAGES_MAX) -> list[BatchMessage]:
    count_messages(batch, count_max=count_max)
    messages = []
    position = 0
    while position < len(batch):
        total, _, _, flag, body_size = _HEAD.unpack_from(batch, position)
        body_start = position + _HEAD.size
        text_start = body_start + body_size + _PROPERTIES_SIZE.size
        end = position + total
        messages.append(
            BatchMessage(
                batch[body_start : body_start + body_size],
                decode_properties(batch[text_start:end]),
                flag,
            )
        )
        position = end
    return messages


def batch_entries(batch: bytes) -> list[bytes]:
    """The entries as they are, each of the right size."""
    count_messages(batch)
    entries = []
    position = 0
    while position < len(batch):
        (total,) = _TOTAL.unpack_from(batch, position)
        entries.append(batch[position : position + total])
        position += total
    return entries


def with_property(entry: bytes, name: str, text: str) -> bytes:
    """The entry with one property set."""
    (message,) = decode_batch(entry)
    properties = {**message.properties, name: text}
    return encode_batch([BatchMessage(message.body, properties, message.flag)])


def count_messages(batch: bytes, *, count_max: int = BATCH_MESSAGES_MAX) -> int:
    """The number of messages in a batch; every size in it is checked first."""
    if not batch:
        raise RemoteProtocolError("a batch without messages")
    count = 0
    position = 0
    while position < len(batch):
        room = len(batch) - position
        if room < ENTRY_BYTES_MIN:
            raise _bad(count, position, f"{room} bytes are too few")
        total, _, _, _, body_size = _HEAD.unpack_from(batch, position)
        if not ENTRY_BYTES_MIN <= total <= room:
            raise _bad(count, position, f"it claims {total} of {room} bytes")
        if not 0 <= body_size <= total - ENTRY_BYTES_MIN:
            raise _bad(count, position, f"its body claims {body_size} of {total} bytes")
        text_size_at = position + _HEAD.size + body_size
        (text_size,) = _PROPERTIES_SIZE.unpack_from(batch, text_size_at)
        if text_size != total - ENTRY_BYTES_MIN - body_size:
            raise _bad(count, position, f"its parts do not add up to {total} bytes")
        count += 1
        if count > count_max:
            raise RemoteProtocolError(f"a batch of more than {count_max} messages")
        position += total
    return count


def _bad(index: int, position: int, reason: str) -> RemoteProtocolError:
    return RemoteProtocolError(f"message {index} of a batch, at byte {position}: {reason}")
