"""ValueFormat holds the format of bodies and the handling of errors: plain values, for executors.

json       valueSchema: fields in Spark's words
avro       valueSchema: Avro's JSON; bodies are single records without a header
protobuf   valueSchema: FILE#package.Message, of a descriptor set

onDecodeError fail   the task fails, and the error names the message
              null   the value is null
              dlq    the message goes to deadLetterTopic, and not into the table
"""

from dataclasses import dataclass
from typing import Any, Protocol

from aerobee.pipeline.values.value_avro import AvroDecoder
from aerobee.pipeline.values.value_json import JsonDecoder
from aerobee.pipeline.values.value_protobuf import ProtobufDecoder, descriptor_bytes

JSON = "json"
AVRO = "avro"
PROTOBUF = "protobuf"
VALUE_FORMATS = (JSON, AVRO, PROTOBUF)
FAIL = "fail"
NULL = "null"
DLQ = "dlq"
ON_DECODE_ERROR = (FAIL, NULL, DLQ)


class Decoder(Protocol):
    type: Any
    """Arrow's, a struct."""

    def decode(self, body: bytes) -> Any:
        """Return the value, as dicts and lists. Any exception: the body is not in this format."""


@dataclass(frozen=True, slots=True)
class ValueFormat:
    kind: str
    schema: str
    """Of Protocol Buffers, the message."""
    descriptors: bytes = b""
    on_error: str = FAIL
    dead_letter_topic: str = ""

    def decoder(self) -> Decoder:
        if self.kind == JSON:
            return JsonDecoder(self.schema)
        if self.kind == AVRO:
            return AvroDecoder(self.schema)
        return ProtobufDecoder(self.descriptors, self.schema)


def value_format(
    kind: str, schema: str, on_error: str = FAIL, dead_letter_topic: str = ""
) -> ValueFormat:
    """Misuse: the schema is not valid, or the library that reads it is not installed."""
    if kind == PROTOBUF:
        descriptors, message = descriptor_bytes(schema)
        made = ValueFormat(kind, message, descriptors, on_error, dead_letter_topic)
    else:
        made = ValueFormat(kind, schema, b"", on_error, dead_letter_topic)
    made.decoder()
    return made
