"""Sealing: encrypts a short secret under a key, so that it can be stored and sent.

    tag   = HMAC-SHA256(key "tag", label 0x00 text)[:16]
    sealed = Base64(tag, text XOR stream),   stream = HMAC-SHA256(key "stream", tag counter) …

A synthetic initial value (SIV): the tag is both the initial value and the proof that nothing was
changed. The same text under the same key and label is sealed to the same bytes, which is all that a
reader without the key learns besides its length; no random number is needed, which the core does
not have. The label (the name of a user) keeps one secret from being put in the place of another.
"""

import base64
import binascii
import hashlib
import hmac

from aerobee.errors import AerobeeError

KEY_BYTES = 32
_TAG_BYTES = 16
_BLOCK_BYTES = 32


class BadSeal(AerobeeError):
    """A sealed text was not made with this key and label, or was changed."""


def key_from(secret: str, purpose: str) -> bytes:
    """A key that all who know a secret can make."""
    return hmac.digest(secret.encode(), purpose.encode(), hashlib.sha256)


def seal(text: str, key: bytes, label: str) -> str:
    plain = text.encode()
    tag = _tag(plain, key, label)
    return base64.b64encode(tag + _streamed(plain, key, tag)).decode()


def unseal(sealed: str, key: bytes, label: str) -> str:
    """BadSeal: it was not sealed with this key and label."""
    try:
        data = base64.b64decode(sealed, validate=True)
    except (binascii.Error, ValueError):
        raise BadSeal(f"the sealed secret of {label[:100]!r} is no Base64") from None
    tag, hidden = data[:_TAG_BYTES], data[_TAG_BYTES:]
    plain = _streamed(hidden, key, tag)
    if not hmac.compare_digest(tag, _tag(plain, key, label)):
        raise BadSeal(f"the sealed secret of {label[:100]!r} does not fit the key")
    return plain.decode()


def _tag(plain: bytes, key: bytes, label: str) -> bytes:
    tag_key = hmac.digest(key, b"tag", hashlib.sha256)
    return hmac.digest(tag_key, label.encode() + b"\0" + plain, hashlib.sha256)[:_TAG_BYTES]


def _streamed(data: bytes, key: bytes, tag: bytes) -> bytes:
    stream_key = hmac.digest(key, b"stream", hashlib.sha256)
    blocks = range(-(-len(data) // _BLOCK_BYTES))
    stream = b"".join(
        hmac.digest(stream_key, tag + block.to_bytes(4, "big"), hashlib.sha256) for block in blocks
    )
    return bytes(one ^ other for one, other in zip(data, stream, strict=False))
