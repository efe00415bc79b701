import base64

import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.primitives.ack_bits import ACK_BITS_MAX, decode_ack_bits, encode_ack_bits


@pytest.mark.parametrize("indexes", [[], [0], [7], [8], [0, 3, 9], [31], [ACK_BITS_MAX - 1]])
def test_numbers_come_back_in_order(indexes: list[int]) -> None:
    assert decode_ack_bits(encode_ack_bits(reversed(indexes))) == indexes


def test_no_bits_are_no_bytes() -> None:
    assert encode_ack_bits([]) == ""


@pytest.mark.parametrize("index", [-1, ACK_BITS_MAX])
def test_a_number_outside_the_run_is_refused(index: int) -> None:
    with pytest.raises(LocalProtocolError):
        encode_ack_bits([index])


def test_a_longer_run_than_any_pop_brings_is_refused() -> None:
    for size in (ACK_BITS_MAX // 8 + 1, 10_000_000):
        with pytest.raises(RemoteProtocolError, match="more than 4096"):
            decode_ack_bits(base64.b64encode(bytes(size - 1) + b"\x01").decode())


@pytest.mark.parametrize("text", ["CQI", "C Q=", "_-==", "é"])
def test_text_that_is_no_base64_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="no Base64"):
        decode_ack_bits(text)
