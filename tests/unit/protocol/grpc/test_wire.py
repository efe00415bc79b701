from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.grpc.calls import SendMessageRequest
from aerobee.protocol.grpc.resources import GrpcMessage, Resource, SystemProperties
from aerobee.protocol.grpc.wire import (
    decode,
    encode,
    fraction,
    number,
    numbers,
    optional_number,
    optional_text,
    part,
    parts,
    text,
    text_map,
    truth,
)


@dataclass(slots=True)
class Inner:
    name: str = text(1)


@dataclass(slots=True)
class Sample:
    count: int = number(1)
    maybe: int | None = optional_number(2)
    word: str | None = optional_text(3)
    inner: Inner | None = part(4, Inner)
    inners: list[Inner] = parts(5, Inner)
    codes: list[int] = numbers(6)
    pairs: dict[str, str] = text_map(7)
    flag: bool = truth(8)
    factor: float = fraction(9)


@pytest.mark.parametrize(
    ("message", "data"),
    [
        # The examples of protobuf's own page about its encoding.
        (Sample(count=150), "089601"),
        (Sample(count=-1), "08ffffffffffffffffff01"),
        (Sample(word="testing"), "1a0774657374696e67"),
        (Sample(inner=Inner("x")), "22030a0178"),
        (Sample(codes=[3, 270, 86942]), "3206038e029ea705"),
        (Sample(maybe=0, word=""), "10001a00"),
        (Sample(pairs={"k": "v"}), "3a060a016b120176"),
        (Sample(flag=True, factor=2.0), "40014d00000040"),
        (Sample(), ""),
    ],
)
def test_messages_have_the_bytes_of_protobuf(message: Sample, data: str) -> None:
    assert encode(message).hex() == data
    assert decode(Sample, bytes.fromhex(data)) == message


def test_fields_that_are_not_declared_are_skipped() -> None:
    unknown = "a00601" + "a2060161" + "a506" + "00" * 4 + "a106" + "00" * 8
    assert decode(Sample, bytes.fromhex(unknown + "0801")) == Sample(count=1)


def test_numbers_are_read_packed_or_not() -> None:
    assert decode(Sample, bytes.fromhex("300130023201033004")).codes == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "data",
    [
        "08",  # no value
        "0880",  # a number without its end
        "08" + "80" * 10 + "01",  # a number of eleven bytes
        "1a05ab",  # longer than the message
        "1a01ff",  # no UTF-8
        "4d0000",  # half a float
        "0b",  # a group, which proto3 does not have
        "22020a05",  # a part that is longer than it says
        "a2067f",  # an unknown field beyond the end
    ],
)
def test_broken_bytes_are_refused(data: str) -> None:
    with pytest.raises(RemoteProtocolError):
        decode(Sample, bytes.fromhex(data))


@pytest.mark.parametrize("data", [b"\x2a\x00" * 70_000, b"\x32\xf0\xa2\x04" + b"\x00" * 70_000])
def test_a_message_of_too_many_values_is_refused(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="values"):
        decode(Sample, data)


@given(
    st.builds(
        GrpcMessage,
        topic=st.builds(Resource, st.text(), st.text()),
        user_properties=st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
        system_properties=st.builds(
            SystemProperties,
            tag=st.none() | st.text(),
            keys=st.lists(st.text(max_size=5), max_size=3),
            queue_id=st.integers(-(2**31), 2**31 - 1),
            queue_offset=st.none() | st.integers(-(2**63), 2**63 - 1),
        ),
        body=st.binary(max_size=300),
    )
)
def test_what_was_encoded_is_decoded(message: GrpcMessage) -> None:
    request = SendMessageRequest([message, message])
    assert decode(SendMessageRequest, encode(request)) == request


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    try:
        decode(SendMessageRequest, data)
    except RemoteProtocolError:
        return
