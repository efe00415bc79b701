"""Unit tests of HMAC-SHA1, with the vectors of RFC 2202."""

import base64

import pytest

from aerobee.protocol.primitives.hmac_sha1 import (
    KEY_BYTES,
    TEXT_BYTES,
    is_same_text,
    prepare_key,
    put_hmac,
)


@pytest.mark.parametrize(
    ("key", "data", "digest"),
    [
        (b"\x0b" * 20, b"Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (b"Jefe", b"what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            b"\xaa" * 80,
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112",
        ),
    ],
)
def test_sums_of_the_standard(key: bytes, data: bytes, digest: str) -> None:
    prepared, target = memoryview(bytearray(KEY_BYTES)), memoryview(bytearray(TEXT_BYTES))
    prepare_key(prepared, key, len(key))
    for cut in (0, 3, len(data)):
        text, body = memoryview(data[:cut]), memoryview(b"before" + data[cut:] + b"behind")
        put_hmac(target, prepared, text, cut, body, 6, len(data) - cut)
        expected = base64.b64encode(bytes.fromhex(digest))
        assert bytes(target) == expected
        assert is_same_text(target, memoryview(b"." + expected), 1)
        assert not is_same_text(target, memoryview(expected.lower()), 0)
