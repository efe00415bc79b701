"""JSON bodies → values of a type, field by field, as Spark's `from_json` takes them.

    long, int        whole numbers, and nothing that would have to be rounded
    double, float    numbers, whole ones, too; NaN, Infinity and -Infinity, bare as Python writes
                     them, or in quotes as Spark's `to_json` does
    boolean          true, false
    string           text; of anything else, its JSON: a price as it was written, 12.50
    array, map, struct    arrays, objects, objects

Members that the type does not name are left out; missing ones and nulls are null. A member of
another kind is a decoding error, where Spark makes that field null: the query's options decide how
it is handled (`value_format`).
"""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_types import fields_of, leaves, words_of

Take = Callable[[Any], Any]

_NOT_FINITE = {text: float(text) for text in ("NaN", "Infinity", "-Infinity")}


class JsonDecoder:
    def __init__(self, schema: str) -> None:
        self.type = fields_of(schema)
        for leaf in leaves(self.type):
            if pa.types.is_temporal(leaf) or pa.types.is_binary(leaf) or pa.types.is_decimal(leaf):
                raise Misuse(
                    f"JSON has no {words_of(leaf)}", hint="take it as string, and cast the column"
                )
        self._take = _taking(self.type, is_written=False)
        self._take_written = _taking(self.type, is_written=True)

    def decode(self, body: bytes) -> Any:
        """ValueError: the body is no JSON of this type."""
        text = body.decode()
        try:
            return self._take(json.loads(text))
        except _NoText:
            # Once more, with numbers as they were written: Python's are not all the same text.
            found = json.loads(text, parse_int=_WrittenWhole, parse_float=_Written)
            return self._take_written(found)


class _NoText(Exception):
    """A value that is not text is where text is wanted."""


class _Written(str):
    """A number, as it was written."""

    __slots__ = ()


class _WrittenWhole(_Written):
    __slots__ = ()


def _taking(kind: Any, *, is_written: bool) -> Take:
    """Return the function that converts a member that is not null to this type, or raises
    ValueError."""
    if pa.types.is_struct(kind):
        return _struct([(one.name, _taking(one.type, is_written=is_written)) for one in kind])
    if pa.types.is_list(kind):
        return _list(_taking(kind.value_type, is_written=is_written))
    if pa.types.is_map(kind):
        return _map(_taking(kind.item_type, is_written=is_written))
    if pa.types.is_boolean(kind):
        return _truth
    if pa.types.is_string(kind):
        return _written_text if is_written else _text
    if pa.types.is_floating(kind):
        return _written_number if is_written else _number
    return _written_whole if is_written else _whole


def _struct(fields: list[tuple[str, Take]]) -> Take:
    def take(value: Any) -> Any:
        if type(value) is not dict:
            raise _wrong(value, "an object")
        find = value.get
        return {
            name: None if (found := find(name)) is None else take(found) for name, take in fields
        }

    return take


def _list(take: Take) -> Take:
    def take_all(value: Any) -> Any:
        if type(value) is not list:
            raise _wrong(value, "an array")
        return [None if one is None else take(one) for one in value]

    return take_all


def _map(take: Take) -> Take:
    def take_all(value: Any) -> Any:
        if type(value) is not dict:
            raise _wrong(value, "an object")
        return {name: None if one is None else take(one) for name, one in value.items()}

    return take_all


def _truth(value: Any) -> Any:
    if type(value) is not bool:
        raise _wrong(value, "true or false")
    return value


def _whole(value: Any) -> Any:
    if type(value) is not int:
        raise _wrong(value, "a whole number")
    return value


def _written_whole(value: Any) -> Any:
    if type(value) is not _WrittenWhole:
        raise _wrong(value, "a whole number")
    return int(value)


def _number(value: Any) -> Any:
    if type(value) is float:
        return value
    if type(value) is int:
        return float(value)
    return _not_finite(value)


def _written_number(value: Any) -> Any:
    return float(value) if isinstance(value, _Written | float) else _not_finite(value)


def _not_finite(value: Any) -> float:
    found = _NOT_FINITE.get(value) if type(value) is str else None
    if found is None:
        raise _wrong(value, "a number")
    return found


def _text(value: Any) -> Any:
    if type(value) is not str:
        raise _NoText
    return value


def _written_text(value: Any) -> str:
    return value if type(value) is str else _json_of(value)


def _json_of(value: Any) -> str:
    """Return JSON as it was written, except for white space and escapes in text."""
    if type(value) is dict:
        inside = ",".join(f"{_json_of(name)}:{_json_of(one)}" for name, one in value.items())
        return f"{{{inside}}}"
    if type(value) is list:
        return f"[{','.join(map(_json_of, value))}]"
    return value if isinstance(value, _Written) else json.dumps(value, ensure_ascii=False)


def _wrong(value: Any, wanted: str) -> ValueError:
    return ValueError(f"{_json_of(value)[:80]} is not {wanted}")
