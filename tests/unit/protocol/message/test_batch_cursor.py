"""The entries of a batch body. Only compiled modules walk a batch, so the twin is walked here; the
compiled cursor is driven through the commit log in tests/parity."""

import struct
from typing import Any

import pytest

from aerobee.protocol.message import batch_cursor
from aerobee.protocol.message.batch_cursor import END, ENTRY, ENTRY_BYTES_MIN, MALFORMED
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from tests.pure import pure

INT_MAX = 2**31 - 1


def cursor() -> Any:
    return pure("aerobee.protocol.message.batch_cursor").BatchCursor()


def walked(batch: bytes) -> tuple[int, list[tuple[int, bytes, bytes]]]:
    """How the walk ended, and flag, body and properties of each entry before."""
    walker = cursor()
    memory = memoryview(batch)
    entries = []
    while (found := walker.advance(memory, len(batch))) == ENTRY:
        body = batch[walker.body_start : walker.body_start + walker.body_size]
        start = walker.properties_start
        entries.append((walker.flag, body, batch[start : start + walker.properties_size]))
    return found, entries


def entry(
    size: int, body_size: int, body: bytes = b"", text_size: int = 0, text: bytes = b""
) -> bytes:
    """An entry of which every number can be a lie."""
    head = struct.pack(">iiiii", size, 0, 0, 9, body_size)
    return head + body + struct.pack(">h", text_size) + text


def test_a_new_cursor_is_at_the_beginning() -> None:
    assert batch_cursor.BatchCursor().next_position == 0


def test_every_entry_is_found_in_order() -> None:
    batch = encode_batch(
        [
            BatchMessage(b"first", {"a": "b"}, 1),
            BatchMessage(b"", {}, -1),
            BatchMessage(b"x" * 1000, {"KEYS": "k"}, INT_MAX),
        ]
    )
    assert walked(batch) == (
        END,
        [(1, b"first", b"a\x01b\x02"), (-1, b"", b""), (INT_MAX, b"x" * 1000, b"KEYS\x01k\x02")],
    )


def test_a_batch_can_be_walked_again_after_a_rewind() -> None:
    batch = encode_batch([BatchMessage(b"one", {}), BatchMessage(b"two", {})])
    walker = cursor()
    for _ in range(2):
        walker.rewind()
        assert walker.advance(memoryview(batch), len(batch)) == ENTRY
        assert batch[walker.body_start :].startswith(b"one")
        assert walker.advance(memoryview(batch), len(batch)) == ENTRY
        assert walker.advance(memoryview(batch), len(batch)) == END


def test_nothing_is_a_batch_of_no_entries() -> None:
    assert walked(b"") == (END, [])


def test_an_entry_needs_22_bytes() -> None:
    smallest = entry(ENTRY_BYTES_MIN, 0)
    assert walked(smallest) == (END, [(9, b"", b"")])
    for size in range(1, ENTRY_BYTES_MIN):
        assert walked(smallest[:size]) == (MALFORMED, [])


@pytest.mark.parametrize(
    "bad",
    [
        entry(21, 0),
        entry(23, 0),
        entry(0, 0),
        entry(-1, 0),
        entry(INT_MAX, 0),
        entry(22, -1),
        entry(22, 1),
        entry(22, INT_MAX),
        entry(30, -(2**31), bytes(8)),
        entry(23, 0, b"x"),
        entry(23, 1, b"x", 1),
        entry(22, 0, b"", -1),
        entry(22, 0, b"", 1),
        entry(23, 0, b"", 0, b"x"),
        entry(21, 0, b"", -1),
    ],
)
def test_numbers_that_do_not_add_up_are_malformed(bad: bytes) -> None:
    good = entry(24, 1, b"b", 1, b"t")
    assert walked(bad) == (MALFORMED, [])
    assert walked(good + bad) == (MALFORMED, [(9, b"b", b"t")])
