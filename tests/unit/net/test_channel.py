import asyncio
from collections.abc import Iterable
from typing import cast

import pytest

from aerobee.net.channel import (
    BEGUN_BYTES_MAX,
    GATHERED_BYTES_MAX,
    SMALL_BYTES,
    STRANGE_BYTES_MAX,
    UNREAD_BYTES_MAX,
    Channel,
)
from aerobee.net.round import Round
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, FastService, Peer
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer


class Wire(asyncio.Transport):
    """A transport that writes down what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("10.0.0.7", 5)})
        self.writes: list[bytes] = []
        self.is_reading_paused = False
        self.end = ""
        self.unread_bytes = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.writes.append(b"".join(list_of_data))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert high is not None
        assert low is not None
        assert low < high

    def get_write_buffer_size(self) -> int:
        return self.unread_bytes

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False

    def close(self) -> None:
        self.end = "closed"

    def abort(self) -> None:
        self.end = "aborted"


class Owner:
    """Takes frames whose code is 1 in place; is handed all others."""

    def __init__(self) -> None:
        self.handled: list[int] = []
        self.reads = 0
        self.peer: Peer | None = None
        self.is_closed = False
        self.clock_ms = 0

    def opened(self, channel: Channel, peer: Peer) -> None:
        self.peer = peer

    def begin(self) -> Now:
        self.reads += 1
        return Now(0, self.clock_ms)

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> bool:
        while b'"code":1,' in bytes(frames.header()):
            output.append(b"taken;")
            if not frames.advance():
                return False
        return True

    def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
        self.handled.append(command.code)
        return False

    def closed(self, channel: Channel) -> None:
        self.is_closed = True


def channel_of(owner: Owner, turn: Round) -> Channel:
    return Channel(owner, ChannelId(4), FrameLimits(), turn, cast(FastService, owner))


class Connected:
    def __init__(self) -> None:
        self.owner = Owner()
        self.wire = Wire()
        self.turn = Round(self.owner.begin)
        self.channel = channel_of(self.owner, self.turn)
        self.channel.connection_made(self.wire)


def frame(code: int) -> bytes:
    return b"".join(encode(RemotingCommand(code)))


def test_the_peer_is_told_when_a_connection_opens_and_closes() -> None:
    c = Connected()
    assert c.owner.peer == Peer("10.0.0.7", 5)
    c.channel.connection_lost(None)
    assert c.owner.is_closed


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_frames_are_handled_whatever_the_pieces_they_come_in(size: int) -> None:
    c = Connected()
    data = frame(2) + frame(1) + frame(3)
    for start in range(0, len(data), size):
        c.channel.data_received(data[start : start + size])
    assert c.owner.handled == [2, 3]


def test_the_answers_of_one_read_are_written_at_once() -> None:
    c = Connected()
    c.channel.data_received(frame(1) * 3)
    assert c.wire.writes == [b"taken;taken;taken;"]


def test_a_frame_written_between_goes_out_in_its_place() -> None:
    c = Connected()

    class Interrupting(Owner):
        def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
            c.channel.write([b"between", b";"])
            return False

    c.owner = Interrupting()
    c.channel = channel_of(c.owner, c.turn)
    c.channel.connection_made(c.wire)
    c.channel.data_received(frame(1) + frame(2) + frame(1))
    assert c.wire.writes == [b"taken;between;taken;"]


def test_a_large_frame_goes_out_by_itself_and_in_its_place() -> None:
    c = Connected()
    large = b"x" * (GATHERED_BYTES_MAX + 1)

    class Interrupting(Owner):
        def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
            c.channel.write([b"between;"] if command.code == 2 else [b"large;", memoryview(large)])
            return False

    c.owner = Interrupting()
    c.channel = channel_of(c.owner, c.turn)
    c.channel.connection_made(c.wire)
    c.channel.data_received(frame(2) + frame(3) + frame(2))
    assert c.wire.writes == [b"between;", b"large;" + large, b"between;"]


def test_what_gathers_for_one_read_is_bounded() -> None:
    c = Connected()

    class Talking(Owner):
        def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
            c.channel.write([b"y" * GATHERED_BYTES_MAX])
            return False

    c.owner = Talking()
    c.channel = channel_of(c.owner, c.turn)
    c.channel.connection_made(c.wire)
    c.channel.data_received(frame(2) * 6)
    assert len(b"".join(c.wire.writes)) == 6 * GATHERED_BYTES_MAX
    assert max(len(write) for write in c.wire.writes) <= 3 * GATHERED_BYTES_MAX


def test_what_is_written_while_another_is_read_goes_out_at_once() -> None:
    c = Connected()
    c.channel.write([b"now;"])
    assert c.wire.writes == [b"now;"]


def test_what_breaks_the_protocol_closes_the_connection_after_what_was_answered() -> None:
    c = Connected()
    c.channel.data_received(frame(1) + b"\xff" * 16)
    assert c.wire.writes == [b"taken;"]
    assert c.wire.end == "closed"


def test_a_peer_that_does_not_read_is_not_read_from() -> None:
    c = Connected()
    c.owner.clock_ms = 77
    c.turn.end()
    c.channel.pause_writing()
    assert c.wire.is_reading_paused
    assert c.channel.paused_since_ms == 77
    c.channel.resume_writing()
    assert not c.wire.is_reading_paused
    assert c.channel.paused_since_ms is None


def test_the_time_of_the_last_read_is_kept() -> None:
    c = Connected()
    c.owner.clock_ms = 9
    c.turn.end()
    c.channel.data_received(b"\0")
    assert c.channel.last_read_ms == 9


def test_reads_of_one_turn_have_one_time() -> None:
    c = Connected()
    c.owner.clock_ms = 9
    c.channel.data_received(frame(2))
    assert (c.channel.last_read_ms, c.owner.reads) == (0, 1)
    c.turn.end()
    c.channel.data_received(frame(2))
    assert (c.channel.last_read_ms, c.owner.reads) == (9, 2)


def test_a_connection_that_is_gone_is_written_to_in_vain() -> None:
    c = Connected()
    c.channel.connection_lost(None)
    c.channel.write([b"x"])
    c.channel.close()
    c.channel.abort()
    assert (c.wire.writes, c.wire.end) == ([], "")


def test_a_channel_that_ends_is_not_read_again_when_its_peer_reads() -> None:
    c = Connected()
    c.channel.pause_writing()
    c.channel.stop_reading()
    c.channel.resume_writing()
    assert c.wire.is_reading_paused


class Stuffing(Owner):
    """Has the peer pause at every command, as an answer of megabytes does."""

    def __init__(self) -> None:
        super().__init__()
        self.channel: Channel | None = None

    def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
        assert self.channel is not None
        self.channel.pause_writing()
        return super().handle(channel, command)


def stuffed() -> tuple[Channel, Stuffing, Wire]:
    owner, wire = Stuffing(), Wire()
    owner.channel = channel_of(owner, Round(owner.begin))
    owner.channel.connection_made(wire)
    return owner.channel, owner, wire


def test_what_a_peer_has_sent_waits_until_it_reads_its_answers() -> None:
    channel, owner, wire = stuffed()
    channel.data_received(frame(2) + frame(3) + frame(1) + frame(4) + frame(5)[:9])
    assert owner.handled == [2]
    channel.resume_writing()
    assert owner.handled == [2, 3]
    assert wire.is_reading_paused
    channel.resume_writing()
    assert owner.handled == [2, 3, 4]
    assert wire.writes == [b"taken;"]
    channel.resume_writing()
    assert not wire.is_reading_paused
    channel.data_received(frame(5)[9:])
    assert owner.handled == [2, 3, 4, 5]


def test_what_waits_is_not_handled_once_the_channel_ends() -> None:
    channel, owner, _ = stuffed()
    channel.data_received(frame(2) + frame(3))
    channel.stop_reading()
    channel.resume_writing()
    assert owner.handled == [2]


def test_what_breaks_the_protocol_is_found_when_its_turn_comes() -> None:
    channel, _, wire = stuffed()
    channel.data_received(frame(2) + b"\xff" * 16)
    assert wire.end == ""
    channel.resume_writing()
    assert wire.end == "closed"


def test_a_peer_that_leaves_too_much_unread_is_dropped() -> None:
    c = Connected()
    c.wire.unread_bytes = UNREAD_BYTES_MAX + 1
    c.channel.write([b"x"])
    assert c.wire.end == ""  # the one answer that it has not had the time to read
    c.wire.unread_bytes = UNREAD_BYTES_MAX
    c.channel.pause_writing()
    c.channel.write([b"x"])
    assert c.wire.end == ""
    c.wire.unread_bytes += 1
    c.channel.write([b"x"])
    assert c.wire.end == "aborted"


def test_a_frame_has_begun_until_it_is_whole() -> None:
    c = Connected()
    c.owner.clock_ms = 5
    c.turn.end()
    c.channel.data_received(frame(2) + frame(3)[:9])
    assert (c.channel.begun_ms, c.turn.begun_bytes) == (5, 9)
    c.owner.clock_ms = 6
    c.turn.end()
    c.channel.data_received(frame(3)[9:12])
    assert (c.channel.begun_ms, c.turn.begun_bytes) == (5, 12)
    c.channel.data_received(frame(3)[12:] + frame(1) + frame(2)[:4])
    assert (c.channel.begun_ms, c.turn.begun_bytes) == (6, 4)
    c.channel.data_received(frame(2)[4:])
    assert (c.channel.begun_ms, c.turn.begun_bytes) == (None, 0)


def test_a_large_frame_is_not_taken_when_those_of_all_are_too_much() -> None:
    c = Connected()
    other, wire = channel_of(c.owner, c.turn), Wire()
    other.connection_made(wire)
    c.turn.begun_bytes = BEGUN_BYTES_MAX - SMALL_BYTES
    c.channel.data_received(large_frame[:SMALL_BYTES])
    other.data_received(frame(2)[:9])  # a small one is
    assert (c.wire.end, wire.end) == ("", "")
    c.channel.data_received(large_frame[SMALL_BYTES : SMALL_BYTES + 1])
    assert (c.wire.end, wire.end) == ("aborted", "")
    c.channel.connection_lost(None)
    other.connection_lost(None)
    assert c.turn.begun_bytes == BEGUN_BYTES_MAX - SMALL_BYTES


class Slow(Owner):
    """Takes too long over every command."""

    def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
        super().handle(channel, command)
        return True


def test_others_have_a_turn_when_a_read_takes_long() -> None:
    owner, wire = Slow(), Wire()
    channel = channel_of(owner, Round(owner.begin))
    channel.connection_made(wire)
    channel.data_received(frame(2) + frame(3) + frame(1))
    assert (owner.handled, wire.is_reading_paused) == ([2], True)
    channel.pause_writing()
    channel.go_on()  # not yet: the peer does not read
    assert owner.handled == [2]
    channel.resume_writing()
    assert (owner.handled, wire.is_reading_paused) == ([2, 3], True)
    channel.go_on()
    assert (wire.writes, wire.is_reading_paused) == ([b"taken;"], False)
    channel.go_on()
    channel.data_received(frame(4) + frame(5))
    channel.connection_lost(None)
    channel.go_on()
    assert owner.handled == [2, 3, 4]


large_frame = b"".join(encode(RemotingCommand(2, body=bytes(2 * SMALL_BYTES))))


def stranger(owner: Owner, turn: Round) -> tuple[Channel, Wire]:
    wire = Wire()
    fast = cast(FastService, owner)
    channel = Channel(owner, ChannelId(9), FrameLimits(), turn, fast, is_strange=True)
    channel.connection_made(wire)
    return channel, wire


def test_strangers_together_have_a_smaller_room() -> None:
    owner = Owner()
    turn = Round(owner.begin)
    one, wire = stranger(owner, turn)
    known, known_wire = stranger(owner, turn)
    known.welcome()
    turn.strange_bytes = STRANGE_BYTES_MAX - SMALL_BYTES
    one.data_received(large_frame[:SMALL_BYTES])  # as much as everybody may begin
    assert (wire.end, turn.strange_bytes) == ("", STRANGE_BYTES_MAX)
    one.data_received(large_frame[SMALL_BYTES : SMALL_BYTES + 1])
    known.data_received(large_frame[: SMALL_BYTES + 1])
    assert (wire.end, known_wire.end) == ("aborted", "")
    one.connection_lost(None)
    known.connection_lost(None)
    assert turn.strange_bytes == STRANGE_BYTES_MAX - SMALL_BYTES
    assert turn.begun_bytes == 0


def test_what_a_stranger_has_begun_is_not_counted_once_it_is_known() -> None:
    owner = Owner()
    turn = Round(owner.begin)
    channel, _ = stranger(owner, turn)
    channel.data_received(frame(2) + frame(3)[:9])
    assert turn.strange_bytes == 9
    channel.welcome()
    channel.welcome()
    assert (turn.strange_bytes, turn.begun_bytes) == (0, 9)
    channel.data_received(frame(3)[9:])
    assert (turn.strange_bytes, turn.begun_bytes) == (0, 0)


def test_a_frame_of_a_stranger_has_less_time() -> None:
    owner = Owner()
    turn = Round(owner.begin)
    channel, _ = stranger(owner, turn)
    assert not channel.is_slow(99_999, 30_000)
    channel.data_received(frame(2)[:9])
    assert not channel.is_slow(10_000, 30_000)
    assert channel.is_slow(10_001, 30_000)
    channel.welcome()
    assert not channel.is_slow(30_000, 30_000)
    assert channel.is_slow(30_001, 30_000)
