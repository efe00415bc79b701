"""`TraceRecord` and `TraceBuffer` write trace messages as RocketMQ's tools read them.

    record ␂ record ␂ …        ␂ is 0x02, fields of a record are separated by ␁, 0x01

    Pub              time, region, group, topic, id, tags, keys, store host, body size, cost ms,
                     kind, offset id, success
    SubBefore        time, region, group, request, id, retries, keys
    SubAfter         request, id, cost ms, success, keys, code, time, group
    EndTransaction   time, region, group, topic, id, tags, keys, store host, kind, transaction,
                     state, from check

Agrees with Java's TraceDataEncoder; the KEYS of a trace message are the ids and keys of all
messages in its body, so that a query by key finds them. A batch is one Pub, its id the ids of its
messages joined by commas; each of them is a key as well. Separators within a field are replaced by
a space.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

BODY_BYTES_MAX = 128_000
KEYS_BYTES_MAX = 24_000
"""All properties of a message together end at 32 KiB; brokers add some."""
WAITING_MAX = 2048
DEFAULT_REGION = "DefaultRegion"
FIELD_END = "\x01"
RECORD_END = "\x02"
NONE = "null"
"""What Java writes where there is nothing. Its tools fail on a record whose last field is empty."""
_SEPARATORS = str.maketrans({FIELD_END: " ", RECORD_END: " "})


class TracedKind(IntEnum):
    """Java's MessageType, by its ordinals."""

    NORMAL = 0
    HALF = 1
    COMMITTED = 2
    DELAYED = 3
    ORDERED = 4


class ConsumedCode(IntEnum):
    """The result of consuming: Java's ConsumeReturnType, by its ordinals."""

    SUCCESS = 0
    TIME_OUT = 1
    FAILED = 4


class TraceRecord(NamedTuple):
    text: str
    """Without its end."""
    keys: tuple[str, ...]


class TraceBody(NamedTuple):
    body: bytes
    keys: str


class SendTrace(NamedTuple):
    """A send, successful or not."""

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


class Received(NamedTuple):
    """A message that was handed to an application."""

    wall_ms: int
    region: str
    group: str
    request: str
    message_id: str
    retries: int
    keys: str


class Ended(NamedTuple):
    """A transaction that was committed or rolled back."""

    wall_ms: int
    group: str
    topic: str
    message_id: str
    tag: str
    keys: str
    store_host: str
    transaction_id: str
    state: str
    is_from_check: bool


class TraceBuffer:
    """Records that wait to be sent. When it is full the oldest are dropped, and counted."""

    def __init__(self, count_max: int = WAITING_MAX) -> None:
        self._waiting: deque[TraceRecord] = deque(maxlen=count_max)
        self.dropped = 0

    def put(self, record: TraceRecord) -> None:
        if len(self._waiting) == self._waiting.maxlen:
            self.dropped += 1
        self._waiting.append(record)

    def take_all(self) -> list[TraceRecord]:
        taken = list(self._waiting)
        self._waiting.clear()
        return taken


def sent_record(sent: SendTrace, members: Sequence[str] = ()) -> TraceRecord:
    """The Pub record of a send. `members`: the ids of the messages of a batch."""
    return _record(
        (*members, *sent.keys.split(), sent.message_id),
        "Pub",
        sent.wall_ms,
        sent.region,
        sent.group,
        sent.topic,
        sent.message_id,
        sent.tag or NONE,
        sent.keys or NONE,
        sent.store_host,
        sent.body_size,
        sent.cost_ms,
        int(sent.kind),
        sent.offset_id,
        _truth(sent.is_stored),
    )


def received_record(received: Received) -> TraceRecord:
    said = received._replace(keys=received.keys or NONE)
    return _record((received.message_id, *received.keys.split()), "SubBefore", *said)


def consumed_record(
    received: Received, wall_ms: int, cost_ms: int, code: ConsumedCode
) -> TraceRecord:
    """The SubAfter record of a message."""
    return _record(
        (received.message_id, *received.keys.split()),
        "SubAfter",
        received.request,
        received.message_id,
        cost_ms,
        _truth(code is ConsumedCode.SUCCESS),
        received.keys or NONE,
        int(code),
        wall_ms,
        received.group,
    )


def ended_record(ended: Ended) -> TraceRecord:
    return _record(
        (ended.message_id, *ended.keys.split()),
        "EndTransaction",
        ended.wall_ms,
        DEFAULT_REGION,
        ended.group,
        ended.topic,
        ended.message_id,
        ended.tag or NONE,
        ended.keys or NONE,
        ended.store_host,
        int(TracedKind.COMMITTED),
        ended.transaction_id,
        ended.state,
        _truth(ended.is_from_check),
    )


def bodies(
    records: Iterable[TraceRecord],
    bytes_max: int = BODY_BYTES_MAX,
    keys_bytes_max: int = KEYS_BYTES_MAX,
) -> Iterator[TraceBody]:
    """The trace messages with these records, each within the size limit."""
    texts: list[bytes] = []
    keys: dict[str, None] = {}
    size = keys_size = 0
    for record in records:
        text = (record.text + RECORD_END).encode()
        own_size = sum(len(key.encode()) + 1 for key in record.keys)
        if texts and (size + len(text) > bytes_max or keys_size + own_size > keys_bytes_max):
            yield TraceBody(b"".join(texts), _joined(keys, keys_bytes_max))
            texts, keys, size, keys_size = [], {}, 0, 0
        texts.append(text)
        keys.update(dict.fromkeys(record.keys))
        size += len(text)
        keys_size += own_size
    if texts:
        yield TraceBody(b"".join(texts), _joined(keys, keys_bytes_max))


def _joined(keys: Iterable[str], bytes_max: int) -> str:
    """The keys joined, as many as fit: those of a large batch may not."""
    fitting = []
    size = 0
    for key in keys:
        size += len(key.encode()) + 1
        if size > bytes_max:
            break
        fitting.append(key)
    return " ".join(fitting)


def _record(keys: Iterable[str], *fields: object) -> TraceRecord:
    text = FIELD_END.join(str(field).translate(_SEPARATORS) for field in fields)
    return TraceRecord(text, tuple(keys))


def _truth(value: bool) -> str:
    return "true" if value else "false"
