import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2.huffman import LENGTHS, decode_huffman, encode_huffman


@pytest.mark.parametrize(
    ("text", "code"),
    [
        # RFC 7541, C.4 and C.6.
        (b"www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"),
        (b"no-cache", "a8eb10649cbf"),
        (b"custom-value", "25a849e95bb8e8b4bf"),
        (b"302", "6402"),
        (b"Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"),
        (b"", ""),
    ],
)
def test_texts_of_the_standard_have_the_codes_of_the_standard(text: bytes, code: str) -> None:
    assert encode_huffman(text).hex() == code
    assert decode_huffman(bytes.fromhex(code)) == text


def test_every_byte_has_a_code_that_is_read_back() -> None:
    everything = bytes(range(256))
    assert decode_huffman(encode_huffman(everything)) == everything


def test_the_code_is_complete() -> None:
    assert sum(2.0**-length for length in LENGTHS) == 1.0


@pytest.mark.parametrize(
    "code",
    [
        "ffffffff",  # the end of a string, inside it
        "07ff",  # eleven bits of padding
        "18",  # padding that is not ones
    ],
)
def test_a_wrong_code_is_refused(code: str) -> None:
    with pytest.raises(RemoteProtocolError):
        decode_huffman(bytes.fromhex(code))
