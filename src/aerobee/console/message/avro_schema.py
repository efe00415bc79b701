"""Schemas of Avro: the JSON of one becomes types that bytes are read by (`avro_body.py`).

A schema comes from a user, or from a container file that a stranger sent: it is bounded in size,
depth and number of types, and what is not right in it is a NotOfFormat.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from aerobee.console.message.byte_source import DEPTH_MAX, NotOfFormat

TYPES_MAX = 2_000
FIXED_BYTES_MAX = 1 << 16
PLAIN = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})


@dataclass(slots=True, eq=False)
class AvroType:
    kind: str
    """A plain type, or record, enum, array, map, fixed, union."""
    name: str = ""
    logical: str = ""
    scale: int = 0
    """Of a decimal."""
    size: int = 0
    """Of a fixed."""
    symbols: tuple[str, ...] = ()
    fields: list[tuple[str, "AvroType"]] = field(default_factory=list)
    branches: list["AvroType"] = field(default_factory=list)
    item: "AvroType | None" = None
    """Of an array or a map."""


def parse_avro(text: str) -> AvroType:
    """Return the type that a schema describes."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise NotOfFormat("the schema is no JSON") from None
    return _Parser().type_of(told, "", 0)


class _Parser:
    def __init__(self) -> None:
        self._named: dict[str, AvroType] = {}
        self._types = 0

    def type_of(self, told: Any, space: str, depth: int) -> AvroType:
        """Return a type; `space` is the namespace around it."""
        self._types += 1
        if self._types > TYPES_MAX or depth > DEPTH_MAX:
            raise NotOfFormat("the schema is too large")
        match told:
            case str():
                return self._by_name(told, space)
            case list():
                return AvroType("union", branches=[self.type_of(x, space, depth + 1) for x in told])
            case {"type": str(kind)} if kind in PLAIN:
                return AvroType(kind, logical=_text(told, "logicalType"), scale=_whole(told))
            case {"type": "array", "items": items}:
                return AvroType("array", item=self.type_of(items, space, depth + 1))
            case {"type": "map", "values": values}:
                return AvroType("map", item=self.type_of(values, space, depth + 1))
            case {"type": "record" | "error", "fields": list(fields)}:
                return self._record(told, fields, space, depth)
            case {"type": "enum", "symbols": list(symbols)}:
                made, _ = self._new(AvroType("enum", symbols=tuple(map(str, symbols))), told, space)
                return made
            case {"type": "fixed", "size": int(size)} if 0 <= size <= FIXED_BYTES_MAX:
                fixed = AvroType("fixed", "", _text(told, "logicalType"), _whole(told), size)
                return self._new(fixed, told, space)[0]
            case {"type": dict() | list() | str() as inner}:
                return self.type_of(inner, space, depth + 1)
        raise NotOfFormat(f"the schema has no type in {str(told)[:80]}")

    def _by_name(self, name: str, space: str) -> AvroType:
        if name in PLAIN:
            return AvroType(name)
        for full in (f"{space}.{name}" if space and "." not in name else name, name):
            if full in self._named:
                return self._named[full]
        raise NotOfFormat(f"the schema has no type {name[:80]}")

    def _record(self, told: dict[str, Any], fields: list[Any], space: str, depth: int) -> AvroType:
        # Known before its fields are: one of them may be of this type.
        record, inner = self._new(AvroType("record"), told, space)
        for one in fields:
            match one:
                case {"name": str(name), "type": kind}:
                    record.fields.append((name, self.type_of(kind, inner, depth + 1)))
                case _:
                    raise NotOfFormat("a field of the schema needs a name and a type")
        return record

    def _new(self, made: AvroType, told: dict[str, Any], space: str) -> tuple[AvroType, str]:
        """Give a type its name; returns it, and the namespace inside it."""
        name = _text(told, "name")
        if not name:
            raise NotOfFormat(f"a {made.kind} of the schema has no name")
        inner = _text(told, "namespace") or space
        if "." in name:
            inner, _, _ = name.rpartition(".")
        made.name = name if "." in name or not inner else f"{inner}.{name}"
        self._named[made.name] = made
        return made, inner


def _text(told: dict[str, Any], key: str) -> str:
    found = told.get(key)
    return found if isinstance(found, str) else ""


def _whole(told: dict[str, Any]) -> int:
    found = told.get("scale")
    return found if isinstance(found, int) and 0 <= found <= 100 else 0
