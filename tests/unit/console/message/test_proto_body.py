"""Protobuf read by a schema, beside google's library as the reference."""

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from grpc_tools import protoc

from aerobee.console.message.byte_source import VALUES_MAX, NotOfFormat
from aerobee.console.message.proto_body import read_proto
from aerobee.console.message.proto_schema import parse_proto

TEXT = """
syntax = "proto3";
package shop;
message Order {
  enum State { NEW = 0; SENT = 1; }
  message Line { string what = 1; uint32 count = 2; repeated Line parts = 3; }
  int32 i32 = 1; int64 i64 = 2; uint64 u64 = 3; sint32 s32 = 4; sint64 s64 = 5;
  fixed32 f32 = 6; fixed64 f64 = 7; sfixed32 sf32 = 8; sfixed64 sf64 = 9;
  double real = 10; float small = 11; bool paid = 12; string note = 13; bytes raw = 14;
  State state = 15; repeated State states = 16; repeated int32 packed = 17;
  repeated int32 loose = 18 [packed = false];
  Line line = 19; repeated Line lines = 20; map<string, Line> by_name = 21;
  map<int32, string> by_number = 22;
}
"""
VALUE: dict[str, Any] = {
    "i32": -5,
    "i64": "-9223372036854775808",
    "u64": "18446744073709551615",
    "s32": -7,
    "s64": "-9007199254740993",
    "f32": 7,
    "f64": "9223372036854775808",
    "sf32": -8,
    "sf64": "-9007199254740999",
    "real": 1.5,
    "small": 0.25,
    "paid": True,
    "note": "grüße",
    "state": "SENT",
    "states": ["NEW", "SENT", "NEW"],
    "packed": [1, -2, 3],
    "loose": [4, -5],
    "line": {"what": "a", "count": 3, "parts": [{"what": "b"}, {"what": "c"}]},
    "lines": [{"what": "d"}, {}],
    "by_name": {"x": {"count": 1}, "": {"count": 2}},
    "by_number": {"-1": "minus", "2": "two"},
}


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The value in bytes, by google's compiler and library."""
    folder: Path = tmp_path_factory.mktemp("proto")
    (folder / "shop.proto").write_text(TEXT)
    made = folder / "shop.set"
    words = ["protoc", f"-I{folder}", f"--descriptor_set_out={made}", str(folder / "shop.proto")]
    assert protoc.main(words) == 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file[0])
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    told: bytes = json_format.ParseDict(VALUE, kind()).SerializeToString()
    return told


def read(data: bytes, text: str = TEXT, values_max: int = VALUES_MAX) -> Any:
    schema = parse_proto(text)
    return read_proto(data, schema, schema.message(""), values_max)


def test_values_are_read_as_the_usual_library_wrote_them(body: bytes) -> None:
    assert read(body) == VALUE
    assert read(b"\0" + bytes(4) + b"\0" + body) == VALUE


def test_what_the_schema_does_not_have_is_shown_by_its_number(body: bytes) -> None:
    told = read(body, "message Order { int32 i32 = 1; string small = 11; }")
    assert told["i32"] == -5
    assert told["13"] == ["grüße"]
    assert told["11"] == [0.25]


def test_bytes_become_hexadecimal() -> None:
    assert read(b"\x72\x02\x01\xff") == {"raw": "0x01ff"}


NEST = "message A { A a = 1; repeated int32 n = 2; }"


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x05abc",
        b"\x0a\xff\xff\xff\xff\x7f",
        b"\xff" * 20,
        b"\x00\x01",
        b"\x12" + b"\xc0\x84\x3d" + bytes(1_000_000),
        b"\x10\x01" * 60_000,
    ],
)
def test_what_was_made_to_do_harm_ends_at_a_bound(data: bytes) -> None:
    with pytest.raises(NotOfFormat):
        read(data, NEST)


def test_messages_in_messages_have_an_end() -> None:
    data = b""
    for _ in range(200):
        data = b"\x0a" + _varint(len(data)) + data
    with pytest.raises(NotOfFormat, match="too deep"):
        read(data, NEST)


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80, value >> 7])


def test_whatever_bytes_come_nothing_but_a_value_or_a_refusal_goes(body: bytes) -> None:
    dice = random.Random(5)
    schema = parse_proto(TEXT)
    for _ in range(2_000):
        broken = bytearray(body)
        for _ in range(dice.randint(1, 6)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        with contextlib.suppress(NotOfFormat):
            told = read_proto(bytes(broken), schema, schema.message(""), 1000)
            json.dumps(told, allow_nan=False)
