"""A message on its way into the log: filled, filled again, and what it refuses."""

import array

import pytest

from aerobee.errors import Misuse
from aerobee.protocol.message.message_draft import PROPERTIES_BYTES_MAX, MessageDraft
from aerobee.protocol.message.record import RecordWriter

HOST = bytes(8)


def recorded(draft: MessageDraft) -> bytes:
    return RecordWriter(HOST, False).encode(draft, 0, 0, 0)


def test_a_new_draft_is_an_empty_message() -> None:
    draft = MessageDraft()
    assert draft.topic == b""
    assert not draft.is_batch
    assert draft.body_size == 0
    assert draft.properties_size == 0
    assert draft.properties_text() == b""
    assert len(recorded(draft)) == 91


def test_a_body_is_taken_by_reference() -> None:
    body = bytearray(b"before")
    draft = MessageDraft()
    draft.set_body(memoryview(body))
    body[:] = b"after!"
    assert b"after!" in recorded(draft)


def test_the_draft_keeps_its_body_alive() -> None:
    draft = MessageDraft()
    draft.set_body(memoryview(bytes(range(256)) * 64))
    for _ in range(100):
        bytes(16_384)  # memory that a freed body would be given to
    assert bytes(range(256)) * 64 in recorded(draft)


def test_properties_are_copied() -> None:
    draft = MessageDraft()
    draft.set_properties(b"a\x01b\x02")
    draft.set_properties(b"c\x01d")
    assert draft.properties_text() == b"c\x01d"
    assert draft.properties_size == 3


def test_properties_of_32767_bytes_fit_and_one_more_does_not() -> None:
    draft = MessageDraft()
    longest = b"x" * PROPERTIES_BYTES_MAX
    draft.set_properties(longest)
    assert draft.properties_text() == longest
    with pytest.raises(Misuse, match="32768 bytes of properties"):
        draft.set_properties(longest + b"x")
    assert draft.properties_text() == longest


def test_a_body_that_is_not_plain_bytes_in_a_row_is_refused() -> None:
    draft = MessageDraft()
    draft.set_body(memoryview(b"good"))
    for body in (memoryview(b"0123456789")[::2], memoryview(array.array("i", [1, 2, 3]))):
        with pytest.raises(Misuse, match="contiguous view of bytes"):
            draft.set_body(body)
    assert draft.body_size == 4
    assert b"good" in recorded(draft)


def test_a_smaller_body_replaces_a_larger_one_whole() -> None:
    draft = MessageDraft()
    draft.set_body(memoryview(b"a long body"))
    draft.set_body(memoryview(b""))
    assert draft.body_size == 0
    assert len(recorded(draft)) == 91
