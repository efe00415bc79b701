"""Ack bits: the acknowledged messages of a popped run, as Base64 of a bit set.

Number i is bit i % 8 (lowest first) of byte i / 8; trailing zero bytes are not written. Agrees with
Java's BitSet.toByteArray, as BATCH_ACK_MESSAGE carries it.
"""

import base64
import binascii
from collections.abc import Iterable

from aerobee.errors import LocalProtocolError, RemoteProtocolError

ACK_BITS_MAX = 4096  # a pop brings at most 32 messages: far beyond any honest run


def encode_ack_bits(indexes: Iterable[int]) -> str:
    bits = 0
    for index in indexes:
        if not 0 <= index < ACK_BITS_MAX:
            raise LocalProtocolError(f"message {index} of a popped run; 0…{ACK_BITS_MAX - 1} fit")
        bits |= 1 << index
    return base64.b64encode(bits.to_bytes((bits.bit_length() + 7) // 8, "little")).decode()


def decode_ack_bits(text: str) -> list[int]:
    """The numbers, in order."""
    if len(text) > ACK_BITS_MAX // 8 * 4 // 3 + 4:
        raise RemoteProtocolError(f"acknowledgements of more than {ACK_BITS_MAX} messages")
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise RemoteProtocolError("acknowledgements that are no Base64") from None
    bits = int.from_bytes(raw, "little")
    if bits.bit_length() > ACK_BITS_MAX:
        raise RemoteProtocolError(f"acknowledgements of more than {ACK_BITS_MAX} messages")
    return [index for index in range(bits.bit_length()) if bits >> index & 1]
