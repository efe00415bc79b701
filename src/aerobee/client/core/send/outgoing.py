"""Outgoing messages: `properties_of` and `Draft` turn the arguments of a send into wire properties.

    tag        TAGS               at most one; consumers subscribe to "a || b"
    keys       KEYS               joined by spaces, so none may hold one
    headers    under their names  text only; names that RocketMQ uses itself are refused
    order_by   __SHARDINGKEY      the same key, the same queue
    delay      TIMER_DELAY_MS     from when the broker gets it
    deliver_at TIMER_DELIVER_MS   a time, in ms since 1970
    priority   _SYS_MSG_PRIORITY_ the queue of this number

A message that a broker would refuse, truncate or read differently is refused here, with a hint: the
application's mistake shows at its own line.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from aerobee.errors import LocalProtocolError, Misuse
from aerobee.model.flags import CompressionType, with_compression_type
from aerobee.model.properties import (
    DELAY,
    INSTANCE_ID,
    KEYS,
    PRIORITY,
    SHARDING_KEY,
    TAGS,
    TIMER_DELAY_MS,
    TIMER_DELIVER_MS,
    UNIQUE_KEY,
    WAIT,
    encode_properties,
    is_reserved,
)
from aerobee.protocol.message.compression import compress
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch

_MINUTES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 60, 120)
DELAY_LEVELS_MS = (1_000, 5_000, 10_000, 30_000, *(60_000 * minutes for minutes in _MINUTES))
"""What a broker has unless its messageDelayLevel is changed; the first is level 1."""

PRIORITY_MAX = 2**31 - 1
BODY_BYTES_MAX = 4 * 1024 * 1024  # a broker's own limit, by default
COMPRESS_FROM_BYTES = 4096  # the Java client's

# Python's own writes NaN and Infinity as bare words, which readers in other languages refuse.
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

Codec = Callable[[object], bytes]
"""What turns a body that is neither bytes nor text into bytes."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message of a batch or for a producer, with a tag, keys, headers and so on."""

    body: object
    tag: str = ""
    keys: str | Iterable[str] = ()
    headers: Mapping[str, str] | None = None
    order_by: str | None = None

    def __post_init__(self) -> None:
        if type(self.keys) not in (str, tuple):
            object.__setattr__(self, "keys", listed_keys(self.keys))


@dataclass(slots=True)
class Draft:
    """One message as it will be sent. The send modes add to its properties."""

    topic: str
    """As it is called on the wire."""
    body: bytes
    properties: dict[str, str]
    sys_flag: int = 0
    order_by: str | None = None
    is_batch: bool = False
    """Whether the body is a batch, whose messages have properties of their own."""
    code: int = 0
    """The request that it goes with; 0: an ordinary send."""
    fields: Mapping[str, str] | None = None
    """What that request says besides."""
    members: "Sequence[Draft]" = ()
    """The messages of a batch."""

    @property
    def is_timed(self) -> bool:
        return TIMER_DELAY_MS in self.properties or TIMER_DELIVER_MS in self.properties

    @property
    def priority(self) -> int | None:
        text = self.properties.get(PRIORITY)
        return None if text is None else int(text)

    @property
    def unique_id(self) -> str:
        return self.properties[UNIQUE_KEY]

    def compress(self, kind: CompressionType) -> None:
        """Compress the body, if it gets smaller."""
        packed = compress(self.body, kind)
        if len(packed) < len(self.body):
            self.body = packed
            self.sys_flag = with_compression_type(self.sys_flag, kind)

    def properties_text(self) -> bytes:
        return _encoded(self.properties)


def batch_of(drafts: Sequence[Draft], order_by: str | None) -> Draft:
    """Messages for one queue as one draft."""
    body = encode_batch(BatchMessage(draft.body, draft.properties) for draft in drafts)
    # Not empty: a Java broker would take empty text of a binary header for none, and a signature
    # over it for wrong.
    return Draft(
        drafts[0].topic, body, {WAIT: "true"}, order_by=order_by, is_batch=True, members=drafts
    )


def to_json(body: object) -> bytes:
    """The default codec. Misuse if JSON cannot hold the value; NaN and infinity are no numbers of
    JSON.
    """
    try:
        return _json(body).encode()
    except (TypeError, ValueError) as error:
        if isinstance(error, ValueError) and (place := _not_finite(body, "body")):
            raise Misuse(
                f"{place}, which JSON does not have",
                hint="send None or a text instead, or give a codec= that makes bytes",
            ) from None
        raise Misuse(
            f"a body that is no JSON: {error}", hint="give bytes, or a codec= that makes bytes"
        ) from None


def body_bytes(body: object, codec: Codec = to_json) -> bytes:
    """The body: bytes as they are, text as UTF-8, everything else by the codec."""
    if type(body) is bytes:
        encoded = body
    elif isinstance(body, str):
        encoded = body.encode()
    elif isinstance(body, bytes | bytearray | memoryview):
        encoded = bytes(body)
    else:
        encoded = codec(body)
        if not isinstance(encoded, bytes):
            raise Misuse(f"the codec made {type(encoded).__name__}, not bytes")
        encoded = bytes(encoded)  # not something that only behaves like them
    if not encoded:
        raise Misuse("an empty body", hint="RocketMQ stores none: send at least one byte")
    return encoded


def check_body_size(body: bytes, bytes_max: int = BODY_BYTES_MAX) -> None:
    if len(body) > bytes_max:
        raise Misuse(
            f"a body of {len(body)} bytes; at most {bytes_max} are taken",
            hint="put it elsewhere and send where, or raise maxMessageSize of the broker "
            "and max_message_bytes of the client",
        )


def listed_keys(keys: str | Iterable[str] | None) -> str | tuple[str, ...]:
    """The keys as a list that can be read again for a second try: an iterator is empty after the
    first.
    """
    if isinstance(keys, str):
        return keys
    try:
        return () if keys is None else tuple(keys)
    except TypeError:
        raise Misuse(f"the keys are {keys!r}", hint="give a text, or a list of texts") from None


def properties_of(
    tag: str = "",
    keys: str | Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    order_by: str | None = None,
) -> dict[str, str]:
    """The wire properties for the arguments of a send."""
    properties: dict[str, str] = {}
    if headers:
        _check_headers(headers)
        properties.update(headers)
    if tag:
        _check_tag(tag)
        properties[TAGS] = tag
    if named := listed_keys(keys):
        properties[KEYS] = _joined_keys((named,) if isinstance(named, str) else named)
    if order_by is not None:
        if not isinstance(order_by, str) or not order_by:
            raise Misuse(f"order_by is {order_by!r}", hint="a text that is not empty")
        properties[SHARDING_KEY] = order_by
    return properties


def encode_text(
    tag: str,
    keys: str | Iterable[str],
    headers: Mapping[str, str] | None,
    order_by: str | None = None,
) -> bytes:
    """The same, as the text that goes on the wire."""
    return _encoded(properties_of(tag, keys, headers, order_by))


def order_text(order_by: str) -> bytes:
    """The same text for a message that has only `order_by`."""
    if type(order_by) is str and order_by and "\x01" not in order_by and "\x02" not in order_by:
        return b"__SHARDINGKEY\x01" + order_by.encode() + b"\x02"
    return encode_text("", (), None, order_by)


def set_delivery(
    properties: dict[str, str], *, delay_ms: int | None, deliver_ms: int | None
) -> None:
    """Set the delivery time of a message, if it has one."""
    if delay_ms is not None and deliver_ms is not None:
        raise Misuse("delay and deliver_at contradict each other", hint="give one of them")
    if delay_ms:
        properties[TIMER_DELAY_MS] = str(delay_ms)
    if deliver_ms is not None:
        properties[TIMER_DELIVER_MS] = str(deliver_ms)


def set_priority(properties: dict[str, str], priority: int) -> None:
    """Set the priority of a message, from 0 on."""
    if type(priority) is not int or not 0 <= priority <= PRIORITY_MAX:
        raise Misuse(f"the priority {priority!r}", hint=f"a whole number from 0 to {PRIORITY_MAX}")
    if any(name in properties for name in (SHARDING_KEY, TIMER_DELAY_MS, TIMER_DELIVER_MS)):
        raise Misuse(
            "a message with order_by, delay or deliver_at has no priority",
            hint="brokers would drop it: give one of them",
        )
    properties[PRIORITY] = str(priority)


def use_delay_level(properties: dict[str, str]) -> None:
    """Replace a delay by one of the delay levels, for brokers before 5.0: they would deliver at
    once a message with any other delay property.
    """
    delay_ms = int(properties.get(TIMER_DELAY_MS, -1))
    if delay_ms not in DELAY_LEVELS_MS:
        raise Misuse(
            "the broker is older than 5.0 and knows no such delay",
            hint="it has 1, 5, 10 or 30 s, 1 to 10, 20 or 30 min, 1 or 2 h",
        )
    del properties[TIMER_DELAY_MS]
    properties[DELAY] = str(DELAY_LEVELS_MS.index(delay_ms) + 1)


def set_identity(properties: dict[str, str], unique_id: str, namespace: str) -> None:
    """Set the properties that the client adds: the unique id and the namespace."""
    properties[UNIQUE_KEY] = unique_id
    if namespace:
        properties[INSTANCE_ID] = namespace


def _not_finite(value: object, place: str, outer: tuple[int, ...] = ()) -> str:
    """The path of the first NaN or infinity in a body: `body['x'][0] is nan`; empty: there is none.
    `outer` has the ids of the containers around the value: a body may contain itself.
    """
    if isinstance(value, float):
        return "" if isfinite(value) else f"{place} is {value}"
    items: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict) and id(value) not in outer:
        items = value.items()
    elif isinstance(value, list | tuple) and id(value) not in outer:
        items = enumerate(value)
    for name, item in items:
        found = _not_finite(name, f"a key of {place}") or _not_finite(
            item, f"{place}[{name!r}]", (*outer, id(value))
        )
        if found:
            return found
    return ""


def _encoded(properties: Mapping[str, str]) -> bytes:
    try:
        return encode_properties(properties)
    except LocalProtocolError as error:
        raise Misuse(error.message, hint=error.hint) from None


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise Misuse(f"the header {name!r} is {value!r}", hint="headers are text: str(...)")
        if is_reserved(name):
            raise Misuse(f"the header name {name} is RocketMQ's own", hint="choose another")
        if not name or not value:
            raise Misuse(
                f"the header {name!r} is {value!r}", hint="readers drop what is empty: leave it out"
            )


def _check_tag(tag: str) -> None:
    if not isinstance(tag, str) or tag != tag.strip() or "|" in tag:
        raise Misuse(
            f"the tag {tag!r} could not be subscribed to",
            hint="one tag, without '|' and without spaces around it",
        )


def _joined_keys(keys: Sequence[str]) -> str:
    for key in keys:
        if not isinstance(key, str) or not key or " " in key:
            raise Misuse(f"the key {key!r}", hint="keys are text without spaces, and not empty")
    return " ".join(keys)
