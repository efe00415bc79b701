from aerobee.protocol.send.send_field_names import (
    LETTERS,
    TOP_NAMES,
    long_name,
    memory_part,
    short_name,
    top_name,
)
from tests.wire import LONG_NAMES


def test_long_names_stand_for_the_letters_of_the_specification() -> None:
    assert {chr(letter): name.decode() for name, letter in LETTERS.items()} == LONG_NAMES
    for name, letter in LETTERS.items():
        assert long_name(memoryview(b"--" + name + b"--"), 2, len(name)) == letter
        assert long_name(memoryview(name), 0, len(name) - 1) == 0


def test_top_names_have_numbers_of_their_own() -> None:
    assert sorted(TOP_NAMES.values()) == list(range(1, 9))
    for name, number in TOP_NAMES.items():
        assert top_name(memoryview(b"--" + name + b"--"), 2, len(name)) == number
        assert top_name(memoryview(name), 0, len(name) - 1) == 0


def test_short_names_are_the_letters_a_to_n() -> None:
    every = memoryview(bytes(range(256)))
    assert bytes(byte for byte in range(256) if short_name(every, byte, 1)) == b"abcdefghijklmn"
    assert short_name(memoryview(b"ab"), 0, 2) == 0
    assert short_name(memoryview(b"a"), 0, 0) == 0


def test_a_part_begins_and_ends_where_it_should() -> None:
    assert bytes(memory_part(memoryview(b"abcdef"), 2, 4)) == b"cd"
