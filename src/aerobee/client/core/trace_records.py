"""What is written of a message that was sent, as RocketMQ's tools read it: a trace message's body.

    record ␂ record ␂ …        ␂ is 0x02, fields of a record are separated by ␁, 0x01

    Pub    time, region, group, topic, id, tags, keys, store host, body size, cost ms, kind,
           offset id, success

Agrees with Java's TraceDataEncoder; its KEYS are the ids and keys of all messages in the body, so
that a query by key finds them. What would break a field apart is replaced by a space.
"""

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

BODY_BYTES_MAX = 128_000
FIELD_END = "\x01"
RECORD_END = "\x02"
_SEPARATORS = str.maketrans({FIELD_END: " ", RECORD_END: " "})


class TracedKind(IntEnum):
    """Java's MessageType, by its ordinals."""

    NORMAL = 0
    HALF = 1
    COMMITTED = 2
    DELAYED = 3
    ORDERED = 4


class TraceRecord(NamedTuple):
    text: str
    """Without its end."""
    keys: tuple[str, ...]


class TraceBody(NamedTuple):
    body: bytes
    keys: str


class Sent(NamedTuple):
    """A message that was sent, or not."""

    wall_ms: int
    region: str
    group: str
    topic: str
    message_id: str
    tag: str
    keys: str
    store_host: str
    body_size: int
    cost_ms: int
    kind: TracedKind
    offset_id: str
    is_stored: bool


def sent_record(sent: Sent) -> TraceRecord:
    return _record(
        sent.message_id,
        sent.keys,
        "Pub",
        sent.wall_ms,
        sent.region,
        sent.group,
        sent.topic,
        sent.message_id,
        sent.tag,
        sent.keys,
        sent.store_host,
        sent.body_size,
        sent.cost_ms,
        int(sent.kind),
        sent.offset_id,
        _truth(sent.is_stored),
    )


def bodies(records: Iterable[TraceRecord], bytes_max: int = BODY_BYTES_MAX) -> Iterator[TraceBody]:
    """The messages that bear these records, each no larger than may be."""
    texts: list[bytes] = []
    keys: dict[str, None] = {}
    size = 0
    for record in records:
        text = (record.text + RECORD_END).encode()
        if texts and size + len(text) > bytes_max:
            yield TraceBody(b"".join(texts), " ".join(keys))
            texts, keys, size = [], {}, 0
        texts.append(text)
        keys.update(dict.fromkeys(record.keys))
        size += len(text)
    if texts:
        yield TraceBody(b"".join(texts), " ".join(keys))


def _record(message_id: str, keys: str, *fields: object) -> TraceRecord:
    text = FIELD_END.join(str(field).translate(_SEPARATORS) for field in fields)
    return TraceRecord(text, (message_id, *keys.split()))


def _truth(value: bool) -> str:
    return "true" if value else "false"
