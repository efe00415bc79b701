import pytest

from aerobee.protocol.http2.header_shape import HeaderField, HeaderShape
from aerobee.protocol.http2.hpack import HeaderDecoder, encode_headers, write_integer
from aerobee.protocol.http2.huffman import encode_huffman

FIELDS = [
    (":method", "POST"),
    (":path", "/s/Send"),
    ("x-mq-client-id", "client-1"),
    ("x-mq-request-id", "00000001"),
    ("te", "trailers"),
    ("x-mq-date-time", "20260101T000000Z"),
]


def shape_of(block: bytes, fields_bytes_max: int = 16_384) -> HeaderShape | None:
    shape = HeaderShape(block, HeaderDecoder(fields_bytes_max).decode(block), 0)
    return shape if shape.learn(fields_bytes_max) else None


def changed(name: str, value: str) -> bytes:
    return encode_headers([(key, value if key == name else text) for key, text in FIELDS])


def coded(name: str, data: bytes) -> bytes:
    """A literal that no table keeps, its value in Huffman's code."""
    return b"\x10" + encode_text(name) + write_integer(len(data), 7, 0x80) + data


def encode_text(text: str) -> bytes:
    return write_integer(len(text), 7) + text.encode()


def test_a_block_is_recognised_whatever_the_values_that_vary() -> None:
    shape = shape_of(encode_headers(FIELDS))
    assert shape is not None
    assert (shape.path, shape.fields) == ("/s/Send", FIELDS)
    for name in ("x-mq-request-id", "x-mq-date-time"):
        for value in ("", "2", "x" * 126):
            assert shape.recognises(changed(name, value))
        assert not shape.recognises(changed(name, "x" * 127))  # its size has two bytes


@pytest.mark.parametrize("name", [":path", "x-mq-client-id", "te"])
def test_one_byte_of_a_fixed_field_makes_it_another_block(name: str) -> None:
    shape = shape_of(encode_headers(FIELDS))
    assert shape is not None
    value = dict(FIELDS)[name]
    assert not shape.recognises(changed(name, value[:-1] + "~"))
    assert not shape.recognises(changed(name, value + "x"))


def test_no_byte_outside_the_values_that_vary_may_differ() -> None:
    block = encode_headers(FIELDS)
    shape = shape_of(block)
    assert shape is not None
    free = set()
    for value in (b"00000001", b"20260101T000000Z"):
        at = block.index(value)
        free |= set(range(at, at + len(value)))
    for at, byte in enumerate(block):
        other = block[:at] + bytes([byte ^ 1]) + block[at + 1 :]
        assert shape.recognises(other) == (at in free), at


def test_every_other_block_is_none_of_the_shape() -> None:
    block = encode_headers(FIELDS)
    shape = shape_of(block)
    assert shape is not None
    for end in range(len(block)):
        assert not shape.recognises(block[:end])
    assert not shape.recognises(block + b"\x82")
    assert not shape.recognises(block + block)
    assert shape.recognises(block)


def test_a_varying_value_may_be_coded_and_a_wrong_code_is_left_to_the_decoder() -> None:
    rest = encode_headers(FIELDS[:3])
    shape = shape_of(rest + coded("grpc-timeout", encode_huffman(b"30S")))
    assert shape is not None
    assert shape.recognises(rest + coded("grpc-timeout", encode_huffman(b"2999996u")))
    assert not shape.recognises(rest + coded("grpc-timeout", b"\xff\xff\xff\xff"))
    assert not shape.recognises(rest + coded("grpc-timeout", b"\x00"))


def test_fields_of_the_static_table_are_part_of_a_shape() -> None:
    block = b"\x83\x86" + encode_headers(FIELDS[1:])
    shape = shape_of(block)
    assert shape is not None
    assert shape.recognises(block)
    assert not shape.recognises(b"\x82" + block[1:])


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        (b"\x40\x01a\x01b", [("a", "b")]),
        (b"\x20\x83", [(":method", "POST")]),
        (encode_headers([("a", "x" * 3_000)]), [("a", "x" * 3_000)]),
        (
            encode_headers([("x-mq-request-id", "x" * 127)]),
            [("x-mq-request-id", "x" * 127)],
        ),
        (
            encode_headers([("x-mq-request-id", "x")] * 9),
            [("x-mq-request-id", "x")] * 9,
        ),
    ],
    ids=["kept in the table", "a change of the table", "long", "a long value", "many values"],
)
def test_blocks_that_are_not_learnt(block: bytes, fields: list[HeaderField]) -> None:
    assert not HeaderShape(block, fields, 0).learn(16_384)


def test_a_block_that_could_become_too_large_is_not_learnt() -> None:
    block = encode_headers(FIELDS)
    size = sum(len(name) + 32 for name, _ in FIELDS)
    fixed = sum(len(value) for name, value in FIELDS if name[:4] != "x-mq") + len("client-1")
    largest = size + fixed + 2 * 202
    assert shape_of(block, largest) is not None
    assert shape_of(block, largest - 1) is None


def test_long_values_and_large_indexes_are_passed_over() -> None:
    long = encode_headers([("user-agent", "x" * 500)])
    block = long + b"\x0f\x2c\x04/s/M" + encode_headers([("grpc-timeout", "1S")])
    shape = shape_of(block)
    assert shape is not None
    assert shape.recognises(block)
    assert shape.recognises(block[:-2] + b"2S")
    assert not shape.recognises(block[:-2] + b"2S"[:1])
