import pytest

from aerobee.console.message.body_schema import AVRO, PROTOBUF, schema_of
from aerobee.console.message.byte_source import NotOfFormat


def test_a_schema_in_json_is_avros_and_another_text_protobufs() -> None:
    assert schema_of(' {"type": "long"}').form == AVRO
    assert schema_of('"long"').value(b"\x02") == 1
    text = "message A { int32 x = 1; } message B { int32 y = 1; }"
    assert schema_of(text).form == PROTOBUF
    assert schema_of(text).value(b"\x08\x05") == {"x": 5}
    assert schema_of(text, "B").value(b"\x08\x05") == {"y": 5}
    for wrong in ("hello", "{", "", "message A {}"[:5]):
        with pytest.raises(NotOfFormat):
            schema_of(wrong)
    with pytest.raises(NotOfFormat, match="no message C"):
        schema_of(text, "C")
