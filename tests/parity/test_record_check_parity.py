"""The check of a log's records, compiled and pure: the same bytes are judged alike everywhere."""

import importlib
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.protocol.message.record import MAGIC_FILLER, RecordWriter
from tests.pure import pure
from tests.store_kit import draft

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.message.record_check"), reason="nothing is compiled"
)

FIELDS = pure("aerobee.protocol.message.record").Record.__slots__
HOST = bytes((127, 0, 0, 1)) + (10911).to_bytes(4, "big")

_records = st.tuples(
    st.sampled_from([b"", b"t", b"Orders", b"t" * 200, b"a\0b"]),
    st.binary(max_size=40),
    st.sampled_from([b"", b"TAGS\x01a\x02", b"a\x01b\0"]),
    st.booleans(),
    st.sampled_from([0, 0, 0, 0, 1]),
)
_pieces = st.lists(st.one_of(_records, st.binary(max_size=20), st.integers(-1, 300)), max_size=5)


def log_of(pieces: list[Any], base: int) -> bytearray:
    """Records, of which some name the next place, among bytes of any kind and fillers."""
    data = bytearray()
    for piece in pieces:
        if isinstance(piece, bytes):
            data += piece
        elif isinstance(piece, int):
            data += struct.pack(">ii", piece, MAGIC_FILLER)
        else:
            topic, body, text, with_crc, shift = piece
            message = draft(topic, body=body, text=text)
            data += RecordWriter(HOST, with_crc).encode(message, 7, base + len(data) + shift, 99)
    return data


def outcome(module: Callable[[str], Any], data: bytes, arguments: tuple[int, int, bool]) -> Any:
    check = module("aerobee.protocol.message.record_check").RecordCheck()
    view = memoryview(data)
    answers: list[Any] = []
    for position in range(len(data) + 1):
        found = check.judge_in(view, position, *arguments)
        answers.append((found, check.has_crc, check.record.size))
        if found == 0:
            answers.append([getattr(check.record, name) for name in FIELDS])
    places, at = [], 0
    while at >= 0:
        at = check.find_next_in(view, at, *arguments)
        places.append((at, check.finding, check.record.size))
        at = -1 if at < 0 else at + 1
    return answers, places


@given(
    _pieces,
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), max_size=2),
    st.sampled_from([0, 100, 2**62]),
    st.integers(-30, 150),
    st.booleans(),
)
def test_both_judge_alike(
    pieces: list[Any], flips: list[tuple[int, int]], base: int, beyond: int, needs_crc: bool
) -> None:
    data = log_of(pieces, base)
    for place, value in flips:
        if data:
            data[place % len(data)] ^= value
    arguments = (base, base + len(data) + beyond, needs_crc)
    compiled = outcome(importlib.import_module, bytes(data), arguments)
    assert compiled == outcome(pure, bytes(data), arguments)
