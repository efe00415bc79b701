import struct
import zlib

import pytest

from aerobee.errors import ProtocolError
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies import register_broker
from aerobee.protocol.bodies.register_broker import (
    RegisterBroker,
    body_crc,
    decode_register_broker,
    encode_compressed_register_broker,
    encode_register_broker,
)

UPLOAD = RegisterBroker(
    {"T": TopicConfig("T", 8, 4, 6), "%RETRY%g": TopicConfig("%RETRY%g", 1, 1, 6)},
    DataVersion(1, 2, 3),
)
VERSION = DataVersion(1, 2, 3)


def sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def packed(*parts: bytes) -> bytes:
    return zlib.compress(b"".join(parts))


HEAD = sized(b'{"counter":2,"stateVersion":1,"timestamp":3}')


def decode(body: bytes, version: int = 513) -> RegisterBroker:
    return decode_register_broker(body, is_compressed=True, version=version)


def test_an_upload_in_json_is_read_back() -> None:
    body = encode_register_broker(UPLOAD)
    assert decode_register_broker(body, is_compressed=False, version=513) == UPLOAD
    assert body.startswith(b'{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":')


def test_a_compressed_upload_is_read_back() -> None:
    upload = RegisterBroker(
        {"T": TopicConfig("T", 8, 4, 6, attributes={"+message.type": "a b"})},
        VERSION,
        {"S": {"topic": "S", "currIdMap": {0: 1}}},
    )
    assert decode(encode_compressed_register_broker(upload)) == upload


def test_a_compressed_upload_is_read_as_java_writes_it() -> None:
    """Attributes are absent before 5.0, and so is the list of mappings."""
    topics = struct.pack(">i", 2) + sized(b"T 8 4 6 SINGLE_TAG") + sized(b"U 1 1 7 MULTI_TAG {}")
    found = decode(packed(HEAD, topics, sized(b"[]")), version=401)
    assert found.version == VERSION
    assert found.topics == {
        "T": TopicConfig("T", 8, 4, 6),
        "U": TopicConfig("U", 1, 1, 7, filter_type="MULTI_TAG"),
    }


def test_an_old_broker_sends_the_inner_object_alone() -> None:
    body = (
        b'{"dataVersion":{"counter":2,"stateVersion":1,"timestamp":3},"topicConfigTable":{"T":{}}}'
    )
    found = decode_register_broker(body, is_compressed=False, version=36)
    assert found == RegisterBroker({"T": TopicConfig("T")}, VERSION)


def test_an_empty_body_uploads_nothing() -> None:
    for is_compressed in (True, False):
        found = decode_register_broker(b"", is_compressed=is_compressed, version=513)
        assert found == RegisterBroker({})


def test_the_checksum_has_31_bits() -> None:
    assert body_crc(b"Hello RocketMQ") == 1774740973
    assert body_crc(b"\xff" * 3) == zlib.crc32(b"\xff" * 3) & 0x7FFFFFFF


NO_TOPICS = struct.pack(">i", 0)


@pytest.mark.parametrize(
    "body",
    [
        b"not zlib",
        packed(HEAD),
        packed(HEAD, NO_TOPICS),
        packed(HEAD, NO_TOPICS, sized(b"[]")),
        packed(HEAD, NO_TOPICS, sized(b"[]"), NO_TOPICS, b"x"),
        packed(HEAD, struct.pack(">i", -1)),
        packed(HEAD, struct.pack(">i", 2**31 - 1)),
        packed(HEAD, struct.pack(">i", 1), sized(b"T 8 4")),
        packed(HEAD, struct.pack(">i", 1), sized(b"T 8 4 x SINGLE_TAG")),
        packed(HEAD, struct.pack(">i", 1), sized(b"T 8 4 6 SINGLE_TAG {")),
        packed(HEAD, struct.pack(">i", 1), sized(b"\xff 8 4 6 SINGLE_TAG")),
        packed(sized(b"[]"), NO_TOPICS, sized(b"[]"), NO_TOPICS),
        packed(HEAD, NO_TOPICS, sized(b"[]"), struct.pack(">i", 1), sized(b"{}")),
        packed(HEAD, NO_TOPICS, sized(b"[]"), NO_TOPICS)[:-1],
    ],
)
def test_a_compressed_upload_that_is_damaged_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(body)


def test_a_small_stream_that_grows_without_end_is_refused() -> None:
    bomb = zlib.compress(bytes(register_broker.EXPANDED_BYTES_MAX + 1))
    with pytest.raises(ProtocolError, match="expands to more than"):
        decode(bomb)


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"topicConfigTable":[]}', b'{"topicConfigTable":{"T":1}}']
)
def test_json_that_is_no_upload_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_register_broker(body, is_compressed=False, version=513)


@pytest.mark.parametrize("number", ["x", "1_0", " 1", "١٢", "2147483648", "9" * 5000])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_number_of_a_topic_that_is_none_is_refused(number: str, place: int) -> None:
    numbers = ["1", "1", "6"]
    numbers[place] = number
    text = f"T {' '.join(numbers)} SINGLE_TAG {{}}".encode()
    with pytest.raises(ProtocolError):
        decode(packed(HEAD, struct.pack(">i", 1), sized(text), sized(b"[]"), bytes(4)))


def test_only_so_much_of_a_stream_is_read_the_slow_way() -> None:
    """Keys that JSON does not have cost a second per two mebibytes."""
    slow = b'{"topic":"T","m":{0:[' + b"0," * 300_000 + b"0]}}"
    plain = slow.replace(b"0:", b'"0":')
    several = struct.pack(">i", 4)

    def upload(*mappings: bytes, attributes: bytes = b"{}") -> bytes:
        topic = sized(b"T 1 1 6 SINGLE_TAG " + attributes)
        return packed(
            HEAD, struct.pack(">i", 1), topic, sized(b"[]"), several, *map(sized, mappings)
        )

    assert list(decode(upload(plain, plain, plain, plain)).mappings) == ["T"]
    assert list(decode(upload(slow, plain, plain, plain)).mappings) == ["T"]
    with pytest.raises(ProtocolError, match="not plain JSON"):
        decode(upload(plain, plain, plain, slow))
    with pytest.raises(ProtocolError, match="not plain JSON"):
        decode(upload(attributes=b"{0:1}"))
