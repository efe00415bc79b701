import pytest

from aerobee.protocol.text.json_bytes import (
    NO_NUMBER,
    bare_int32,
    copy_plain,
    escaped_unit,
    hex_digit,
    is_bare_integer,
    is_utf8,
    name_end,
    number_end,
    parse_decimal,
    plain_end,
    put_character,
    text_at,
)


def test_plain_bytes_are_those_that_stand_for_themselves() -> None:
    every = memoryview(bytes(range(256)))
    plain = {byte for byte in range(256) if plain_end(every, byte, byte + 1) == byte + 1}
    assert plain == set(range(0x20, 0x80)) - set(b'"\\')


def test_a_plain_run_ends_at_the_first_other_byte_or_at_the_end() -> None:
    memory = memoryview(b'abc"def')
    assert plain_end(memory, 0, 7) == 3
    assert plain_end(memory, 4, 7) == 7
    assert plain_end(memory, 0, 2) == 2
    assert plain_end(memory, 7, 7) == 7


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        (b'"code":1', 5),
        (b'"":1', 1),
        (b'"code":', -1),
        (b'"code"', -1),
        (b'"code', -1),
        (b'"', -1),
        (b"", -1),
        (b"code:1", -1),
        (b'"code" :1', -1),
        (b'"co\\de":1', -1),
        ('"cödé":1'.encode(), -1),
    ],
)
def test_a_name_ends_at_its_quote_if_a_colon_and_a_value_follow(text: bytes, stop: int) -> None:
    assert name_end(memoryview(text), 0, len(text)) == stop
    # What lies before the begin does not count, nor what lies beyond the end.
    inside = memoryview(b'"' + text + b'":1')
    assert name_end(inside, 1, 1 + len(text)) == (stop + 1 if stop > 0 else -1)


@pytest.mark.parametrize(
    ("room", "expected"), [(0, b""), (2, b"ab"), (3, b"abc"), (4, b"abc"), (9, b"abc")]
)
def test_a_copy_ends_with_the_run_or_with_the_room(room: int, expected: bytes) -> None:
    target = memoryview(bytearray(b"-" * 12))
    stop = copy_plain(target, 1, 1 + room, memoryview(b'abc"def'), 0, 7)
    assert stop == len(expected)
    assert bytes(target[1 : 1 + stop]) == expected
    assert bytes(target[1 + room :]) == b"-" * (11 - room)


def test_utf8_is_judged_within_its_bounds() -> None:
    memory = memoryview("xé".encode())
    assert is_utf8(memory, 0, 3)
    assert not is_utf8(memory, 0, 2)
    assert not is_utf8(memory, 2, 3)
    assert text_at(memory, 1, 3) == "é"
    with pytest.raises(UnicodeDecodeError):
        text_at(memory, 0, 2)


def test_hexadecimal_digits_have_their_values() -> None:
    values = {byte: hex_digit(byte) for byte in range(256) if hex_digit(byte) >= 0}
    assert values == {ord(digit): int(digit, 16) for digit in "0123456789abcdefABCDEF"}


@pytest.mark.parametrize(
    ("escape", "unit"),
    [
        (rb"\u0001x", 1),
        (rb"\u8Ba2x", 0x8BA2),
        (rb"\ud7ff", 0xD7FF),
        (rb"\ud800", -1),
        (rb"\udfff", -1),
        (rb"\ue000", 0xE000),
        (rb"\u00g0", -1),
        (rb"\n----", 10),
        (rb"\t----", 9),
        (rb"\r----", 13),
        (rb"\b----", 8),
        (rb"\f----", 12),
        (rb"\"----", 0x22),
        (rb"\\----", 0x5C),
        (rb"\/----", 0x2F),
        (rb"\x----", -1),
    ],
)
def test_an_escape_stands_for_one_unit(escape: bytes, unit: int) -> None:
    assert escaped_unit(memoryview(b"  " + escape), 2) == unit


@pytest.mark.parametrize("unit", [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF])
def test_a_character_is_put_as_utf8(unit: int) -> None:
    target = memoryview(bytearray(8))
    end = put_character(target, 2, unit)
    assert bytes(target[2:end]) == chr(unit).encode()


@pytest.mark.parametrize(
    ("text", "end"), [(b"12,", 2), (b"-12}", 3), (b"-", 1), (b"x", 0), (b"1-2", 1), (b"12", 2)]
)
def test_a_number_ends_where_its_digits_do(text: bytes, end: int) -> None:
    assert number_end(memoryview(text), 0, len(text)) == end


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"0", 0),
        (b"-0", 0),
        (b"007", 7),
        (b"-12", -12),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775807", -(2**63) + 1),
        (b"9223372036854775808", NO_NUMBER),
        (b"99999999999999999999", NO_NUMBER),
        (b"00000000000000000001", NO_NUMBER),
        (b"", NO_NUMBER),
        (b"-", NO_NUMBER),
        (b"--1", NO_NUMBER),
        (b"1x", NO_NUMBER),
        (b" 1", NO_NUMBER),
        (b"1_0", NO_NUMBER),
        (b"+1", NO_NUMBER),
    ],
)
def test_a_decimal_is_digits_and_perhaps_a_sign(text: bytes, number: int) -> None:
    assert parse_decimal(memoryview(text), 0, len(text)) == number


@pytest.mark.parametrize(
    ("text", "is_bare"),
    [
        (b"0", True),
        (b"-0", True),
        (b"7", True),
        (b"-70", True),
        (b"01", False),
        (b"-01", False),
        (b"00", False),
    ],
)
def test_json_has_no_zero_before_other_digits_outside_a_string(text: bytes, is_bare: bool) -> None:
    assert is_bare_integer(memoryview(text), 0, len(text)) is is_bare


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"0", 0),
        (b"-12", -12),
        (b"2147483647", 2**31 - 1),
        (b"2147483648", NO_NUMBER),
        (b"-2147483648", -(2**31)),
        (b"-2147483649", NO_NUMBER),
        (b"07", NO_NUMBER),
        (b"-07", NO_NUMBER),
        (b"", NO_NUMBER),
        (b"-", NO_NUMBER),
        (b"1x", NO_NUMBER),
    ],
)
def test_a_bare_number_of_32_bits_fits_and_has_no_zero_before_others(
    text: bytes, number: int
) -> None:
    assert bare_int32(memoryview(text + b"1"), 0, len(text)) == number
