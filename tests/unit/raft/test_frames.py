"""Frames of Raft messages: whole, in every chunking, and damaged."""

import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.raft.frames import (
    BODY_BYTES_MAX,
    PREFIX_BYTES,
    Framed,
    Hello,
    RaftFrameReader,
    encode_frame,
)
from aerobee.raft.membership import Member, Members
from aerobee.raft.messages import (
    Diverging,
    Fetch,
    PreVote,
    PreVoteAnswer,
    Records,
    Reset,
    TimeoutNow,
    Vote,
    VoteAnswer,
)
from aerobee.raft.progress import NEVER

GROUP = Members((Member(1, "a:10912", True), Member(2, "b:10912", False)))
MESSAGES: list[Framed] = [
    Hello(3, "Größe"),
    PreVote(1, 2**62, 3),
    PreVoteAnswer(1, True),
    Vote(1, 2, 3, False),
    VoteAnswer(2**62, False),
    Fetch(1, 2000, 3, 4, NEVER, True),
    Records(1, 100, 100, 4, 5, None, 7, 8),
    Records(1, 100, 105, 4, 5, GROUP, 7, -8),
    Diverging(1, 2, 3, 4, 5),
    Reset(1, 2, 3, 4, 5, GROUP),
    TimeoutNow(6),
]
BODY = b"bytes"


def stream() -> bytes:
    return b"".join(
        encode_frame(message) + (BODY if message == MESSAGES[7] else b"") for message in MESSAGES
    )


def read(chunks: list[bytes], reader: RaftFrameReader | None = None) -> list[Framed]:
    reader = reader or RaftFrameReader()
    found: list[Framed] = []
    for chunk in chunks:
        reader.receive(chunk)
        while reader.advance():
            found.append(reader.message)
            assert reader.body == (BODY if reader.message == MESSAGES[7] else b"")
    return found


def test_every_message_comes_back_as_it_was() -> None:
    found = read([stream()])
    assert found == MESSAGES
    assert [type(message) for message in found] == [type(message) for message in MESSAGES]


@pytest.mark.parametrize("size", [1, 2, 7, 13, 64])
def test_every_chunking_gives_the_same_messages(size: int) -> None:
    data = stream()
    assert read([data[at : at + size] for at in range(0, len(data), size)]) == MESSAGES


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_no_flipped_bit_of_a_head_goes_unnoticed(message: Framed) -> None:
    data = encode_frame(message)
    for bit in range(8 * len(data)):
        wrong = bytearray(data)
        wrong[bit // 8] ^= 1 << bit % 8
        reader = RaftFrameReader()
        reader.receive(bytes(wrong) + bytes(1 << 16))
        try:
            is_whole = reader.advance()
        except RemoteProtocolError:
            continue
        assert not is_whole, f"bit {bit} of {message}"


def test_a_broken_stream_stays_broken() -> None:
    reader = RaftFrameReader()
    reader.receive(bytes(PREFIX_BYTES))
    for _ in range(2):
        with pytest.raises(RemoteProtocolError, match="version 0"):
            reader.advance()


def test_a_body_that_is_too_large_is_refused_before_it_comes() -> None:
    reader = RaftFrameReader(body_bytes_max=4)
    reader.receive(encode_frame(MESSAGES[7])[:PREFIX_BYTES])
    with pytest.raises(RemoteProtocolError, match="a body of 5"):
        reader.advance()


@pytest.mark.parametrize(
    "message",
    [
        PreVote(-1, 2, 3),
        Fetch(1, 10, 1, 11, 0, False),
        Reset(1, 2, 3, -4, 5, GROUP),
        Records(1, 0, 0, 1, 1, None, -1, 0),
    ],
    ids=lambda message: type(message).__name__,
)
def test_numbers_that_cannot_be_are_refused(message: Framed) -> None:
    reader = RaftFrameReader()
    reader.receive(encode_frame(message))
    with pytest.raises(RemoteProtocolError, match="a Raft message of kind"):
        reader.advance()


@pytest.mark.parametrize(
    "message", [Hello(1, "g" * 256), Records(1, 0, BODY_BYTES_MAX + 1, 1, 1, None, 0, 0)]
)
def test_a_message_that_no_node_would_take_is_not_written(message: Framed) -> None:
    with pytest.raises(LocalProtocolError):
        encode_frame(message)
