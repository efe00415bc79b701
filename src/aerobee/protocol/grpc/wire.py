"""Protobuf messages as declarations: a dataclass ⇄ its bytes (proto3).

    @dataclass(slots=True)
    class Resource:
        resource_namespace: str = text(1)
        name: str = text(2)

A field that may be absent is None then (`optional_…`, `part`); any other has the zero of its type
and is not written while it has it. Fields that are not declared are skipped, as protobuf demands.

A message comes from a peer, so its lengths are checked before they are used, and the number of
values in it is bounded: two bytes can stand for an object.
"""

import struct
from collections.abc import Callable
from dataclasses import field, fields
from typing import Any, NamedTuple, TypeVar

from aerobee.errors import RemoteProtocolError

M = TypeVar("M")

VALUES_MAX = 65_536
"""Values in one message, those inside of its parts counted."""

_VARINT = 0
_FIXED64 = 1
_SIZED = 2
_FIXED32 = 5

_NUMBER = "number"
_TRUTH = "truth"
_TEXT = "text"
_DATA = "data"
_FRACTION = "fraction"
_PART = "part"
_PARTS = "parts"
_TEXTS = "texts"
_NUMBERS = "numbers"
_MAP = "map"

_WIRE_TYPES = {_NUMBER: _VARINT, _TRUTH: _VARINT, _FRACTION: _FIXED32}
_INT64_SIGN = 1 << 63
_INT64 = 1 << 64


# Declarations.


def _declared(number: int, kind: str, default: Any, sub: type | None = None) -> Any:
    return field(default=default, metadata={"wire": (number, kind, sub)})


def _gathered(number: int, kind: str, make: Callable[[], Any], sub: type | None = None) -> Any:
    return field(default_factory=make, metadata={"wire": (number, kind, sub)})


def number(tag: int) -> Any:
    """An int32, int64 or enumeration."""
    return _declared(tag, _NUMBER, 0)


def optional_number(tag: int) -> Any:
    return _declared(tag, _NUMBER, None)


def truth(tag: int) -> Any:
    return _declared(tag, _TRUTH, False)


def optional_truth(tag: int) -> Any:
    return _declared(tag, _TRUTH, None)


def text(tag: int) -> Any:
    return _declared(tag, _TEXT, "")


def optional_text(tag: int) -> Any:
    return _declared(tag, _TEXT, None)


def data(tag: int) -> Any:
    return _declared(tag, _DATA, b"")


def fraction(tag: int) -> Any:
    """A float."""
    return _declared(tag, _FRACTION, 0.0)


def part(tag: int, kind: type) -> Any:
    """A message inside this one."""
    return _declared(tag, _PART, None, kind)


def parts(tag: int, kind: type) -> Any:
    return _gathered(tag, _PARTS, list, kind)


def texts(tag: int) -> Any:
    return _gathered(tag, _TEXTS, list)


def numbers(tag: int) -> Any:
    return _gathered(tag, _NUMBERS, list)


def text_map(tag: int) -> Any:
    """A map of texts."""
    return _gathered(tag, _MAP, dict)


# Plans: one for each class.


class _Field(NamedTuple):
    name: str
    kind: str
    sub: type | None
    tag: bytes
    default: Any


class _Plan(NamedTuple):
    by_tag: dict[int, _Field]
    """By number and wire type, as they stand together in the bytes."""
    in_order: tuple[_Field, ...]


_PLANS: dict[type, _Plan] = {}


def _plan_of(kind: type) -> _Plan:
    plan = _PLANS.get(kind)
    if plan is None:
        plan = _PLANS[kind] = _make_plan(kind)
    return plan


def _make_plan(kind: type) -> _Plan:
    by_tag: dict[int, _Field] = {}
    in_order = []
    for one in fields(kind):
        number_, kind_, sub = one.metadata["wire"]
        key = number_ << 3 | _WIRE_TYPES.get(kind_, _SIZED)
        default = None if kind_ in (_PARTS, _TEXTS, _NUMBERS, _MAP) else one.default
        made = _Field(one.name, kind_, sub, _varint(key), default)
        by_tag[key] = made
        if kind_ == _NUMBERS:
            by_tag[number_ << 3 | _VARINT] = made  # not packed
        in_order.append(made)
    return _Plan(by_tag, tuple(in_order))


# Reading.


def decode(kind: type[M], buffer: bytes) -> M:
    """The message that the bytes are. RemoteProtocolError: they are none."""
    return _Reader(buffer).message(kind, 0, len(buffer))


class _Reader:
    __slots__ = ("_buffer", "_left")

    def __init__(self, buffer: bytes) -> None:
        self._buffer = buffer
        self._left = VALUES_MAX

    def message(self, kind: type[M], position: int, end: int) -> M:
        made = kind()
        by_tag = _plan_of(kind).by_tag
        buffer = self._buffer
        while position < end:
            tag = buffer[position]
            position += 1
            if tag >= 0x80:
                tag, position = self._varint(position - 1, end)
            self._left -= 1
            if self._left < 0:
                raise RemoteProtocolError(f"more than {VALUES_MAX} values in a message")
            one = by_tag.get(tag)
            if one is None:
                position = self._skip(tag, position, end)
            elif tag & 7 == _SIZED:
                position = self._sized(made, one, position, end)
            elif one.kind == _FRACTION:
                if position + 4 > end:
                    raise _short()
                setattr(made, one.name, struct.unpack_from("<f", buffer, position)[0])
                position += 4
            else:
                value, position = self._varint(position, end)
                if one.kind == _NUMBERS:
                    getattr(made, one.name).append(_signed(value))
                else:
                    setattr(made, one.name, _signed(value) if one.kind == _NUMBER else value != 0)
        return made

    def _sized(self, made: object, one: _Field, position: int, end: int) -> int:
        size, position = self._varint(position, end)
        stop = position + size
        if stop > end:
            raise _short()
        kind = one.kind
        if kind == _TEXT:
            setattr(made, one.name, self._text(position, stop))
        elif kind == _PART:
            assert one.sub is not None
            setattr(made, one.name, self.message(one.sub, position, stop))
        elif kind == _DATA:
            setattr(made, one.name, self._buffer[position:stop])
        elif kind == _PARTS:
            assert one.sub is not None
            getattr(made, one.name).append(self.message(one.sub, position, stop))
        elif kind == _TEXTS:
            getattr(made, one.name).append(self._text(position, stop))
        elif kind == _MAP:
            key, entry = self._entry(position, stop)
            getattr(made, one.name)[key] = entry
        else:
            found = getattr(made, one.name)
            while position < stop:
                self._left -= 1
                if self._left < 0:
                    raise RemoteProtocolError(f"more than {VALUES_MAX} values in a message")
                value, position = self._varint(position, stop)
                found.append(_signed(value))
        return stop

    def _entry(self, position: int, end: int) -> tuple[str, str]:
        found = ["", ""]
        while position < end:
            tag, position = self._varint(position, end)
            if tag in (0x0A, 0x12):
                size, position = self._varint(position, end)
                if position + size > end:
                    raise _short()
                found[tag >> 4] = self._text(position, position + size)
                position += size
            else:
                position = self._skip(tag, position, end)
        return found[0], found[1]

    def _text(self, start: int, end: int) -> str:
        try:
            return self._buffer[start:end].decode()
        except UnicodeDecodeError:
            raise RemoteProtocolError("a text that is no UTF-8") from None

    def _varint(self, position: int, end: int) -> tuple[int, int]:
        buffer = self._buffer
        value = shift = 0
        while position < end:
            byte = buffer[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & _INT64 - 1, position
            shift += 7
            if shift > 63:
                raise RemoteProtocolError("a number of more than ten bytes")
        raise _short()

    def _skip(self, tag: int, position: int, end: int) -> int:
        wire = tag & 7
        if wire == _VARINT:
            return self._varint(position, end)[1]
        if wire == _SIZED:
            size, position = self._varint(position, end)
            position += size
        elif wire in (_FIXED32, _FIXED64):
            position += 4 if wire == _FIXED32 else 8
        else:
            raise RemoteProtocolError(f"a field of the type {wire}, which is not protobuf's")
        if position > end or tag < 8:
            raise _short()
        return position


def _signed(value: int) -> int:
    return value - _INT64 if value & _INT64_SIGN else value


def _short() -> RemoteProtocolError:
    return RemoteProtocolError("a field that goes beyond its message")


# Writing.


def encode(message: object) -> bytes:
    out = bytearray()
    _write(message, out)
    return bytes(out)


def _write(message: object, out: bytearray) -> None:
    for name, kind, _, tag, default in _plan_of(type(message)).in_order:
        value = getattr(message, name)
        if value is None or value == default:
            continue
        if kind == _TEXT:
            _write_sized(tag, value.encode(), out)
        elif kind == _NUMBER:
            out += tag
            out += _varint(value)
        elif kind == _PART:
            _write_sized(tag, encode(value), out)
        elif kind == _DATA:
            _write_sized(tag, value, out)
        elif kind == _TRUTH:
            out += tag
            out.append(value)
        elif kind == _PARTS:
            for one in value:
                _write_sized(tag, encode(one), out)
        elif kind == _TEXTS:
            for one in value:
                _write_sized(tag, one.encode(), out)
        elif kind == _MAP:
            for key, one in value.items():
                entry = bytearray()
                _write_sized(b"\x0a", key.encode(), entry)
                _write_sized(b"\x12", one.encode(), entry)
                _write_sized(tag, entry, out)
        elif kind == _FRACTION:
            out += tag
            out += struct.pack("<f", value)
        elif value:
            _write_sized(tag, b"".join(map(_varint, value)), out)


def _write_sized(tag: bytes, value: bytes | bytearray, out: bytearray) -> None:
    out += tag
    size = len(value)
    if size < 0x80:
        out.append(size)
    else:
        out += _varint(size)
    out += value


def _varint(value: int) -> bytes:
    if 0 <= value < 0x80:
        return bytes((value,))
    value &= _INT64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
