import asyncio
import contextlib
import tracemalloc
from typing import Self

from aerobee.net.channel import SMALL_BYTES, STRANGE_BYTES_MAX
from aerobee.net.driver import Driver
from aerobee.net.http2_channel import IDLE_MS_MAX, MESSAGE_MS_MAX, UNREAD_BYTES_MAX
from aerobee.net.listener import bind, port_of
from aerobee.net.round import Round
from aerobee.ports.clock import Now
from aerobee.ports.rpc import (
    CallId,
    CallStart,
    CallWrite,
    EndCall,
    FlushCalls,
    RpcConnectionId,
)
from aerobee.ports.service import Effects, Peer
from aerobee.protocol.grpc.framing import ANSWER_HEADERS, OK_TRAILERS, frame_message
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.answer_frames import AnswerFrames
from aerobee.protocol.http2.connection import Http2Connection
from aerobee.protocol.http2.frames import ErrorCode, frame
from aerobee.protocol.remoting.frame import FrameLimits
from aerobee.sim.clock import SimClock
from tests.http2_kit import HELLO, Frame, frames_in, headers_in, open_stream, unary
from tests.net_kit import EchoService, in_loop

ECHO, HOLD, SHOUT, FLOOD = "/s/Echo", "/s/Hold", "/s/Shout", "/s/Flood"
FLOOD_MESSAGES, FLOOD_BYTES = 128, 1 << 20


class Shouts:
    """Takes calls in place, and answers them in capitals."""

    paths = frozenset({SHOUT})

    def __init__(self) -> None:
        self.taken = 0
        self.seen: list[Http2Connection] = []

    def take_all(self, http2: Http2Connection, connection: RpcConnectionId, now: Now) -> None:
        self.seen.append(http2)
        around = AnswerFrames(ANSWER_HEADERS, OK_TRAILERS)
        while http2.find_call():
            answer = http2.input[http2.call_start : http2.call_stop].upper()
            if http2.answer_bytes_max() < len(answer) + 5:
                break
            stream = http2.call_stream
            whole = around.before(stream, len(answer)) + answer + around.behind(stream)
            http2.reserve(len(answer) + 5)
            http2.write_answers(whole)
            http2.pass_call()
            self.taken += 1


class EchoCalls(EchoService):
    """Answers each message of a call with itself, and ends a call that the client has ended."""

    message_bytes_max = 1_000

    def __init__(self) -> None:
        super().__init__()
        self.shouts = Shouts()
        self.starts: list[CallStart] = []
        self.opens = True
        self.is_open = True
        self.news: asyncio.Queue[tuple[str, int]] = asyncio.Queue()

    @property
    def rpc(self) -> Self:
        return self

    @property
    def in_place(self) -> Shouts:
        return self.shouts

    def may_open(self, connection: RpcConnectionId, peer: Peer) -> bool:
        return self.opens

    def knows(self, start: CallStart, now: Now) -> bool:
        return self.is_open

    def on_call(self, start: CallStart, now: Now) -> Effects:
        self.starts.append(start)
        return []

    def on_call_message(self, call: CallId, message: bytes, now: Now) -> Effects:
        path = self._path(call)
        if path == FLOOD:
            return [CallWrite(call, bytes(FLOOD_BYTES))] * FLOOD_MESSAGES
        return [CallWrite(call, message.upper() if path == SHOUT else message)]

    def _path(self, call: CallId) -> str:
        return next(one.path for one in self.starts if one.call == call)

    def on_call_half_closed(self, call: CallId, now: Now) -> Effects:
        return [EndCall(call)] if self._path(call) in (ECHO, SHOUT) else []

    def on_call_cancelled(self, call: CallId, now: Now) -> Effects:
        self.news.put_nowait(("cancelled", call))
        return []

    def on_rpc_closed(self, connection: RpcConnectionId, now: Now) -> Effects:
        self.news.put_nowait(("closed", connection))
        return []


class Serving:
    """A driver whose service answers calls, and a client by hand."""

    def __init__(self, connections_max: int = 100) -> None:
        self.service = EchoCalls()
        self.clock = SimClock()
        self.driver = Driver(self.service, self.clock, FrameLimits(), connections_max)
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        sockets = bind("127.0.0.1", 0)
        self.port = port_of(sockets[0])
        await self.driver.start([], lambda error: None, (), sockets)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.driver.stop()
        for writer in self._writers:
            writer.close()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._writers.append(writer)
        return reader, writer

    def pass_time(self, ms: int) -> None:
        self.clock.advance(ms)
        self.driver.tick_soon()


async def read_until(reader: asyncio.StreamReader, kind: int, stream: int) -> list[Frame]:
    """The frames up to the first of a kind that ends a stream, or concerns all."""
    data = b""
    while True:
        found = frames_in(data)
        for one in found:
            ends = kind != frames.HEADERS or one.flags & frames.END_STREAM
            if one.kind == kind and one.stream == stream and ends:
                return found
        more = await reader.read(65_536)
        assert more, found
        data += more


def test_calls_are_answered_on_their_streams() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            writer.write(HELLO + unary(1, ECHO, b"first") + unary(3, ECHO, b"second"))
            found = await read_until(reader, frames.HEADERS, 3)
            assert headers_in(found, 1) == [
                {":status": "200", "content-type": "application/grpc"},
                {"grpc-status": "0"},
            ]
            data = [(one.stream, one.payload[5:]) for one in found if one.kind == frames.DATA]
            assert data == [(1, b"first"), (3, b"second")]
            start = server.service.starts[0]
            assert (start.path, start.peer.host) == (ECHO, "127.0.0.1")
            assert server.driver.connections() == 1

    in_loop(test)


def test_calls_that_are_taken_in_place_are_answered_like_any_other_and_in_their_order() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            # The first shows its headers; the next ones have known headers.
            writer.write(HELLO + unary(1, SHOUT, b"first"))
            found = await read_until(reader, frames.HEADERS, 1)
            calls = unary(3, SHOUT, b"second") + unary(5, ECHO, b"third")
            writer.write(calls + unary(7, SHOUT, b"fourth") + unary(9, SHOUT, b"fifth"))
            found += await read_until(reader, frames.HEADERS, 9)
            for stream in (1, 3, 5, 7, 9):
                assert headers_in(found, stream) == [
                    {":status": "200", "content-type": "application/grpc"},
                    {"grpc-status": "0"},
                ]
            data = [(one.stream, one.payload) for one in found if one.kind == frames.DATA]
            assert data == [
                (1, frame_message(b"FIRST")),
                (3, frame_message(b"SECOND")),
                (5, frame_message(b"third")),
                (7, frame_message(b"FOURTH")),
                (9, frame_message(b"FIFTH")),
            ]
            assert server.service.shouts.taken == 3
            assert [start.path for start in server.service.starts] == [SHOUT, ECHO]

    in_loop(test)


def test_an_answer_for_which_the_peer_has_no_room_waits_for_it() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            writer.write(HELLO + unary(1, SHOUT, b"first"))
            await read_until(reader, frames.HEADERS, 1)
            small = frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 3)])
            writer.write(small + unary(3, SHOUT, b"answer"))
            first = await read_until(reader, frames.DATA, 3)
            assert [one.payload for one in first if one.kind == frames.DATA] == [bytes(3)]
            writer.write(frames.window_frame(3, 100))
            rest = await read_until(reader, frames.HEADERS, 3)
            data = b"".join(one.payload for one in rest if one.kind == frames.DATA)
            assert data == frame_message(b"ANSWER")[3:]
            assert server.service.shouts.taken == 0

    in_loop(test)


def test_answers_that_were_written_into_a_connection_go_out_when_the_service_says_so() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            writer.write(HELLO + unary(1, ECHO, b"x"))
            await read_until(reader, frames.HEADERS, 1)
            http2 = server.service.shouts.seen[0]
            http2.write_answers(frame(frames.PING, 0, 0, b"answered"))
            calls = server.driver._calls
            assert calls is not None
            calls.carry_out(FlushCalls(RpcConnectionId(1)))
            calls.carry_out(FlushCalls(RpcConnectionId(99)))  # it is closed already
            found = await read_until(reader, frames.PING, 0)
            assert found[-1].payload == b"answered"
            calls.carry_out(FlushCalls(RpcConnectionId(1), is_broken=True))
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""

    in_loop(test)


def test_a_request_that_is_no_call_is_answered_415() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            writer.write(HELLO + open_stream(1, ECHO, ("content-type", "text/html"), flags=1))
            found = await read_until(reader, frames.HEADERS, 1)
            assert headers_in(found, 1) == [{":status": "415"}]

    in_loop(test)


def test_a_message_that_is_too_long_ends_its_call_alone() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            writer.write(HELLO + unary(1, ECHO, b"x" * 1_001) + unary(3, ECHO, b"ok"))
            found = await read_until(reader, frames.HEADERS, 3)
            assert headers_in(found, 1)[0]["grpc-status"] == "8"
            assert headers_in(found, 3)[1]["grpc-status"] == "0"

    in_loop(test)


def test_bytes_that_are_no_http2_close_their_connection_alone() -> None:
    async def test() -> None:
        async with Serving() as server:
            good_reader, good = await server.connect()
            good.write(HELLO)
            bad_reader, bad = await server.connect()
            bad.write(b"GET / HTTP/1.1\r\n\r\n")
            found = frames_in(await bad_reader.read())
            assert found[-1].kind == frames.GOAWAY
            good.write(unary(1, ECHO, b"still here"))
            await read_until(good_reader, frames.HEADERS, 1)

    in_loop(test)


def test_calls_of_a_closed_connection_are_cancelled() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            writer.write(HELLO + unary(1, HOLD, b"x"))
            await read_until(reader, frames.DATA, 1)
            writer.close()
            assert (await server.service.news.get())[0] == "cancelled"
            assert (await server.service.news.get())[0] == "closed"

    in_loop(test)


def test_a_connection_without_calls_is_closed_after_a_while_and_one_with_a_call_is_not() -> None:
    async def test() -> None:
        async with Serving() as server:
            busy_reader, busy = await server.connect()
            busy.write(HELLO + unary(1, HOLD, b"x"))
            await read_until(busy_reader, frames.DATA, 1)
            idle_reader, idle = await server.connect()
            idle.write(HELLO + unary(1, ECHO, b"x"))
            await read_until(idle_reader, frames.HEADERS, 1)
            server.pass_time(IDLE_MS_MAX + 2_000)
            await idle_reader.read()
            assert server.driver.connections() == 1

    in_loop(test)


def test_a_message_that_does_not_come_whole_is_given_up() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            half = frame(frames.DATA, 0, 1, b"\0\0\0\0\x64half")
            writer.write(HELLO + open_stream(1, ECHO) + half + unary(3, HOLD, b"x"))
            await read_until(reader, frames.DATA, 3)
            server.pass_time(MESSAGE_MS_MAX + 2_000)
            found = await read_until(reader, frames.RST_STREAM, 1)
            assert found[-1].payload == ErrorCode.CANCEL.to_bytes(4, "big")
            assert (await server.service.news.get())[0] == "cancelled"

    in_loop(test)


def test_a_call_that_never_says_anything_is_given_up_and_one_that_said_something_is_not() -> None:
    async def test() -> None:
        async with Serving() as server:
            reader, writer = await server.connect()
            spoken = open_stream(3, HOLD) + frame(frames.DATA, 0, 3, frame_message(b"x"))
            writer.write(HELLO + open_stream(1, HOLD) + spoken)
            await read_until(reader, frames.DATA, 3)
            server.pass_time(MESSAGE_MS_MAX + 2_000)
            found = await read_until(reader, frames.RST_STREAM, 1)
            assert [one.stream for one in found if one.kind == frames.RST_STREAM] == [1]
            assert await server.service.news.get() == ("cancelled", 1)
            writer.write(frame(frames.DATA, 0, 3, frame_message(b"y")))
            await read_until(reader, frames.DATA, 3)

    in_loop(test)


def test_connections_beyond_the_limit_are_refused() -> None:
    async def test() -> None:
        async with Serving(connections_max=1) as server:
            first_reader, first = await server.connect()
            first.write(HELLO + unary(1, ECHO, b"x"))
            await read_until(first_reader, frames.HEADERS, 1)
            second_reader, _ = await server.connect()
            with contextlib.suppress(ConnectionError):
                assert await second_reader.read() == b""

    in_loop(test)


def test_a_connection_that_the_service_does_not_want_is_closed() -> None:
    async def test() -> None:
        async with Serving() as server:
            server.service.opens = False
            reader, writer = await server.connect()
            writer.write(HELLO + unary(1, ECHO, b"first"))
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            assert server.service.starts == []
            assert server.driver.connections() == 0

    in_loop(test)


def test_strangers_share_a_small_room_for_what_has_begun() -> None:
    async def test() -> None:
        async with Serving() as server:
            server.service.message_bytes_max = 10 * SMALL_BYTES
            turn: Round = server.driver._round
            turn.strange_bytes = STRANGE_BYTES_MAX - SMALL_BYTES // 2
            pieces = [bytes(16_000)] * 6
            length = (sum(map(len, pieces))).to_bytes(4, "big")
            begun = open_stream(1, ECHO) + frame(frames.DATA, 0, 1, b"\0" + length)
            data = b"".join(frame(frames.DATA, 0, 1, piece) for piece in pieces)
            more = (1 << 20).to_bytes(4, "big")  # room for the echo
            begun += frame(frames.WINDOW_UPDATE, 0, 0, more) + frame(
                frames.WINDOW_UPDATE, 0, 1, more
            )
            for is_open in (True, False):
                server.service.is_open = is_open
                reader, writer = await server.connect()
                writer.write(HELLO + begun + data)
                if is_open:
                    writer.write(frame(frames.DATA, frames.END_STREAM, 1, b""))
                found = await read_until(reader, frames.HEADERS, 1)
                status = headers_in(found, 1)[-1]["grpc-status"]
                assert status == ("0" if is_open else "8"), headers_in(found, 1)
            assert turn.strange_bytes == STRANGE_BYTES_MAX - SMALL_BYTES // 2

    in_loop(test)


def test_a_peer_that_gives_room_and_reads_nothing_is_dropped() -> None:
    """What is written for it at once is more than is kept; its neighbour is served."""

    async def test() -> None:
        async with Serving() as serving:
            reader, writer = await serving.connect()
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            room = frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 2**31 - 1)])
            window = frames.window_frame(0, 2**31 - 1 - 65_535)
            tracemalloc.start()
            writer.write(HELLO + room + window + unary(1, FLOOD, b"x"))
            async with asyncio.timeout(60):
                heard = {(await serving.service.news.get())[0] for _ in range(2)}
            peak_bytes = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert heard == {"cancelled", "closed"}
            assert peak_bytes < 2 * UNREAD_BYTES_MAX < FLOOD_MESSAGES * FLOOD_BYTES
            reader, writer = await serving.connect()
            writer.write(HELLO + unary(1, ECHO, b"here"))
            found = await read_until(reader, frames.HEADERS, 1)
            assert frame_message(b"here") in [one.payload for one in found]

    in_loop(test)
