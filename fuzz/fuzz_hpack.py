"""Any bytes are header fields or ProtocolError, and fields that are written are read back."""

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2.hpack import HeaderDecoder, HeadersTooLarge, encode_headers
from aerobee.protocol.http2.huffman import decode_huffman, encode_huffman

FIELDS_BYTES_MAX = 2048


def check(data: bytes) -> None:
    """Any bytes are header fields or ProtocolError, and fields that are written are read back."""
    assert decode_huffman(encode_huffman(data)) == data
    decoder = HeaderDecoder(FIELDS_BYTES_MAX)
    # Two blocks on one connection: the second uses the table that the first has left.
    for block in (data[: len(data) // 2], data[len(data) // 2 :]):
        try:
            fields = decoder.decode(block)
        except HeadersTooLarge:
            continue
        except RemoteProtocolError:
            return
        assert sum(len(name) + len(value) for name, value in fields) <= FIELDS_BYTES_MAX
        plain = [field for field in fields if field[0].isascii() and field[1].isascii()]
        assert HeaderDecoder(FIELDS_BYTES_MAX).decode(encode_headers(plain)) == plain
