"""Bodies in Protobuf, read by a schema: fields have their names, and enums theirs.

What the schema does not have is shown by its number, as without one; numbers that a browser would
round are texts. In front of a body there may be what a registry puts there: 00, a number of four
bytes, and the place of the message in its file.
"""

import struct
from collections.abc import Callable
from typing import Any

from aerobee.console.message.byte_source import ByteSource, NotOfFormat, hex_text, real, whole
from aerobee.console.message.plain_formats import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    take_tag,
    take_unknown,
)
from aerobee.console.message.proto_schema import ProtoField, ProtoMessage, ProtoSchema

_REGISTRY_BYTES = 5
_BITS_32, _BITS_64 = 1 << 32, 1 << 64


def read_proto(data: bytes, schema: ProtoSchema, message: ProtoMessage, values_max: int) -> Any:
    """Return the fields of a body, with or without what a registry puts in front of it."""
    try:
        return _message(ByteSource(data, values_max), schema, message, 0)
    except NotOfFormat:
        if data[:1] != b"\0" or len(data) <= _REGISTRY_BYTES:
            raise
    source = ByteSource(data, values_max)
    source.take(_REGISTRY_BYTES)
    for _ in range(source.zigzag()):
        source.count()
        source.zigzag()
    return _message(source, schema, message, 0)


def _message(
    source: ByteSource, schema: ProtoSchema, message: ProtoMessage, depth: int
) -> dict[str, Any]:
    source.enter(depth)
    values: dict[str, Any] = {}
    while source.left:
        source.count()
        number, wire = take_tag(source)
        known = message.fields.get(number)
        if known is None or not _fits(known, wire, schema):
            values.setdefault(str(number), []).append(take_unknown(source, wire, depth))
        elif known.key:
            name, value = _entry(source, schema, known, depth)
            values.setdefault(known.name, {})[name] = value
        elif known.is_repeated:
            values.setdefault(known.name, []).extend(_many(source, schema, known, wire, depth))
        else:
            values[known.name] = _many(source, schema, known, wire, depth)[-1]
    return values


def _fits(known: ProtoField, wire: int, schema: ProtoSchema) -> bool:
    own = LENGTH if known.key else _wire_of(known.kind, schema)
    # Many numbers may be in one field, one behind the other.
    return wire == own or (wire == LENGTH and known.is_repeated)


def _wire_of(kind: str, schema: ProtoSchema) -> int:
    if kind in _READERS:
        return _READERS[kind][0]
    return VARINT if kind in schema.enums else LENGTH


def _many(
    source: ByteSource, schema: ProtoSchema, known: ProtoField, wire: int, depth: int
) -> list[Any]:
    if wire != LENGTH or _wire_of(known.kind, schema) == LENGTH:
        return [_one(source, schema, known.kind, depth)]
    packed = source.part(source.varint())
    values = []
    while packed.left:
        packed.count()
        values.append(_one(packed, schema, known.kind, depth))
    return values


def _one(source: ByteSource, schema: ProtoSchema, kind: str, depth: int) -> Any:
    if kind in _READERS:
        return _READERS[kind][1](source)
    if kind in schema.enums:
        number = _signed(source.varint(), _BITS_32)
        return schema.enums[kind].get(number, number)
    inner = source.part(source.varint())
    return _message(inner, schema, schema.messages[kind], depth + 1)


def _entry(
    source: ByteSource, schema: ProtoSchema, known: ProtoField, depth: int
) -> tuple[str, Any]:
    """Take one entry of a map: a message whose field 1 is the key, 2 the value."""
    pair = ProtoMessage("", {1: ProtoField("key", known.key), 2: ProtoField("value", known.kind)})
    told = _message(source.part(source.varint()), schema, pair, depth + 1)
    return str(told.get("key", "")), told.get("value")


def _signed(value: int, size: int) -> int:
    """A number in two's complement; negative ones of 32 bits are written as those of 64."""
    value %= size
    return value - size if value >= size // 2 else value


def _text(source: ByteSource) -> str:
    return source.text(source.varint())


def _bytes(source: ByteSource) -> str:
    return hex_text(source.take(source.varint()))


def _fixed(form: str) -> Callable[[ByteSource], Any]:
    def read(source: ByteSource) -> Any:
        (value,) = struct.unpack(form, source.take(struct.calcsize(form)))
        return real(value) if isinstance(value, float) else whole(value)

    return read


_READERS: dict[str, tuple[int, Callable[[ByteSource], Any]]] = {
    "double": (FIXED64, _fixed("<d")),
    "float": (FIXED32, _fixed("<f")),
    "int32": (VARINT, lambda source: _signed(source.varint(), _BITS_32)),
    "int64": (VARINT, lambda source: whole(_signed(source.varint(), _BITS_64))),
    "uint32": (VARINT, lambda source: source.varint() % _BITS_32),
    "uint64": (VARINT, lambda source: whole(source.varint() % _BITS_64)),
    "sint32": (VARINT, lambda source: source.zigzag()),
    "sint64": (VARINT, lambda source: whole(source.zigzag())),
    "fixed32": (FIXED32, _fixed("<I")),
    "fixed64": (FIXED64, _fixed("<Q")),
    "sfixed32": (FIXED32, _fixed("<i")),
    "sfixed64": (FIXED64, _fixed("<q")),
    "bool": (VARINT, lambda source: source.varint() != 0),
    "string": (LENGTH, _text),
    "bytes": (LENGTH, _bytes),
}
