from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_protobuf import ProtobufDecoder, descriptor_bytes
from aerobee.pipeline.values.value_types import shaping, words_of

Field = descriptor_pb2.FieldDescriptorProto


def described() -> Any:
    """What protoc writes: an order with one field of every kind."""
    file = descriptor_pb2.FileDescriptorProto(
        name="shop.proto",
        package="shop",
        syntax="proto3",
        dependency=["google/protobuf/timestamp.proto"],
    )
    state = file.enum_type.add(name="State")
    state.value.add(name="NEW", number=0)
    state.value.add(name="PAID", number=1)
    order = file.message_type.add(name="Order")
    line = order.nested_type.add(name="Line")
    line.field.add(name="n", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL)
    extra = order.nested_type.add(name="ExtraEntry")
    extra.options.map_entry = True
    extra.field.add(name="key", number=1, type=Field.TYPE_STRING, label=Field.LABEL_OPTIONAL)
    extra.field.add(name="value", number=2, type=Field.TYPE_DOUBLE, label=Field.LABEL_OPTIONAL)
    for number, (name, kind, label, of) in enumerate(
        [
            ("id", Field.TYPE_INT64, Field.LABEL_OPTIONAL, ""),
            ("big", Field.TYPE_UINT64, Field.LABEL_OPTIONAL, ""),
            ("raw", Field.TYPE_BYTES, Field.LABEL_OPTIONAL, ""),
            ("name", Field.TYPE_STRING, Field.LABEL_OPTIONAL, ""),
            ("state", Field.TYPE_ENUM, Field.LABEL_OPTIONAL, ".shop.State"),
            ("first", Field.TYPE_MESSAGE, Field.LABEL_OPTIONAL, ".shop.Order.Line"),
            ("lines", Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".shop.Order.Line"),
            ("extra", Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".shop.Order.ExtraEntry"),
            ("at", Field.TYPE_MESSAGE, Field.LABEL_OPTIONAL, ".google.protobuf.Timestamp"),
        ],
        start=1,
    ):
        order.field.add(name=name, number=number, type=kind, label=label, type_name=of or None)
    knot = file.message_type.add(name="Knot")
    knot.field.add(
        name="k",
        number=1,
        type=Field.TYPE_MESSAGE,
        label=Field.LABEL_OPTIONAL,
        type_name=".shop.Knot",
    )
    timestamp = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(timestamp)
    return descriptor_pb2.FileDescriptorSet(file=[timestamp, file])


def order(**fields: Any) -> bytes:
    pool = descriptor_pool.DescriptorPool()
    for file in described().file:
        pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))(**fields)
    return bytes(made.SerializeToString())


def test_every_kind_of_field_becomes_a_column() -> None:
    decoder = ProtobufDecoder(described().SerializeToString(), "shop.Order")
    shape = shaping(decoder.type)
    assert shape is not None
    body = order(
        id=-7,
        big=2**64 - 1,
        raw=b"\xff",
        name="x",
        state=1,
        lines=[{"n": 1}, {"n": 2}],
        extra={"a": 1.5},
        at=datetime(1970, 1, 1, 0, 0, 5, 6, tzinfo=UTC),
    )
    (row,) = pa.array([shape(decoder.decode(body))], decoder.type).to_pylist()
    assert row["at"].timestamp() == 5.000006
    del row["at"]
    assert row == {
        "id": -7,
        "big": 2**64 - 1,
        "raw": b"\xff",
        "name": "x",
        "state": "PAID",
        "first": None,
        "lines": [{"n": 1}, {"n": 2}],
        "extra": [("a", 1.5)],
    }
    assert words_of(decoder.type) == (
        "struct<`id`:long,`big`:decimal(20,0),`raw`:binary,`name`:string,`state`:string,"
        "`first`:struct<`n`:int>,`lines`:array<struct<`n`:int>>,`extra`:map<string,double>,"
        "`at`:timestamp>"
    )


def test_what_is_not_there_is_its_default_or_missing() -> None:
    decoder = ProtobufDecoder(described().SerializeToString(), "shop.Order")
    found = decoder.decode(b"")
    assert (found["id"], found["state"], found["first"], found["lines"]) == (0, "NEW", None, [])
    assert found["at"] is None
    with pytest.raises(Exception, match=r".*"):
        decoder.decode(b"\xff\xff\xff")


def test_a_schema_is_a_file_and_a_message_in_it(tmp_path: Path) -> None:
    path = tmp_path / "shop.desc"
    path.write_bytes(described().SerializeToString())
    data, message = descriptor_bytes(f"{path}#shop.Order")
    assert ProtobufDecoder(data, message).type.num_fields == 9
    for text in ("shop.Order", "#shop.Order", f"{path}#"):
        with pytest.raises(Misuse, match="no schema"):
            descriptor_bytes(text)
    with pytest.raises(Misuse, match="cannot be read"):
        descriptor_bytes(f"{tmp_path}/other#shop.Order")
    with pytest.raises(Misuse, match=r"no message shop\.Other"):
        ProtobufDecoder(data, "shop.Other")
    with pytest.raises(Misuse, match="within itself"):
        ProtobufDecoder(data, "shop.Knot")
