import pytest

from aerobee.console.message.byte_source import NotOfFormat
from aerobee.console.message.proto_schema import NAMES_MAX, parse_proto

TEXT = """
syntax = "proto3"; // a comment
package shop.v1;
import "google/protobuf/timestamp.proto";
option java_package = "org.shop";
/* another
   one */
message Order {
  reserved 9, 12 to 15; reserved "old";
  int64 id = 1;
  optional string note = 0x2 [deprecated = true, (my.option) = {a: "}"}];
  repeated Line lines = 3;
  map<string, Line> by_name = 4;
  oneof pay { string card = 5; .shop.v1.Order.Kind kind = 6; }
  google.protobuf.Timestamp at = 7;
  message Line { Kind kind = 1; Order parent = 2; }
  enum Kind { option allow_alias = true; NEW = 0; FRESH = 0; SENT = -1; }
  extensions 100 to max;
}
extend Order { string more = 100; }
service Shop { rpc Buy (Order) returns (Order) { option (a) = { b: "c" }; } }
"""


def test_messages_enums_and_what_is_nested_in_them_are_read() -> None:
    schema = parse_proto(TEXT)
    order = schema.message("Order")
    assert order is schema.message("") is schema.message("shop.v1.Order")
    told = {number: (one.name, one.kind, one.is_repeated) for number, one in order.fields.items()}
    assert told == {
        1: ("id", "int64", False),
        2: ("note", "string", False),
        3: ("lines", "shop.v1.Order.Line", True),
        4: ("by_name", "shop.v1.Order.Line", False),
        5: ("card", "string", False),
        6: ("kind", "shop.v1.Order.Kind", False),
        7: ("at", "google.protobuf.Timestamp", False),
    }
    assert order.fields[4].key == "string"
    assert schema.enums["shop.v1.Order.Kind"] == {0: "NEW", -1: "SENT"}
    assert schema.message("Line").fields[1].kind == "shop.v1.Order.Kind"
    with pytest.raises(NotOfFormat, match="no message Absent"):
        schema.message("Absent")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "message",
        "message A {",
        "message A { int32 x = y; }",
        "message A { Absent x = 1; }",
        "message A { int32 x 1; }",
        "message A { group B = 1 { } }",
        "/* no end",
        "/*" * 8_000,
        'option x = "no end;',
        '"\\' * 8_000,
        "enum A { X = 0; }",
        "message A {" * 1_000,
        "message A { " + "int32 x = 1; " * (NAMES_MAX + 1) + "}",
    ],
)
def test_what_is_no_schema_or_too_large_is_told(text: str) -> None:
    with pytest.raises(NotOfFormat):
        parse_proto(text)
