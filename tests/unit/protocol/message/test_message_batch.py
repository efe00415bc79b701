import struct

import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.message.message_batch import (
    BatchMessage,
    batch_entries,
    count_messages,
    decode_batch,
    encode_batch,
    with_property,
)

MESSAGES = [
    BatchMessage(b"m1", {"TAGS": "A"}),
    BatchMessage(b"", {}, flag=-1),
    BatchMessage(b"x" * 300, {"KEYS": "k1 k2", "ü": "ö"}, flag=7),
]
BATCH = encode_batch(MESSAGES)


def entry(
    body: bytes = b"m1",
    text: bytes = b"a\x01b\x02",
    *,
    magic: int = 0,
    total: int | None = None,
    body_size: int | None = None,
    text_size: int | None = None,
) -> bytes:
    """One entry with any of its three sizes forged."""
    head = struct.pack(
        ">iiiii",
        22 + len(body) + len(text) if total is None else total,
        magic,
        0,
        0,
        len(body) if body_size is None else body_size,
    )
    return head + body + struct.pack(">h", len(text) if text_size is None else text_size) + text


def test_messages_come_back_as_they_were() -> None:
    assert decode_batch(BATCH) == MESSAGES
    assert count_messages(BATCH) == 3


def test_magic_and_crc_are_read_by_nobody() -> None:
    forged = BATCH[:4] + b"\xde\xad\xbe\xef\xff\xff\xff\xff" + BATCH[12:]
    assert decode_batch(forged) == MESSAGES


def test_properties_without_their_last_separator_are_accepted() -> None:
    assert decode_batch(entry(text=b"a\x01b"))[0].properties == {"a": "b"}


def test_a_batch_cut_anywhere_but_between_messages_is_refused() -> None:
    whole = set()
    for size in range(len(BATCH) + 1):
        try:
            decode_batch(BATCH[:size])
        except RemoteProtocolError:
            continue
        whole.add(size)
    first = 22 + 2 + 7
    assert whole == {first, first + 22, len(BATCH)}


@pytest.mark.parametrize(
    "bad",
    [
        entry(total=0),
        entry(total=-1),
        entry(total=21),
        entry(total=2**31 - 1),
        entry(total=27),
        entry(total=29),
        entry(body_size=-1),
        # Counted backwards, the size of the properties would be read from the magic.
        entry(body_size=-16, magic=22 << 16),
        entry(body_size=3),
        entry(body_size=2**31 - 1),
        entry(text_size=-1),
        entry(text_size=3),
        entry(text_size=5),
    ],
)
def test_sizes_that_do_not_add_up_are_refused_before_anything_is_decoded(bad: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="message 1 of a batch, at byte 28"):
        decode_batch(entry() + bad)


def test_a_batch_without_messages_is_refused_both_ways() -> None:
    with pytest.raises(RemoteProtocolError, match="without messages"):
        decode_batch(b"")
    with pytest.raises(LocalProtocolError, match="without messages"):
        encode_batch([])


def test_more_messages_than_allowed_are_refused() -> None:
    assert count_messages(entry() * 5, count_max=5) == 5
    with pytest.raises(RemoteProtocolError, match="more than 4 messages"):
        count_messages(entry() * 5, count_max=4)
    with pytest.raises(RemoteProtocolError, match="more than 32767 messages"):
        decode_batch(entry(b"", b"") * 32768)


def test_a_flag_that_does_not_fit_is_not_sent() -> None:
    with pytest.raises(LocalProtocolError, match="no batch has room"):
        encode_batch([BatchMessage(b"", {}, flag=2**31)])


def test_the_entries_of_a_batch_are_its_bytes_taken_apart() -> None:
    batch = encode_batch([BatchMessage(b"one", {"A": "1"}), BatchMessage(b"", {})])
    entries = batch_entries(batch)
    assert b"".join(entries) == batch
    assert [decode_batch(entry)[0].body for entry in entries] == [b"one", b""]
    with pytest.raises(RemoteProtocolError):
        batch_entries(batch[:-1])


def test_a_property_of_an_entry_is_set_and_the_rest_stays() -> None:
    entry = encode_batch([BatchMessage(b"body", {"a": "1", "b": "2"}, 7)])
    assert decode_batch(with_property(entry, "b", "three")) == [
        BatchMessage(b"body", {"a": "1", "b": "three"}, 7)
    ]
    assert decode_batch(with_property(entry, "c", "4"))[0].properties == {
        "a": "1",
        "b": "2",
        "c": "4",
    }
