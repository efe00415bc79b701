"""Batch bodies: what is written is read back, and no other bytes pass for one."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.message.message_batch import (
    BatchMessage,
    count_messages,
    decode_batch,
    encode_batch,
)
from tests.property.test_properties import words

messages = st.builds(
    BatchMessage,
    body=st.binary(max_size=100),
    properties=st.dictionaries(words, words, max_size=3),
    flag=st.integers(-(2**31), 2**31 - 1),
)
batches = st.lists(messages, min_size=1, max_size=5)


@given(batches)
def test_what_is_written_is_read_back(batch: list[BatchMessage]) -> None:
    body = encode_batch(batch)
    assert decode_batch(body) == batch
    assert count_messages(body) == len(batch)


@given(batches, batches)
def test_two_batches_in_a_row_are_one(
    first: list[BatchMessage], second: list[BatchMessage]
) -> None:
    assert decode_batch(encode_batch(first) + encode_batch(second)) == first + second


@given(batches, st.data())
def test_a_changed_byte_gives_other_messages_or_a_refusal(
    batch: list[BatchMessage], data: st.DataObject
) -> None:
    body = bytearray(encode_batch(batch))
    position = data.draw(st.integers(0, len(body) - 1))
    body[position] = data.draw(st.integers(0, 255))
    try:
        found = decode_batch(bytes(body))
    except RemoteProtocolError:
        return
    # Sizes add up in every batch that is accepted: 22 bytes and its parts for each message.
    bodies = sum(len(message.body) for message in found)
    assert 22 * len(found) + bodies <= len(body)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_batch_or_refused(body: bytes) -> None:
    try:
        found = decode_batch(body)
    except RemoteProtocolError:
        return
    assert len(found) == count_messages(body)
