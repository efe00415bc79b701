"""The JSON that RocketMQ writes: text ⇄ dict, list, str, int, float, bool, None.

Its library, fastjson 1.2, writes the keys of a map as it writes any value. So beside JSON this
reads and writes two kinds of key that JSON does not have:

    {0:"a"}                                 a bare integer       → {0: "a"}
    {{"brokerName":"b","queueId":0}:7}      an object            → {(("brokerName", "b"),
                                                                     ("queueId", 0)): 7}

An object as a key becomes the tuple of its pairs, so that it can be a key here as well: dict(key)
gives the object back. Its own keys are text and its values no containers. A quoted integer stays
text: readers of a map by number take both (`by_number`).

Laws. All else is strict JSON in UTF-8: no comments, single quotes, bare words or stray commas, no
NaN, Infinity or number too large for a double, integers of 64 bits, no key twice (0 and "0" are the
same key), no lone surrogate, bounded depth and size. Whatever is wrong raises `BadJson`, nothing
else. parse(write(x)) == x, and write(parse(t)) == t, byte for byte, for what Apache wrote.

Text without such keys is read by the standard library's compiled scanner, fifteen times as fast:
a broker uploads ten thousand topics in one body. What that does not take, `_Reader` judges.
"""

import re
from collections.abc import Mapping, Sequence
from json import JSONDecodeError, JSONDecoder, dumps, loads
from typing import NoReturn, TypeAlias

from aerobee.errors import ProtocolError

Scalar: TypeAlias = str | int | float | bool | None
ObjectKey: TypeAlias = tuple[tuple[str, Scalar], ...]
Key: TypeAlias = str | int | ObjectKey
Value: TypeAlias = (
    Scalar
    | Sequence["Value"]
    | Mapping[Key, "Value"]
    # A mapping of one kind of key is, to the type checker, no mapping of Key.
    | Mapping[str, "Value"]
    | Mapping[int, "Value"]
    | Mapping[ObjectKey, "Value"]
)
Parsed: TypeAlias = "Scalar | list[Parsed] | dict[Key, Parsed]"

DEPTH_MAX = 16  # Apache's deepest, a static topic's mapping, has 6
TEXT_BYTES_MAX = 64 * 1024 * 1024
_INTEGER_MIN = -(2**63)
_INTEGER_MAX = 2**63 - 1
_INFINITY = float("inf")

_CONTAINERS = (dict, list)
_TEXTS = JSONDecoder()  # its scanner of texts is compiled
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BARE_KEY = re.compile(r"([{,]\s*)(-?[0-9]+)\s*:")
_WORDS: tuple[tuple[str, Scalar], ...] = (("true", True), ("false", False), ("null", None))
# What fastjson escapes: controls of both kinds, and the line separators that JavaScript minds.
_ESCAPED = re.compile('["\\\\\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]')
_SHORT_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


class BadJson(ProtocolError):
    """Text that is not in the dialect, and where."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason} at character {position}")
        self.position = position


def parse(
    text: bytes,
    *,
    depth_max: int = DEPTH_MAX,
    bytes_max: int = TEXT_BYTES_MAX,
    dialect_bytes_max: int = TEXT_BYTES_MAX,
) -> Parsed:
    """`dialect_bytes_max` bounds what is read without the compiled scanner, at 2 MiB a second:
    how long a peer can keep us busy with one text."""
    if len(text) > bytes_max:
        raise BadJson(f"{len(text)} bytes of JSON, at most {bytes_max} are read", 0)
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise BadJson("bytes that are no UTF-8", error.start) from None
    try:
        value = _plain(decoded, depth_max)
    except (ValueError, RecursionError):
        if len(text) > dialect_bytes_max:
            raise BadJson(f"{len(text)} bytes that are not plain JSON", 0) from None
        return _Reader(decoded).document(depth_max)
    return value


def parse_tables(text: bytes, *, bytes_max: int = TEXT_BYTES_MAX) -> Parsed:
    """`parse` for large tables by number, of a server that is believed: thirty times as fast,
    because only compiled code looks at each number. Bare integers as keys may become text
    (`by_number` takes both), of two equal keys the last counts, numbers may be of any size."""
    if len(text) <= bytes_max:
        try:
            decoded = text.decode()
            if not _SURROGATE.search(decoded):
                # Inside a text this makes a text that ends before a digit, which is no JSON.
                value: Parsed = loads(_BARE_KEY.sub(r'\1"\2":', decoded))
                return value
        except (ValueError, RecursionError):
            pass
    return parse(text, bytes_max=bytes_max)


def write_pretty(value: Value) -> bytes:
    """The form of most config files: one member a line, indented by tabs, no space after colons."""
    return _written(value, "\n")


def write_compact(value: Value) -> bytes:
    """The form without any space."""
    return _written(value, "")


def quoted(text: str) -> str:
    """One text in the compact form. For those who write many rows by hand."""
    # Names are plain: looking once is faster than escaping nothing.
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return write_compact(text).decode()


def write_standard(value: Value) -> bytes:
    """Compact JSON that any parser reads: integers as keys are quoted, all text is ASCII."""
    try:
        return dumps(value, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise BadJson(f"a value that JSON does not have: {error}", 0) from None


def by_number(table: Mapping[Key, Parsed]) -> dict[int, Parsed]:
    """A map from numbers, whether its keys were bare or quoted."""
    return {_as_number(key): value for key, value in table.items()}


def _as_number(key: Key) -> int:
    if isinstance(key, int):
        return key
    if isinstance(key, str) and _NUMBER.fullmatch(key):
        try:
            return int(key)
        except ValueError:
            pass  # "1.5", "1e3", or thousands of digits
    raise BadJson(f"{key!r:.100} where a number is the key", 0)


def _plain(text: str, depth_max: int) -> Parsed:
    """A text of plain JSON. ValueError or RecursionError: it breaks a law, or may."""
    if _SURROGATE.search(text):
        raise ValueError("perhaps half of a pair")
    value: Parsed = _PLAIN.decode(text)
    level = [value]
    for _ in range(depth_max):
        level = [
            item
            for outer in level
            if isinstance(outer, _CONTAINERS)
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, _CONTAINERS)
        ]
        if not level:
            return value
    raise ValueError("too deep")


def _plain_members(pairs: list[tuple[str, Parsed]]) -> dict[str, Parsed]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key twice")
    return members


def _plain_integer(text: str) -> int:
    number = int(text) if len(text) <= 20 else _INTEGER_MAX + 1
    if not _INTEGER_MIN <= number <= _INTEGER_MAX:
        raise ValueError("an integer of more than 64 bits")
    return number


def _plain_real(text: str) -> float:
    number = float(text)
    if abs(number) == _INFINITY:
        raise ValueError("a number too large for a double")
    return number


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


_PLAIN = JSONDecoder(
    object_pairs_hook=_plain_members,
    parse_int=_plain_integer,
    parse_float=_plain_real,
    parse_constant=_refuse,
)


class _Reader:
    """One document, read from left to right; `_position` is the next character."""

    __slots__ = ("_position", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def document(self, depth_max: int) -> Parsed:
        value = self._value(depth_max)
        self._skip_space()
        if self._position < len(self._text):
            raise self._bad("something after the end of the value")
        return value

    def _value(self, depth_left: int) -> Parsed:
        self._skip_space()
        first = self._peek()
        if first == '"':
            return self._string()
        if first == "{":
            return self._object(depth_left - 1)
        if first == "[":
            return self._array(depth_left - 1)
        for word, value in _WORDS:
            if self._text.startswith(word, self._position):
                self._position += len(word)
                return value
        return self._number()

    def _object(self, depth_left: int) -> dict[Key, Parsed]:
        members: dict[Key, Parsed] = {}
        taken: set[object] = set()
        if self._enter("}", depth_left):
            return members
        while True:
            start = self._position
            key = self._key(depth_left)
            # A map's 0 and "0" are one key: whoever reads it by number would lose one of them.
            identity = str(key) if isinstance(key, int) else key
            if identity in taken:
                raise BadJson(f"the key {key!r:.100} for the second time", start)
            taken.add(identity)
            self._skip_space()
            self._expect(":")
            members[key] = self._value(depth_left)
            if self._is_last("}"):
                return members
            self._skip_space()

    def _array(self, depth_left: int) -> list[Parsed]:
        items: list[Parsed] = []
        if self._enter("]", depth_left):
            return items
        while True:
            items.append(self._value(depth_left))
            if self._is_last("]"):
                return items

    def _key(self, depth_left: int) -> Key:
        first = self._peek()
        if first == '"':
            return self._string()
        start = self._position
        if first == "{":
            return self._object_key(depth_left)
        number = self._number()
        if not isinstance(number, int):
            raise BadJson("a key that is no text, integer or object", start)
        return number

    def _object_key(self, depth_left: int) -> ObjectKey:
        start = self._position
        pairs: list[tuple[str, Scalar]] = []
        for name, value in self._object(depth_left - 1).items():
            if not isinstance(name, str) or isinstance(value, dict | list):
                raise BadJson("an object as a key with more than plain members", start)
            pairs.append((name, value))
        return tuple(pairs)

    def _string(self) -> str:
        start = self._position
        value: str
        try:
            value, self._position = _TEXTS.raw_decode(self._text, start)
        except JSONDecodeError as error:
            raise BadJson("a text that does not end, or has a bad escape", error.pos) from None
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise BadJson("half of a surrogate pair", start) from None
        return value

    def _number(self) -> int | float:
        found = _NUMBER.match(self._text, self._position)
        if found is None:
            raise self._bad("no value")
        start, self._position = found.span()
        if found[1] is None and found[2] is None:
            # Judged by length first: int() of a long text takes quadratic time.
            if self._position - start <= 20:
                number = int(found[0])
                if _INTEGER_MIN <= number <= _INTEGER_MAX:
                    return number
            raise BadJson("an integer of more than 64 bits", start)
        real = float(found[0])
        if abs(real) == _INFINITY:
            raise BadJson("a number too large for a double", start)
        return real

    def _enter(self, closing: str, depth_left: int) -> bool:
        """Step over an opening bracket; whether its pair follows at once."""
        if depth_left < 0:
            raise self._bad("brackets too deep in one another")
        self._position += 1
        self._skip_space()
        if self._peek() != closing:
            return False
        self._position += 1
        return True

    def _is_last(self, closing: str) -> bool:
        """Step over what follows a member: a comma, or the closing bracket."""
        self._skip_space()
        if self._peek() == closing:
            self._position += 1
            return True
        self._expect(",")
        return False

    def _expect(self, character: str) -> None:
        if self._peek() != character:
            raise self._bad(f"no {character!r}")
        self._position += 1

    def _peek(self) -> str:
        """The next character; empty at the end of the text."""
        return self._text[self._position : self._position + 1]

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self._position)
        assert found is not None
        self._position = found.end()

    def _bad(self, reason: str) -> BadJson:
        return BadJson(reason, self._position)


def _written(value: Value, newline: str) -> bytes:
    parts: list[str] = []
    _write(value, newline, parts)
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError as error:
        raise BadJson("half of a surrogate pair", error.start) from None


def _write(value: Value, newline: str, parts: list[str]) -> None:
    """Append one value. `newline` begins a line at its depth; empty in the compact form."""
    if value is None or isinstance(value, bool | int | float | str):
        parts.append(_scalar(value))
        return
    inner = newline + "\t" if newline else ""
    separator = ""
    is_map = isinstance(value, Mapping)
    parts.append("{" if is_map else "[")
    if isinstance(value, Mapping):
        for key, item in value.items():
            parts += (separator, inner)
            # A key that is an object is laid out like any other value.
            _write(dict(key) if isinstance(key, tuple) else key, inner, parts)
            parts.append(":")
            _write(item, inner, parts)
            separator = ","
    else:
        for item in value:
            parts += (separator, inner)
            _write(item, inner, parts)
            separator = ","
    if separator:
        parts.append(newline)
    parts.append("}" if is_map else "]")


def _scalar(value: Scalar) -> str:
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not _INTEGER_MIN <= value <= _INTEGER_MAX:
        raise BadJson(f"an integer of more than 64 bits, {value.bit_length()},", 0)
    if isinstance(value, float) and not -_INFINITY < value < _INFINITY:
        raise BadJson(f"{value}, which is no number of JSON,", 0)
    return repr(value)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04X}"
