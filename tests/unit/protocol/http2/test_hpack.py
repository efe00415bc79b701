import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2.hpack import (
    HeaderDecoder,
    HeadersTooLarge,
    encode_headers,
    read_integer,
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


@pytest.mark.parametrize("number", [0, 10, 30, 31, 1337, 2**20])
def test_integers_are_read_back_behind_every_prefix(number: int) -> None:
    for bits in (4, 5, 6, 7):
        written = write_integer(number, bits)
        assert read_integer(written, 0, bits) == (number, len(written))


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
