"""MessagePack and Protobuf without a schema, read from bytes as values that JSON can hold.

Bytes become `0x…`, keys of maps become texts. Protobuf without a schema has numbers instead of
names: {"1": 150, "2": "testing"}; a field that comes again is a list.

P1. Bounds are those of `byte_source.py`: whatever is not of the format is a NotOfFormat.
"""

import struct
from typing import Any

from aerobee.console.message.byte_source import ByteSource, NotOfFormat, hex_text, real, whole

# MessagePack.

_FIXED = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_BINARIES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
_LISTS = {0xDC: ">H", 0xDD: ">I"}
_MAPS = {0xDE: ">H", 0xDF: ">I"}
_EXTENSIONS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_LONG_EXTENSIONS = {0xC7: ">B", 0xC8: ">H", 0xC9: ">I"}


def read_msgpack(data: bytes) -> Any:
    """Return the one value that the bytes hold."""
    source = ByteSource(data)
    value = _msgpack(source, 0)
    if source.at != len(data):
        raise NotOfFormat("more bytes than one value")
    return value


def _msgpack(source: ByteSource, depth: int) -> Any:
    source.enter(depth)
    kind = source.take(1)[0]
    if kind <= 0x7F:
        return kind
    if kind >= 0xE0:
        return kind - 0x100
    if kind in _FIXED:
        return _FIXED[kind]
    if kind in _NUMBERS:
        value = source.number(_NUMBERS[kind])
        return real(value) if isinstance(value, float) else whole(value)
    if kind in _BINARIES:
        return hex_text(source.take(source.number(_BINARIES[kind])))
    if 0xA0 <= kind <= 0xBF or kind in _TEXTS:
        return source.text(kind & 0x1F if kind <= 0xBF else source.number(_TEXTS[kind]))
    if 0x90 <= kind <= 0x9F or kind in _LISTS:
        size = kind & 0x0F if kind <= 0x9F else source.number(_LISTS[kind])
        return [_msgpack(source, depth + 1) for _ in range(size)]
    if 0x80 <= kind <= 0x8F or kind in _MAPS:
        size = kind & 0x0F if kind <= 0x8F else source.number(_MAPS[kind])
        pairs = ((_msgpack(source, depth + 1), _msgpack(source, depth + 1)) for _ in range(size))
        return {_key(name): value for name, value in pairs}
    if kind in _EXTENSIONS or kind in _LONG_EXTENSIONS:
        fixed = _EXTENSIONS.get(kind)
        size = source.number(_LONG_EXTENSIONS[kind]) if fixed is None else fixed
        number = struct.unpack(">b", source.take(1))[0]
        return {"extension": number, "data": hex_text(source.take(size))}
    raise NotOfFormat(f"no value begins with 0x{kind:02x}")


def _key(value: Any) -> str:
    # A text of a map of maps of maps would be twice as long with each of them.
    if isinstance(value, list | dict):
        raise NotOfFormat("a key of a map is no plain value")
    return str(value)


# Protobuf.

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
FIELD_MAX = 2**29 - 1


def read_protobuf(data: bytes) -> dict[str, Any]:
    """Return the fields of a message by number."""
    return _protobuf(ByteSource(data), 0)


def _protobuf(source: ByteSource, depth: int) -> dict[str, Any]:
    source.enter(depth)
    fields: dict[str, list[Any]] = {}
    while source.left:
        source.count()
        number, kind = take_tag(source)
        fields.setdefault(str(number), []).append(take_unknown(source, kind, depth))
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def take_tag(source: ByteSource) -> tuple[int, int]:
    """Take the number and the wire type of a field."""
    number, kind = divmod(source.varint(), 8)
    if not 1 <= number <= FIELD_MAX:
        raise NotOfFormat(f"there is no field {number}")
    return number, kind


def take_unknown(source: ByteSource, kind: int, depth: int) -> Any:
    """Take the value of a field of which only the wire type is known."""
    if kind == VARINT:
        return whole(source.varint())
    if kind == FIXED64:
        return real(source.number("<d"))
    if kind == FIXED32:
        return real(source.number("<f"))
    if kind != LENGTH:
        raise NotOfFormat(f"there is no wire type {kind}")
    data = source.take(source.varint())
    try:
        text = data.decode()
        if text.isprintable():
            return text
    except UnicodeDecodeError:
        pass
    try:
        return _protobuf(ByteSource(data, count=source.counted), depth + 1)
    except NotOfFormat:
        if source.counted.left < 0:
            raise
        return hex_text(data)
