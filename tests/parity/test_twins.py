"""Every C twin of the wire scanners against its Python original. `conftest` compiles the twins."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.protocol.send import send_field_names
from aerobee.protocol.text import json_bytes

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.send.send_header"), reason="nothing is compiled"
)

# Bytes with a taste for the edges of what the twins tell apart.
EDGES = st.sampled_from(
    b' !"#[\\]/0123456789:-abfnrtuABFGg\x00\x1f\x20\x7f\x80\x8f\x90\x9f\xa0\xbf'
)
LEADS = st.sampled_from(b"\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff")
BYTES = st.lists(EDGES | LEADS | st.integers(0, 255), max_size=60).map(bytes)
PLAIN = st.lists(st.sampled_from(b"ab z"), max_size=40).map(bytes)
MANY = settings(max_examples=1000)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[memoryview, int, int]:
    """Some bytes and a part of them: what lies beyond the part must not matter."""
    data = draw(PLAIN) + draw(BYTES) + draw(PLAIN)
    start = draw(st.integers(0, len(data)))
    return memoryview(data), start, draw(st.integers(start, len(data)))


@MANY
@given(ranges())
def test_plain_end(twins: ModuleType, part: tuple[memoryview, int, int]) -> None:
    assert twins.plain_end(*part) == json_bytes.plain_end(*part)


@MANY
@given(st.lists(st.sampled_from(b'""::abc\\\x01\x80'), max_size=24).map(bytes), st.integers(0, 3))
@example(b'"":1', 0)
@example(b'"name":"', 0)
@example(b'"name":', 0)
def test_name_end(twins: ModuleType, text: bytes, start: int) -> None:
    view = memoryview(text + b'":1')
    for end in range(min(start, len(text)), len(text) + 1):
        position = min(start, end)
        expected = json_bytes.name_end(view, position, end)
        assert twins.name_end(view, position, end) == expected


def test_plain_runs_around_every_byte_at_every_place_of_a_block(twins: ModuleType) -> None:
    target = memoryview(bytearray(64))
    for byte in range(256):
        for place in range(20):
            view = memoryview(b"x" * place + bytes([byte]) + b"x" * 30)
            expected = json_bytes.plain_end(view, 0, len(view))
            assert twins.plain_end(view, 0, len(view)) == expected
            assert twins.copy_plain(target, 0, 64, view, 0, len(view)) == expected


@MANY
@given(ranges(), st.integers(0, 70), st.integers(0, 5))
def test_copy_plain(
    twins: ModuleType, part: tuple[memoryview, int, int], room: int, start: int
) -> None:
    targets = [memoryview(bytearray(b"#" * (start + room + 40))) for _ in range(2)]
    stop = twins.copy_plain(targets[0], start, start + room, *part)
    assert stop == json_bytes.copy_plain(targets[1], start, start + room, *part)
    copied = start + stop - part[1]
    assert targets[0][:copied] == targets[1][:copied]
    assert bytes(targets[0][start + room :]) == b"#" * 40


@MANY
@given(ranges())
def test_is_utf8(twins: ModuleType, part: tuple[memoryview, int, int]) -> None:
    assert twins.is_utf8(*part) == json_bytes.is_utf8(*part)


def test_is_utf8_of_every_two_bytes_and_their_ends(twins: ModuleType) -> None:
    for first in range(256):
        for second in range(256):
            for rest in (b"", b"\x80", b"\x80\x80", b"\x80\xc0", b"a\x80"):
                view = memoryview(bytes([first, second]) + rest + b"\x80\x80\x80")
                for end in (1, 2, 2 + len(rest)):
                    assert twins.is_utf8(view, 0, end) == json_bytes.is_utf8(view, 0, end)


@given(st.text(max_size=40), st.integers(0, 3))
def test_text_at(twins: ModuleType, text: str, cut: int) -> None:
    view = memoryview(text.encode() + b"tail")
    end = max(0, len(text.encode()) - cut)
    outcomes: list[Any] = []
    for module in (twins, json_bytes):
        try:
            outcomes.append(module.text_at(view, 0, end))
        except UnicodeDecodeError:
            outcomes.append(None)
    assert outcomes[0] == outcomes[1]


def test_hex_digit(twins: ModuleType) -> None:
    for byte in range(256):
        assert twins.hex_digit(byte) == json_bytes.hex_digit(byte)


@MANY
@given(st.lists(EDGES | st.sampled_from(b"0123456789abcdefDF:@`{"), min_size=4, max_size=4))
def test_escaped_unit_of_four_digits(twins: ModuleType, digits: list[int]) -> None:
    view = memoryview(b"\\u" + bytes(digits))
    assert twins.escaped_unit(view, 0) == json_bytes.escaped_unit(view, 0)


def test_escaped_unit_of_every_letter_and_every_last_digit(twins: ModuleType) -> None:
    for byte in range(256):
        for view in (
            memoryview(b"x\\" + bytes([byte]) + b"0001"),
            memoryview(b"x\\u000" + bytes([byte])),
            memoryview(b"x\\u00" + bytes([byte]) + b"1"),
            memoryview(b"x\\ud" + bytes([byte]) + b"00"),
        ):
            assert twins.escaped_unit(view, 1) == json_bytes.escaped_unit(view, 1)


def test_put_character(twins: ModuleType) -> None:
    for unit in (*range(0, 0xD800, 7), 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF):
        targets = [memoryview(bytearray(8)) for _ in range(2)]
        end = twins.put_character(targets[0], 2, unit)
        assert end == json_bytes.put_character(targets[1], 2, unit)
        assert targets[0] == targets[1]


NUMBERS = st.lists(st.sampled_from(b"0123456789--+ x:/"), max_size=24).map(bytes)


@MANY
@given(NUMBERS | st.integers(-(2**64), 2**64).map(lambda number: str(number).encode()))
@example(b"9223372036854775807")
@example(b"9223372036854775808")
@example(b"-9223372036854775808")
@example(b"9999999999999999999")
@example(b"18446744073709551617")
@example(b"00000000000000000001")
@example(b"0000000000000000001")
@example(b"2147483647")
@example(b"2147483648")
@example(b"-2147483648")
@example(b"-2147483649")
def test_numbers(twins: ModuleType, text: bytes) -> None:
    view = memoryview(text + b"12")
    for end in (len(text), max(0, len(text) - 1)):
        assert twins.number_end(view, 0, end) == json_bytes.number_end(view, 0, end)
        assert twins.parse_decimal(view, 0, end) == json_bytes.parse_decimal(view, 0, end)
        assert twins.bare_int32(view, 0, end) == json_bytes.bare_int32(view, 0, end)
        assert twins.is_bare_integer(view, 0, end) == json_bytes.is_bare_integer(view, 0, end)
    assert twins.no_number() == json_bytes.NO_NUMBER


def test_names(twins: ModuleType) -> None:
    words = [
        *send_field_names.LETTERS,
        *send_field_names.TOP_NAMES,
        *(bytes([byte]) for byte in range(256)),
    ]
    for word in words:
        for text in (word, word[:-1], word + b"s", word[:-1] + b"~", b"~" + word[1:], word.upper()):
            view = memoryview(text + b"--")
            for name in ("top_name", "long_name", "short_name"):
                if text or name != "short_name":
                    twin, original = getattr(twins, name), getattr(send_field_names, name)
                    assert twin(view, 0, len(text)) == original(view, 0, len(text))
