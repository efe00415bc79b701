"""Types of decoded values: Spark's DDL text ⇄ Arrow's types.

    id long, name string, lines array<struct<sku: string, n: int>>, extra map<string, double>

Only types that all formats have. The Arrow types are exactly those that Spark derives from the same
text, because it compares them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from aerobee.errors import Misuse

_INSTANT = pa.timestamp("us", tz="UTC")
_PLAIN: dict[str, Any] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": _INSTANT,
}
_WORDS = {
    str(pa.bool_()): "boolean",
    str(pa.int32()): "int",
    str(pa.int64()): "long",
    str(pa.float32()): "float",
    str(pa.float64()): "double",
    str(pa.string()): "string",
    str(pa.binary()): "binary",
    str(pa.date32()): "date",
    str(_INSTANT): "timestamp",
}
_TOKEN = re.compile(r"\s*(?:`([^`]+)`|(\w+)|([<>,:()]))")
_HINT = "like: id long, name string, lines array<struct<sku: string, n: int>>"


def fields_of(text: str) -> Any:
    """Parse DDL text into a struct. Misuse says what cannot be read."""
    reading = _Reading(text)
    fields = reading.fields(":" if ":" in text.split(",")[0].split("<")[0] else "")
    reading.end()
    return pa.struct(fields)


def array_of(element: Any) -> Any:
    return pa.list_(pa.field("element", element))


def map_of(value: Any) -> Any:
    return pa.map_(pa.string(), value)


def words_of(kind: Any) -> str:
    """Return the type as DDL text of Spark."""
    if pa.types.is_struct(kind):
        inside = ",".join(f"`{field.name}`:{words_of(field.type)}" for field in kind)
        return f"struct<{inside}>"
    if pa.types.is_map(kind):
        return f"map<string,{words_of(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"array<{words_of(kind.value_type)}>"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return _WORDS[str(kind)]


def leaves(kind: Any) -> list[Any]:
    """Return the scalar types inside a type."""
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in leaves(field.type)]
    if pa.types.is_map(kind):
        return leaves(kind.item_type)
    if pa.types.is_list(kind):
        return leaves(kind.value_type)
    return [kind]


def shaping(kind: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts dicts and lists for Arrow, where maps are lists of pairs.
    None: nothing is to be converted."""
    if pa.types.is_map(kind):
        item = shaping(kind.item_type) or _same
        return lambda value: None if value is None else [(k, item(v)) for k, v in value.items()]
    if pa.types.is_list(kind):
        element = shaping(kind.value_type)
        if element is None:
            return None
        return lambda value: None if value is None else [element(one) for one in value]
    if pa.types.is_struct(kind):
        fields = {field.name: shaping(field.type) for field in kind}
        shaped = {name: shape for name, shape in fields.items() if shape is not None}
        if not shaped:
            return None
        return lambda value: None if value is None else _with(value, shaped)
    return None


def _same(value: Any) -> Any:
    return value


def _with(value: Mapping[str, Any], shaped: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    return {**value, **{name: shape(value.get(name)) for name, shape in shaped.items()}}


class _Reading:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def _next(self) -> str:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[1] or found[2] or found[3]

    def _peek(self) -> str:
        at = self._at
        token = self._next()
        self._at = at
        return token

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise Misuse(f"{found or 'the end'!r} where {token!r} is expected", hint=_HINT)

    def end(self) -> None:
        if self._text[self._at :].strip():
            raise Misuse(f"{self._text[self._at :].strip()!r} cannot be read", hint=_HINT)

    def fields(self, separator: str) -> list[Any]:
        found = []
        while True:
            name = self._next()
            if not name or name in "<>,:()":
                raise Misuse(f"{name or 'the end'!r} where a name is expected", hint=_HINT)
            if self._peek() == ":":
                self._next()
            elif separator:
                self._expect(separator)
            found.append(pa.field(name, self._type()))
            if self._peek() != ",":
                break
            self._next()
        names = [field.name for field in found]
        if len(set(names)) != len(names):
            raise Misuse(f"a field is there twice in {', '.join(names)}")
        return found

    def _type(self) -> Any:
        word = self._next().lower()
        if word in _PLAIN:
            return _PLAIN[word]
        if word == "decimal":
            self._expect("(")
            precision = self._number()
            self._expect(",")
            scale = self._number()
            self._expect(")")
            return pa.decimal128(precision, scale)
        if word not in ("array", "map", "struct"):
            raise Misuse(f"there is no type {word!r}", hint=f"{_HINT}; types: {', '.join(_PLAIN)}")
        self._expect("<")
        if word == "array":
            made = array_of(self._type())
        elif word == "map":
            self._expect("string")
            self._expect(",")
            made = map_of(self._type())
        else:
            made = pa.struct(self.fields(":"))
        self._expect(">")
        return made

    def _number(self) -> int:
        text = self._next()
        if not text.isdigit() or int(text) > 38:
            raise Misuse(f"{text!r} is no number of digits, up to 38", hint=_HINT)
        return int(text)
