import asyncio
from typing import cast

import pytest

from aerobee.errors import ConnectionLost, RequestTimeout
from aerobee.net.line import Line, open_line
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from tests.net_kit import CLOSE_ME, ECHO, SILENCE, Running, in_loop


async def _line(server: Running) -> Line:
    return await open_line(f"127.0.0.1:{server.port}", FrameLimits())


def test_many_requests_share_a_line_and_each_gets_its_answer() -> None:
    async def test() -> None:
        async with Running() as server:
            line = await _line(server)
            bodies = [str(number).encode() for number in range(100)]
            asked = [line.ask(RemotingCommand(ECHO, body=body), 5) for body in bodies]
            assert [answer.body for answer in await asyncio.gather(*asked)] == bodies
            line.close()

    in_loop(test)


def test_no_answer_in_time_says_so_and_the_line_goes_on() -> None:
    async def test() -> None:
        async with Running() as server:
            line = await _line(server)
            with pytest.raises(RequestTimeout) as caught:
                await line.ask(RemotingCommand(SILENCE), 0.01)
            assert caught.value.address == line.address
            assert (await line.ask(RemotingCommand(ECHO, body=b"on"), 5)).body == b"on"
            line.close()

    in_loop(test)


def test_whoever_waits_when_the_line_breaks_is_told() -> None:
    async def test() -> None:
        async with Running() as server:
            line = await _line(server)
            first = line.ask(RemotingCommand(SILENCE), 5)
            with pytest.raises(ConnectionLost):
                await line.ask(RemotingCommand(CLOSE_ME), 5)
            with pytest.raises(ConnectionLost):
                await first
            assert not line.is_open
            with pytest.raises(ConnectionLost):
                await line.ask(RemotingCommand(ECHO), 5)
            with pytest.raises(ConnectionLost):
                line.tell(RemotingCommand(ECHO, flag=ONEWAY_FLAG))

    in_loop(test)


def test_one_who_gives_up_leaves_the_others_alone() -> None:
    async def test() -> None:
        async with Running() as server:
            line = await _line(server)
            given_up = line.ask(RemotingCommand(ECHO, body=b"a"), 5)
            kept = line.ask(RemotingCommand(ECHO, body=b"b"), 5)
            given_up.cancel()
            assert (await kept).body == b"b"
            line.close()

    in_loop(test)


class _Asking(asyncio.Protocol):
    """A server that asks, and keeps what it hears."""

    def __init__(self, heard: "asyncio.Queue[bytes]", says: bytes) -> None:
        self._heard = heard
        self._says = says

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.WriteTransport, transport).write(self._says)

    def data_received(self, data: bytes) -> None:
        self._heard.put_nowait(data)


def test_what_the_other_side_asks_is_answered_over_the_same_line() -> None:
    async def test() -> None:
        heard: asyncio.Queue[bytes] = asyncio.Queue()
        asks = b"".join(encode(RemotingCommand(40, opaque=7, body=b"who?")))
        server = await asyncio.get_running_loop().create_server(
            lambda: _Asking(heard, asks), "127.0.0.1", 0
        )
        port = server.sockets[0].getsockname()[1]

        def asked(line: Line, command: RemotingCommand) -> None:
            line.tell(reply_to(command, 0, body=bytes(command.body) + b" me"))

        line = await open_line(f"127.0.0.1:{port}", FrameLimits(), asked)
        frames = FrameReader()
        frames.receive(await heard.get())
        assert frames.advance()
        answer = decode(frames)
        assert (answer.opaque, answer.is_response, bytes(answer.body)) == (7, True, b"who? me")
        line.close()
        server.close()

    in_loop(test)


def test_bytes_that_are_no_frame_close_the_line() -> None:
    async def test() -> None:
        heard: asyncio.Queue[bytes] = asyncio.Queue()
        server = await asyncio.get_running_loop().create_server(
            lambda: _Asking(heard, b"HTTP/1.1 200 OK\r\n\r\n"), "127.0.0.1", 0
        )
        port = server.sockets[0].getsockname()[1]
        line = await open_line(f"127.0.0.1:{port}", FrameLimits())
        with pytest.raises(ConnectionLost):
            await line.ask(RemotingCommand(ECHO), 5)
        server.close()

    in_loop(test)
