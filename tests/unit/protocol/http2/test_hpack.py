import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2.hpack import (
    HeaderDecoder,
    HeadersTooLarge,
    encode_headers,
    write_integer,
)

ROOMY = 1 << 16


def test_requests_of_the_standard_are_read_with_their_dynamic_table() -> None:
    """RFC 7541, C.4: three requests on one connection, Huffman-coded."""
    decoder = HeaderDecoder(ROOMY)
    first = decoder.decode(bytes.fromhex("828684418cf1e3c2e5f23a6ba0ab90f4ff"))
    assert first == [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "www.example.com"),
    ]
    second = decoder.decode(bytes.fromhex("828684be5886a8eb10649cbf"))
    assert second == [*first, ("cache-control", "no-cache")]
    third = decoder.decode(bytes.fromhex("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"))
    assert third == [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        (":authority", "www.example.com"),
        ("custom-key", "custom-value"),
    ]


def test_the_table_forgets_its_oldest_fields_when_it_is_full() -> None:
    decoder = HeaderDecoder(ROOMY)
    decoder.decode(b"\x3f\xe1\x00")  # 128 bytes: three fields of the next kind
    for number in range(4):
        decoder.decode(b"\x40\x01%c\x01v" % (97 + number))
    assert decoder.decode(b"\xbe\xbf\xc0") == [("d", "v"), ("c", "v"), ("b", "v")]
    with pytest.raises(RemoteProtocolError):
        decoder.decode(b"\xc1")


def test_what_was_encoded_is_decoded() -> None:
    fields = [(":status", "200"), ("grpc-message", "x" * 300), ("empty", "")]
    assert HeaderDecoder(ROOMY).decode(encode_headers(fields)) == fields


@pytest.mark.parametrize("size", [0, 10, 126, 127, 128, 1337, 2**15])
def test_sizes_of_strings_are_read_back_whatever_their_length(size: int) -> None:
    literal = b"\x00\x01n" + write_integer(size, 7) + b"v" * size
    assert HeaderDecoder(ROOMY).decode(literal) == [("n", "v" * size)]


def test_the_indexes_of_names_are_read_behind_both_prefixes() -> None:
    for bits, first in ((4, 0), (6, 0x40)):
        literal = write_integer(58, bits, first) + b"\x01v"
        assert HeaderDecoder(ROOMY).decode(literal) == [("user-agent", "v")]


@pytest.mark.parametrize(
    "block",
    [
        b"\x80",  # field 0
        b"\xff\xff\xff\xff\xff\x7f",  # a number without end
        b"\x00",  # a name is missing
        b"\x00\x05abc",  # a name that is longer than its block
        b"\x82\x20",  # a change of the table after a field
        b"\x3f\xff\xff\x7f",  # a table that was not offered
    ],
)
def test_a_broken_block_is_an_error_of_the_connection(block: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        HeaderDecoder(ROOMY).decode(block)


def test_headers_that_are_too_large_are_refused_and_the_table_is_right_after_them() -> None:
    decoder = HeaderDecoder(200)
    with pytest.raises(HeadersTooLarge):
        decoder.decode(b"\x40\x01k\x01v" + b"\x00\x01l\x7f\x65" + b"x" * 228)
    assert decoder.decode(b"\xbe") == [("k", "v")]


def test_a_block_of_bytes_that_each_stand_for_a_large_field_is_not_read_to_its_end() -> None:
    decoder = HeaderDecoder(8_192)
    bomb = b"\x40" + encode_headers([("a", "b" * 3_000)])[1:] + b"\xbe" * 16_000
    with pytest.raises(RemoteProtocolError, match="bytes of headers"):
        decoder.decode(bomb)
