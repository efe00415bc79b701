import asyncio
import socket

from aerobee.net.driver import IDLE_MS_MAX, STOP_SECONDS_MAX
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.remoting_command import RemotingCommand, decode, encode
from aerobee.sim.clock import SimClock
from tests.net_kit import CLOSE_ME, DIAL, ECHO, Running, in_loop


class Client:
    """A connection to a driver."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.frames = FrameReader()

    @classmethod
    async def open(cls, port: int) -> "Client":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def send(self, code: int, body: bytes = b"") -> None:
        self.writer.write(b"".join(encode(RemotingCommand(code, opaque=9, body=body))))

    async def read(self) -> RemotingCommand | None:
        """The next command; None at the end."""
        while not self.frames.advance():
            try:
                data = await self.reader.read(65536)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.frames.receive(data)
        return decode(self.frames)

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


def test_what_the_service_answers_reaches_the_one_who_asked() -> None:
    async def test() -> None:
        async with Running() as server:
            clients = [await Client.open(server.port) for _ in range(3)]
            for number, client in enumerate(clients):
                client.send(ECHO, str(number).encode())
            for number, client in enumerate(clients):
                answer = await client.read()
                assert answer is not None
                assert (bytes(answer.body), answer.opaque) == (str(number).encode(), 9)
                await client.close()
            gone = {await server.service.closed.get() for _ in clients}
            assert len(gone) == 3

    in_loop(test)


def test_a_channel_is_closed_when_the_service_wants_it() -> None:
    async def test() -> None:
        async with Running() as server:
            client = await Client.open(server.port)
            client.send(CLOSE_ME)
            assert await client.read() is None
            await server.service.closed.get()
            await client.close()

    in_loop(test)


def test_a_service_asks_others_through_its_driver() -> None:
    async def test() -> None:
        async with Running() as other, Running() as server:
            client = await Client.open(server.port)
            client.send(DIAL, f"127.0.0.1:{other.port}".encode())
            answer = await server.service.answers.get()
            assert answer is not None
            assert bytes(answer.body) == b"dialed"
            await client.close()

    in_loop(test)


def test_one_connection_too_many_is_refused_and_the_others_go_on() -> None:
    async def test() -> None:
        async with Running(connections_max=1) as server:
            first = await Client.open(server.port)
            first.send(ECHO)
            assert await first.read() is not None
            second = await Client.open(server.port)
            assert await second.read() is None
            assert len(server.service.opened) == 1
            assert server.service.closed.empty()
            first.send(ECHO)
            assert await first.read() is not None
            await first.close()
            second.writer.close()

    in_loop(test)


def test_a_peer_that_says_nothing_for_two_minutes_is_dropped() -> None:
    async def test() -> None:
        clock = SimClock()
        async with Running(clock=clock) as server:
            client = await Client.open(server.port)
            client.send(ECHO)
            assert await client.read() is not None
            clock.advance(IDLE_MS_MAX + 1)
            assert await client.read() is None
            await client.close()

    in_loop(test)


def test_a_tick_that_fails_is_reported() -> None:
    async def test() -> None:
        async with Running() as server:
            server.service.fault = OSError("disk")
            assert str(await server.failures.get()) == "disk"

    in_loop(test)


def test_a_stop_closes_every_connection_and_the_port() -> None:
    async def test() -> None:
        async with Running() as server:
            client = await Client.open(server.port)
            client.send(ECHO)
            assert await client.read() is not None
            stop_began = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - stop_began < STOP_SECONDS_MAX
        assert await client.read() is None
        await client.close()
        taken = socket.create_server(("127.0.0.1", server.port))
        taken.close()

    in_loop(test)
