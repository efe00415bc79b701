"""MessagePack and Protobuf without a schema, read from bytes as values that JSON can hold.

Bytes become `0x…`, keys of maps become texts. Protobuf without a schema has numbers instead of
names: {"1": 150, "2": "testing"}; a field that comes again is a list.

P1. Sizes are compared with what is left before anything is taken; nesting ends at DEPTH_MAX.
    Whatever is not of the format is a NotOfFormat, never another error.
"""

import struct
from typing import Any

DEPTH_MAX = 32
VALUES_MAX = 100_000


class NotOfFormat(ValueError):
    """The bytes are of another format."""


class _Bytes:
    """Bytes that are taken from the front."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.values = 0

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise NotOfFormat("it ends too early")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def count(self) -> None:
        self.values += 1
        if self.values > VALUES_MAX:
            raise NotOfFormat("too many values")


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
    source = _Bytes(data)
    value = _msgpack(source, 0)
    if source.at != len(data):
        raise NotOfFormat("more bytes than one value")
    return value


def _msgpack(source: _Bytes, depth: int) -> Any:
    source.count()
    if depth > DEPTH_MAX:
        raise NotOfFormat("too deep")
    kind = source.take(1)[0]
    if kind <= 0x7F:
        return kind
    if kind >= 0xE0:
        return kind - 0x100
    if kind in _FIXED:
        return _FIXED[kind]
    if kind in _NUMBERS:
        return _jsonable(_number(source, _NUMBERS[kind]))
    if kind in _BINARIES:
        return _hex(source.take(_number(source, _BINARIES[kind])))
    if 0xA0 <= kind <= 0xBF or kind in _TEXTS:
        return _text(source, kind & 0x1F if kind <= 0xBF else _number(source, _TEXTS[kind]))
    if 0x90 <= kind <= 0x9F or kind in _LISTS:
        size = kind & 0x0F if kind <= 0x9F else _number(source, _LISTS[kind])
        return [_msgpack(source, depth + 1) for _ in range(size)]
    if 0x80 <= kind <= 0x8F or kind in _MAPS:
        size = kind & 0x0F if kind <= 0x8F else _number(source, _MAPS[kind])
        pairs = ((_msgpack(source, depth + 1), _msgpack(source, depth + 1)) for _ in range(size))
        return {str(name): value for name, value in pairs}
    if kind in _EXTENSIONS or kind in _LONG_EXTENSIONS:
        fixed = _EXTENSIONS.get(kind)
        size = _number(source, _LONG_EXTENSIONS[kind]) if fixed is None else fixed
        number = struct.unpack(">b", source.take(1))[0]
        return {"extension": number, "data": _hex(source.take(size))}
    raise NotOfFormat(f"no value begins with 0x{kind:02x}")


def _number(source: _Bytes, form: str) -> Any:
    return struct.unpack(form, source.take(struct.calcsize(form)))[0]


def _text(source: _Bytes, size: int) -> str:
    try:
        return source.take(size).decode()
    except UnicodeDecodeError:
        raise NotOfFormat("a text is no UTF-8") from None


# Protobuf.

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIELD_MAX = 2**29 - 1


def read_protobuf(data: bytes) -> dict[str, Any]:
    """Return the fields of a message by number."""
    return _protobuf(_Bytes(data), 0)


def _protobuf(source: _Bytes, depth: int) -> dict[str, Any]:
    if depth > DEPTH_MAX:
        raise NotOfFormat("too deep")
    fields: dict[str, Any] = {}
    while source.at < len(source.data):
        source.count()
        number, kind = divmod(_varint(source), 8)
        if not 1 <= number <= _FIELD_MAX:
            raise NotOfFormat(f"there is no field {number}")
        value = _field(source, kind, depth)
        name = str(number)
        if name in fields:
            known = fields[name]
            fields[name] = [*known, value] if isinstance(known, list) else [known, value]
        else:
            fields[name] = value
    return fields


def _field(source: _Bytes, kind: int, depth: int) -> Any:
    if kind == _VARINT:
        return _varint(source)
    if kind == _FIXED64:
        return _jsonable(_number(source, "<d"))
    if kind == _FIXED32:
        return _jsonable(_number(source, "<f"))
    if kind != _LENGTH:
        raise NotOfFormat(f"there is no wire type {kind}")
    data = source.take(_varint(source))
    try:
        text = data.decode()
        if text.isprintable():
            return text
    except UnicodeDecodeError:
        pass
    try:
        inner = _Bytes(data)
        inner.values = source.values
        return _protobuf(inner, depth + 1)
    except NotOfFormat:
        return _hex(data)


def _varint(source: _Bytes) -> int:
    value = 0
    for place in range(10):
        byte = source.take(1)[0]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value
    raise NotOfFormat("a number is too long")


def _hex(data: bytes) -> str:
    return f"0x{data.hex()}"


def _jsonable(value: float) -> float | str:
    """JSON has no word for infinity."""
    return value if value == value and abs(value) != float("inf") else str(value)
