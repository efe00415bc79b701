"""BodySchema: a schema that a user gave, Avro's JSON or a `.proto` text, to read bodies by.

Both come out as values that JSON can hold, under the bounds of `byte_source.py`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from aerobee.console.message.avro_body import read_avro
from aerobee.console.message.avro_schema import parse_avro
from aerobee.console.message.byte_source import VALUES_MAX
from aerobee.console.message.proto_body import read_proto
from aerobee.console.message.proto_schema import parse_proto

SCHEMA_CHARS_MAX = 16_000
"""It is a part of an address."""
AVRO, PROTOBUF = ("avro", "protobuf")
PREVIEW_VALUES = 1_000


class BodySchema(NamedTuple):
    form: str
    read: Callable[[bytes, int], Any]
    """Returns the value of a body of at most so many values. NotOfFormat: it does not fit."""

    def value(self, body: bytes, values_max: int = VALUES_MAX) -> Any:
        return self.read(body, values_max)


def schema_of(text: str, name: str = "") -> BodySchema:
    """Return the schema of a text. `name`: of a message of Protobuf; empty: the first. NotOfFormat:
    it is no schema."""
    if text.lstrip()[:1] in ("{", "[", '"'):
        kind = parse_avro(text)
        return BodySchema(AVRO, lambda body, most: read_avro(body, kind, most))
    schema = parse_proto(text)
    message = schema.message(name)
    return BodySchema(PROTOBUF, lambda body, most: read_proto(body, schema, message, most))
