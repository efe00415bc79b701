"""HMAC-SHA1 of two runs of bytes, in Base64: RocketMQ's signature of a request.

The interpreter asks OpenSSL. Compiled modules use the C twins in `hmac_machine.pxd`: a call through
Python costs more than the sum of a short message. A key is prepared once, into a memory of
`KEY_BYTES`; how it lies there is each twin's own affair.

Whoever calls has seen to it that there is room: `KEY_BYTES` for a key, `TEXT_BYTES` for a result.
"""

import base64
import hashlib
import hmac

KEY_BYTES = 64
TEXT_BYTES = 28
"""Of 20 bytes in Base64, padded."""


def prepare_key(prepared: memoryview, key: bytes | memoryview, size: int) -> None:
    """Prepare the first bytes of a key for many sums."""
    used = bytes(key[:size])
    used = hashlib.sha1(used, usedforsecurity=False).digest() if size > KEY_BYTES else used
    prepared[:KEY_BYTES] = used.ljust(KEY_BYTES, b"\0")


def put_hmac(
    target: memoryview,
    prepared: memoryview,
    text: memoryview,
    text_size: int,
    body: memoryview,
    body_start: int,
    body_size: int,
) -> None:
    """Write the sum of the first bytes of a text and of a part of a body behind them."""
    data = bytes(text[:text_size]) + bytes(body[body_start : body_start + body_size])
    target[:TEXT_BYTES] = base64.b64encode(hmac.digest(bytes(prepared[:KEY_BYTES]), data, "sha1"))


def is_same_text(known: memoryview, said: memoryview, position: int) -> bool:
    """Whether a result stands at a position, in the same time whatever stands there."""
    return hmac.compare_digest(known[:TEXT_BYTES], said[position : position + TEXT_BYTES])
