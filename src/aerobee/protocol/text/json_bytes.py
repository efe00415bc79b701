"""Runs of bytes inside JSON text: the steps that the header scanners are made of.

A byte is *plain* when it stands for itself and is ASCII: not a quote, a backslash, a control
character, nor part of a longer UTF-8 character. These are the Python originals; the C twins, which
look at sixteen bytes at a time, are in `json_machine.pxd`. Neither checks its bounds: callers have
compared them with the end of the memory before.
"""

import re

NO_NUMBER = -(2**63)

_ESCAPES = {
    0x22: 0x22,
    0x5C: 0x5C,
    0x2F: 0x2F,
    0x62: 0x08,
    0x66: 0x0C,
    0x6E: 0x0A,
    0x72: 0x0D,
    0x74: 0x09,
}
_NOT_PLAIN = re.compile(rb"[^ !#-\[\]-\x7f]")


def plain_end(memory: memoryview, position: int, end: int) -> int:
    """The first byte in [position, end) that is not plain, or `end`."""
    found = _NOT_PLAIN.search(memory, position, end)
    return end if found is None else found.start()


def name_end(memory: memoryview, position: int, end: int) -> int:
    """The closing quote of a member's name that is plain, with a colon and the begin of a value
    behind it before `end`; else -1."""
    if position == end or memory[position] != 0x22:
        return -1
    stop = plain_end(memory, position + 1, end)
    return -1 if end - stop < 3 or memory[stop] != 0x22 or memory[stop + 1] != 0x3A else stop


def copy_plain(
    target: memoryview,
    target_position: int,
    target_end: int,
    memory: memoryview,
    position: int,
    end: int,
) -> int:
    """Copy plain bytes as far as they and the target go; where in `memory` that ended.

    The C twin may write beyond the copied bytes, but not beyond `target_end`.
    """
    stop = plain_end(memory, position, min(end, position + target_end - target_position))
    target[target_position : target_position + stop - position] = memory[position:stop]
    return stop


def is_utf8(memory: memoryview, position: int, end: int) -> bool:
    """Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF."""
    try:
        str(memory[position:end], "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def text_at(memory: memoryview, position: int, end: int) -> str:
    """UTF-8 as a string; UnicodeDecodeError where it is none."""
    return str(memory[position:end], "utf-8")


def hex_digit(byte: int) -> int:
    """The value of a hexadecimal digit, or -1."""
    if 0x30 <= byte <= 0x39:
        return byte - 0x30
    letter = byte | 0x20
    return letter - 0x57 if 0x61 <= letter <= 0x66 else -1


def escaped_unit(memory: memoryview, position: int) -> int:
    """The character of the escape at `position`, or -1. Six bytes are there.

    A surrogate is -1 as well: it takes two escapes to make a character.
    """
    byte = memory[position + 1]
    if byte != 0x75:
        return _ESCAPES.get(byte, -1)
    unit = 0
    for index in range(position + 2, position + 6):
        digit = hex_digit(memory[index])
        if digit < 0:
            return -1
        unit = unit << 4 | digit
    return -1 if 0xD800 <= unit < 0xE000 else unit


def put_character(target: memoryview, position: int, unit: int) -> int:
    """The UTF-8 of a character below U+10000; the position after it."""
    text = chr(unit).encode()
    target[position : position + len(text)] = text
    return position + len(text)


def number_end(memory: memoryview, position: int, end: int) -> int:
    """The end of a sign and digits, as far as they go."""
    if position < end and memory[position] == 0x2D:
        position += 1
    while position < end and 0x30 <= memory[position] <= 0x39:
        position += 1
    return position


def is_bare_integer(memory: memoryview, position: int, end: int) -> bool:
    """Whether JSON allows these digits outside a string: no zero before others."""
    if memory[position] == 0x2D:
        position += 1
    return end - position == 1 or memory[position] != 0x30


def parse_decimal(memory: memoryview, position: int, end: int) -> int:
    """The number of 64 bits that [position, end) is, or NO_NUMBER."""
    text = bytes(memory[position:end])
    digits = text.removeprefix(b"-")
    # 19 digits fit 64 bits; the lowest number of all is the mark of none.
    if not digits.isdigit() or len(digits) > 19 or int(digits) >= 2**63:
        return NO_NUMBER
    return int(text)


def bare_int32(memory: memoryview, position: int, end: int) -> int:
    """The number of 32 bits that [position, end) is, as JSON allows it outside a string; or
    NO_NUMBER."""
    number = parse_decimal(memory, position, end)
    if not -(2**31) <= number < 2**31 or not is_bare_integer(memory, position, end):
        return NO_NUMBER
    return number
