import contextlib
import random

import pytest

from aerobee.console.message.byte_source import DEPTH_MAX, NotOfFormat
from aerobee.console.message.plain_formats import read_msgpack, read_protobuf


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("c0", None),
        ("c3", True),
        ("07", 7),
        ("ff", -1),
        ("cdffff", 65535),
        ("d3ffffffffffffffff", -1),
        ("cb3ff8000000000000", 1.5),
        ("cb7ff0000000000000", "inf"),
        ("a3616263", "abc"),
        ("d903616263", "abc"),
        ("c4020102", "0x0102"),
        ("920102", [1, 2]),
        ("dc000101", [1]),
        ("82a161010203", {"a": 1, "2": 3}),
        ("de0001a16101", {"a": 1}),
        ("d40501", {"extension": 5, "data": "0x01"}),
        ("c70205aabb", {"extension": 5, "data": "0xaabb"}),
    ],
)
def test_messagepack_is_read(data: str, value: object) -> None:
    assert read_msgpack(bytes.fromhex(data)) == value


@pytest.mark.parametrize("data", ["", "c1", "0101", "a3ff", "a1ff", "93", "ddffffffff", "d9"])
def test_bytes_that_are_no_messagepack_are_refused(data: str) -> None:
    with pytest.raises(NotOfFormat):
        read_msgpack(bytes.fromhex(data))


def test_protobuf_is_read_by_numbers_and_what_comes_again_is_a_list() -> None:
    assert read_protobuf(bytes.fromhex("089601")) == {"1": 150}
    assert read_protobuf(bytes.fromhex("120774657374696e67")) == {"2": "testing"}
    assert read_protobuf(bytes.fromhex("080108020803")) == {"1": [1, 2, 3]}
    assert read_protobuf(bytes.fromhex("1a03089601")) == {"3": {"1": 150}}
    assert read_protobuf(bytes.fromhex("1202ff00")) == {"2": "0xff00"}
    assert read_protobuf(bytes.fromhex("0d0000c03f")) == {"1": 1.5}
    assert read_protobuf(bytes.fromhex("09000000000000f83f")) == {"1": 1.5}


@pytest.mark.parametrize("data", ["08", "00", "0b", "12ff", "ff" * 11])
def test_bytes_that_are_no_protobuf_are_refused(data: str) -> None:
    with pytest.raises(NotOfFormat):
        read_protobuf(bytes.fromhex(data))


def test_nesting_has_an_end() -> None:
    with pytest.raises(NotOfFormat, match="deep"):
        read_msgpack(b"\x91" * (DEPTH_MAX + 2) + b"\x01")


def test_no_bytes_raise_anything_else() -> None:
    numbers = random.Random(7)
    for _ in range(2_000):
        data = numbers.randbytes(numbers.randrange(40))
        for read in (read_msgpack, read_protobuf):
            with contextlib.suppress(NotOfFormat):
                read(data)


def test_a_key_of_a_map_that_is_no_plain_value_is_refused() -> None:
    """Its text would be twice as long with each map around it."""
    with pytest.raises(NotOfFormat, match="no plain value"):
        read_msgpack(bytes.fromhex("81 81a12701 01"))


def test_a_field_that_comes_a_hundred_thousand_times_ends_at_the_bound() -> None:
    with pytest.raises(NotOfFormat, match="too many"):
        read_protobuf(b"\x08\x01" * 100_000)
    assert read_protobuf(b"\x08\x01" * 3) == {"1": [1, 1, 1]}
