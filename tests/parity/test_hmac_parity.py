"""The C twins of hmac_sha1.py against OpenSSL: sums at every length, both programs of SHA-1."""

import random
from collections.abc import Iterator
from types import ModuleType

import pytest

from aerobee._compiled import is_compiled
from aerobee.protocol.primitives import hmac_sha1
from aerobee.protocol.primitives.hmac_sha1 import KEY_BYTES, TEXT_BYTES

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.send.send_header"), reason="nothing is compiled"
)

DATA = random.Random(11).randbytes(5000)


@pytest.fixture(params=[1, 2], ids=["plain", "as the processor can"])
def sums(request: pytest.FixtureRequest, twins: ModuleType) -> Iterator[ModuleType]:
    twins.choose_sha1(request.param)
    yield twins
    twins.choose_sha1(2)


def summed(program: ModuleType, key: bytes, text: bytes, body: bytes, start: int) -> bytes:
    prepared = memoryview(bytearray(KEY_BYTES))
    target = memoryview(bytearray(TEXT_BYTES))
    program.prepare_key(prepared, key, len(key))
    size = len(body) - start
    program.put_hmac(target, prepared, memoryview(text), len(text), memoryview(body), start, size)
    return bytes(target)


@pytest.mark.parametrize("size", [0, 1, 20, 63, 64, 65, 200])
def test_keys_of_every_size(sums: ModuleType, size: int) -> None:
    key = DATA[:size]
    expected = summed(hmac_sha1, key, b"text", b"body", 0)
    assert summed(sums, key, b"text", b"body", 0) == expected


def test_texts_and_bodies_of_every_size_around_two_blocks(sums: ModuleType) -> None:
    for text_size in range(131):
        for body_size in (0, 1, 55, 56, 63, 64, 65, 100, 119, 128, 129, 500):
            text, body = DATA[:text_size], DATA[1000 : 1003 + body_size]
            expected = summed(hmac_sha1, b"secret", text, body, 3)
            assert summed(sums, b"secret", text, body, 3) == expected, (text_size, body_size)


def test_a_text_that_differs_in_one_byte_is_another(twins: ModuleType) -> None:
    known = bytes(range(TEXT_BYTES))
    for program in (twins, hmac_sha1):
        assert program.is_same_text(memoryview(known), memoryview(b"xx" + known + b"y"), 2)
        for place in range(TEXT_BYTES):
            said = bytearray(known)
            said[place] ^= 1
            assert not program.is_same_text(memoryview(known), memoryview(bytes(said)), 0)
