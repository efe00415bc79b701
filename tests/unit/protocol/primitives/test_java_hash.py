"""Java's String.hashCode over UTF-8 bytes."""

import pytest

from aerobee.protocol.primitives.java_hash import signed32, tag_code
from tests.pure import pure


def java_hash_code(text: str) -> int:
    """By its definition: over UTF-16 units, as a signed int."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[index : index + 2], "big")) & 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("TagA", 2598919),
        ("Aa", 2112),
        ("BB", 2112),
        ("hello world", 1794106052),
        ("polygenelubricants", -(2**31)),
        ("标签", 857175),
    ],
)
def test_hashes_that_java_gives(text: str, expected: int) -> None:
    assert java_hash_code(text) == expected
    assert tag_code(text.encode()) == expected


@pytest.mark.parametrize("size", range(20))
def test_every_length_of_ascii_text(size: int) -> None:
    text = "zyxwvutsrqponmlkjihg"[:size]
    assert tag_code(text.encode()) == java_hash_code(text)


@pytest.mark.parametrize(
    "character", ["\x7f", "\x80", "é", "\u07ff", "\u0800", "€", "\uffff", "😀"]
)
@pytest.mark.parametrize("before", range(6))
def test_a_character_beyond_ascii_anywhere_in_the_text(character: str, before: int) -> None:
    for after in range(6):
        text = "abcdef"[:before] + character + "uvwxyz"[:after]
        assert tag_code(text.encode()) == java_hash_code(text)


@pytest.mark.parametrize(
    "text", [b"\xff", b"ab\xc3", b"\xe2\x82", b"abcd\xf0\x9f\x98x", b"\x80abc"]
)
def test_bad_utf_8_counts_as_the_replacement_character(text: bytes) -> None:
    assert tag_code(text) == java_hash_code(text.decode("utf-8", "replace"))


@pytest.mark.parametrize(
    ("pattern", "value"),
    [(0, 0), (1, 1), (2**31 - 1, 2**31 - 1), (2**31, -(2**31)), (2**32 - 1, -1)],
)
def test_a_32_bit_pattern_read_as_javas_int(pattern: int, value: int) -> None:
    assert signed32(pattern) == value


@pytest.mark.parametrize("text", ["Topic#key", "Topic#", "#", "Tépic#kéy", "Topic#k\u00e9", ""])
def test_a_hash_goes_on_where_another_ended(text: str) -> None:
    text_hash = pure("aerobee.protocol.primitives.java_hash").text_hash
    data = text.encode()
    whole = text_hash(memoryview(data), 0, len(data), 0)
    assert whole == java_hash_code(text) & 0xFFFFFFFF
    for cut in range(len(text) + 1):
        head = text[:cut].encode()
        start = text_hash(memoryview(head), 0, len(head), 0)
        padded = memoryview(b"---" + text[cut:].encode() + b"---")
        assert text_hash(padded, 3, len(data) - len(head), start) == whole
