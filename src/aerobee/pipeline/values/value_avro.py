"""Avro: a schema's JSON → a type, and bodies → values, by `fastavro`.

Bodies are single records without a header, written with the given schema. A union of `null` and one
type is a nullable type; other unions are not supported.
"""

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_types import array_of, map_of

_PLAIN: dict[str, Any] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL: dict[str, Any] = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
}


class AvroDecoder:
    def __init__(self, schema: str) -> None:
        """Misuse: the schema is not valid, or `fastavro` is not installed."""
        try:
            import fastavro
        except ImportError:
            raise Misuse(
                "valueFormat=avro needs the package fastavro",
                hint="pip install 'aerobee[avro]', on executors, too",
            ) from None
        try:
            parsed = json.loads(schema, object_hook=_without_uuid)
            self._schema: Any = fastavro.parse_schema(parsed)
        except Exception as error:  # whatever the library finds wrong
            raise Misuse(f"no schema of Avro: {error}") from None
        self._read = fastavro.schemaless_reader
        self.type = _type_of(parsed, {})
        if not pa.types.is_struct(self.type):
            raise Misuse("a schema of Avro that is no record", hint='{"type": "record", …}')

    def decode(self, body: bytes) -> Any:
        source = io.BytesIO(body)
        found = self._read(source, self._schema, None)
        if source.tell() != len(body):
            raise ValueError(f"{len(body) - source.tell()} bytes are left over")
        return found


def _without_uuid(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove UUID types from a schema: a column has text where `fastavro` would make UUID
    objects."""
    if schema.get("logicalType") == "uuid":
        del schema["logicalType"]
    return schema


def _type_of(schema: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        others = [one for one in schema if one != "null"]
        if len(others) != 1:
            raise Misuse("a union of Avro that is more than null or one type", hint=str(schema))
        return _type_of(others[0], known)
    if isinstance(schema, str):
        if schema in _PLAIN:
            return _PLAIN[schema]
        if schema in known:
            return known[schema]
        raise Misuse(f"{schema!r} in Avro is not read here", hint="is it a type within itself?")
    kind = schema.get("type")
    if schema.get("logicalType") in _LOGICAL:
        return _LOGICAL[schema["logicalType"]]
    if schema.get("logicalType") == "decimal":
        return pa.decimal128(schema["precision"], schema.get("scale", 0))
    if kind in ("record", "error"):
        return _record(schema, dict(known))
    if kind == "array":
        return array_of(_type_of(schema["items"], known))
    if kind == "map":
        return map_of(_type_of(schema["values"], known))
    if kind == "enum":
        return pa.string()
    if kind == "fixed":
        return pa.binary()
    return _type_of(kind, known)


def _record(schema: Any, known: dict[str, Any]) -> Any:
    fields = []
    for field in schema["fields"]:
        made = _type_of(field["type"], known)
        fields.append(pa.field(field["name"], made))
        for inner in _named(field["type"]):
            known[inner["name"]] = _type_of(inner, known)
    return pa.struct(fields)


def _named(schema: Any) -> list[Any]:
    """Collect the named types that a field defines."""
    if isinstance(schema, list):
        return [found for one in schema for found in _named(one)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") in ("record", "enum", "fixed") else []
    return own + _named(schema.get("items")) + _named(schema.get("values"))
