import pytest

from aerobee.errors import ProtocolError
from aerobee.protocol.bodies.producer_sequences import (
    decode_last_sequences,
    encode_last_sequences,
)


def test_last_sequences_are_written_by_queue_and_read_back() -> None:
    assert encode_last_sequences({3: 4, 0: 17}) == b'{"lastSequences":{"0":17,"3":4}}'
    assert decode_last_sequences(encode_last_sequences({3: 4, 0: 17})) == {0: 17, 3: 4}
    assert decode_last_sequences(b"{}") == {}


@pytest.mark.parametrize("value", ["true", '"7"', "-1", "1.5"])
def test_a_sequence_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(ProtocolError):
        decode_last_sequences(f'{{"lastSequences":{{"0":{value}}}}}'.encode())
