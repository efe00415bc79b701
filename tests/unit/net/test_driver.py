"""A driver between real sockets and a service.

Longer than 500 lines because each of these is small and shares the same few helpers.
"""

import asyncio
import socket
import struct
import threading
from typing import Any

import pytest

from aerobee.net.driver import (
    FRAME_MS_MAX,
    IDLE_MS_MAX,
    REST_MS_MAX,
    STOP_SECONDS_MAX,
    TICK_SECONDS,
    TURN_MS_MAX,
    UNREAD_MS_MAX,
)
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Dial, Effects, Peer, Reply
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.sim.clock import SimClock
from tests.net_kit import CLOSE_ME, DIAL, ECHO, SILENCE, EchoService, Running, in_loop


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


def test_a_peer_that_does_not_read_its_answers_is_dropped_in_time() -> None:
    async def test() -> None:
        clock = SimClock()
        async with Running(clock=clock) as server:
            client = await Client.open(server.port)
            while not client.writer.transport.get_write_buffer_size():
                client.send(ECHO, bytes(1 << 20))  # into the sockets' buffers, and then no more
                await asyncio.wait([asyncio.ensure_future(client.writer.drain())], timeout=0.2)
            clock.advance(UNREAD_MS_MAX + 1)
            await server.service.closed.get()
            client.writer.transport.abort()

    in_loop(test)


def test_a_frame_that_does_not_come_whole_in_time_ends_its_connection() -> None:
    async def test() -> None:
        clock = SimClock()
        async with Running(clock=clock) as server:
            client = await Client.open(server.port)
            client.send(ECHO)
            assert await client.read() is not None
            client.writer.write(struct.pack(">iI", 200, 100))
            other = await Client.open(server.port)
            other.send(ECHO)
            assert await other.read() is not None
            for _ in range(31):
                clock.advance(FRAME_MS_MAX // 30)
                client.writer.write(b"x")  # not silent
                other.send(ECHO)
                if await other.read() is None or client.reader.at_eof():
                    break
            assert await client.read() is None
            other.send(ECHO)
            assert await other.read() is not None
            await other.close()
            client.writer.transport.abort()

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


class Patient(EchoService):
    """Has nothing to do for a day; says when it is called."""

    def __init__(self, rest_ms: int = 86_400_000) -> None:
        super().__init__()
        self.rest = rest_ms
        self.ticked: asyncio.Queue[float] = asyncio.Queue()

    def on_tick(self, now: Now) -> Effects:
        self.ticked.put_nowait(asyncio.get_running_loop().time())
        return super().on_tick(now)

    def rest_ms(self, now: Now) -> int:
        return self.rest

    async def pause(self) -> float:
        """How long it was left alone, after the tick that comes next."""
        began = await self.ticked.get()
        return await self.ticked.get() - began


def test_a_service_with_nothing_to_do_is_left_alone_but_not_for_ever() -> None:
    async def test() -> None:
        service = Patient()
        async with Running(service=service):
            assert await service.pause() > REST_MS_MAX / 1000 * 0.9

    in_loop(test)


def test_a_service_that_has_something_to_do_is_called_when_it_said() -> None:
    async def test() -> None:
        for rest_ms in (0, 30):
            service = Patient(rest_ms)
            async with Running(service=service):
                # A busy machine is late, by less than a service without a wish would wait.
                assert min([await service.pause() for _ in range(5)]) < REST_MS_MAX / 1000 / 2

    in_loop(test)


def test_a_service_that_has_more_to_do_is_called_again_at_once() -> None:
    async def test() -> None:
        service = Patient(-1)
        async with Running(service=service) as server:
            assert min([await service.pause() for _ in range(20)]) < TICK_SECONDS
            client = await Client.open(server.port)  # and others have their turn
            await client.close()
            await service.closed.get()

    in_loop(test)


def test_whatever_happens_ends_the_rest_within_milliseconds() -> None:
    async def test() -> None:
        service = Patient()
        async with Running(service=service) as server, Running() as other:
            assert service.ticked.qsize() == 1
            began = await service.ticked.get()
            client = await Client.open(server.port)
            first = await service.ticked.get()  # it opened
            client.send(SILENCE)
            second = await service.ticked.get()
            client.send(DIAL, f"127.0.0.1:{other.port}".encode())
            await service.answers.get()
            third = await service.ticked.get()
            await client.close()
            await service.closed.get()
            # Each of the four would have waited for a second.
            assert await service.ticked.get() - began < 3 * REST_MS_MAX / 1000
            assert began < first < second < third

    in_loop(test)


def test_disk_threads_call_for_a_tick_at_once() -> None:
    async def test() -> None:
        service = Patient()
        async with Running(service=service) as server:
            began = await service.ticked.get()
            for _ in range(5):
                thread = threading.Thread(target=server.driver.tick_soon)
                thread.start()
                await service.ticked.get()
                thread.join()
            assert asyncio.get_running_loop().time() - began < 4 * REST_MS_MAX / 1000
        server.driver.tick_soon()  # nobody is there any more, and nothing happens
        assert service.ticked.empty()

    in_loop(test)


class Ending(EchoService):
    """Answers a silent request when it ends, and says goodbye to another server."""

    def __init__(self, other_port: int) -> None:
        super().__init__()
        self.other_port = other_port
        self.waiting: list[tuple[ChannelId, RemotingCommand]] = []
        self.is_stopped = False
        self.is_late = False
        self.goodbye = ECHO

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        self.is_late = self.is_stopped
        if command.code == SILENCE:
            self.waiting.append((channel, command))
        return super().on_command(channel, command, now)

    def stop(self, now: Now) -> Effects:
        self.is_stopped = True
        goodbye = RemotingCommand(self.goodbye, body=b"goodbye")
        effects: Effects = [Dial(f"127.0.0.1:{self.other_port}", goodbye, 60_000, "ticket")]
        for channel, command in self.waiting:
            effects.append(Reply(channel, RemotingCommand(7, flag=1, opaque=command.opaque)))
        return effects


def test_a_stop_lets_the_service_say_goodbye_and_answer() -> None:
    async def test() -> None:
        async with Running() as other:
            service = Ending(other.port)
            async with Running(service=service) as server:
                client = await Client.open(server.port)
                client.send(SILENCE)
                client.send(ECHO)
                assert await client.read() is not None
            answer = await client.read()
            assert answer is not None
            assert answer.code == 7
            assert await client.read() is None
            farewell = service.answers.get_nowait()
            assert farewell is not None
            assert bytes(farewell.body) == b"goodbye"
            await client.close()

    in_loop(test)


def test_a_goodbye_that_nobody_answers_does_not_hold_up_the_stop() -> None:
    async def test() -> None:
        async with Running() as other:
            service = Ending(other.port)
            service.goodbye = SILENCE
            async with Running(service=service):
                began = asyncio.get_running_loop().time()
            assert asyncio.get_running_loop().time() - began < STOP_SECONDS_MAX

    in_loop(test)


def test_nothing_is_read_any_more_once_the_service_has_stopped() -> None:
    async def test() -> None:
        async with Running() as other:
            service = Ending(other.port)
            service.goodbye = SILENCE  # the stop takes a moment
            server = Running(service=service)
            await server.__aenter__()
            client = await Client.open(server.port)
            client.send(ECHO)
            assert await client.read() is not None
            stopping = asyncio.create_task(server.driver.stop())
            while not service.is_stopped:
                await asyncio.wait([stopping], timeout=0.001)
            client.send(ECHO)
            assert await client.read() is None
            await stopping
            assert not service.is_late
            client.writer.close()

    in_loop(test)


def test_a_connection_that_the_loop_has_accepted_before_a_stop_is_not_served_after_it() -> None:
    class Last(Ending):
        def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects:
            self.is_late |= self.is_stopped
            return super().on_open(channel, peer, now)

    async def test() -> None:
        async with Running() as other:
            # The loop needs some turns from the accept to the channel: a stop comes at each.
            for turns in range(6):
                service = Last(other.port)
                server = await Running(service=service).__aenter__()
                with socket.create_connection(("127.0.0.1", server.port)):
                    await after_turns(turns)
                    await asyncio.create_task(server.driver.stop())
                assert not service.is_late, turns
                assert server.driver.connections() == 0

    in_loop(test)


async def after_turns(turns: int) -> None:
    """Wait for so many turns of the loop."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()

    def count(left: int) -> None:
        if left:
            loop.call_soon(count, left - 1)
        else:
            over.set_result(None)

    count(turns)
    await over


def test_a_service_that_fails_to_stop_does_not_keep_its_port() -> None:
    class Broken(EchoService):
        def stop(self, now: Now) -> Effects:
            raise OSError("disk")

    async def test() -> None:
        async with Running(service=Broken()) as server:
            client = await Client.open(server.port)
        assert await client.read() is None
        await client.close()
        socket.create_server(("127.0.0.1", server.port)).close()

    in_loop(test)


class Unspeakable(EchoService):
    """Answers with what no frame can hold, and tells somebody else something at the same time."""

    def __init__(self, fields: dict[str, Any], body: bytes = b"") -> None:
        super().__init__()
        self.fields = fields
        self.body = body
        self.is_due = False

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        if command.code == SILENCE:
            self.is_due = True
            return []
        if command.code == ECHO:
            return super().on_command(channel, command, now)
        return self._said(channel)

    def on_tick(self, now: Now) -> Effects:
        is_due, self.is_due = self.is_due, False
        return self._said(ChannelId(1)) if is_due else super().on_tick(now)

    def _said(self, channel: ChannelId) -> Effects:
        asked = RemotingCommand(7, ext_fields=self.fields, body=self.body)
        answer = RemotingCommand(0, flag=1, opaque=9, ext_fields=self.fields, body=self.body)
        other = RemotingCommand(8, flag=1)
        return [Reply(channel, asked), Reply(channel, answer), Reply(channel, other)]


@pytest.mark.parametrize("when", [CLOSE_ME, SILENCE])
@pytest.mark.parametrize(
    ("fields", "body", "remark"),
    [
        ({}, bytes(FRAME_BYTES_MAX), "the answer cannot be sent: a frame of "),
        ({"a": "x" * 300_000}, b"", "the answer cannot be sent: a header of "),
        ({"a": "\ud800"}, b"", "the answer cannot be sent: a header with half a surrogate pair"),
        ({"a": None}, b"", "the answer cannot be sent: None in a header"),
    ],
)
def test_what_cannot_be_written_is_an_error_to_who_asked_and_to_nobody_else(
    fields: dict[str, Any], body: bytes, remark: str, when: int
) -> None:
    async def test() -> None:
        async with Running(service=Unspeakable(fields, body)) as server:
            client = await Client.open(server.port)
            client.send(when)
            refusal, other = await client.read(), await client.read()
            assert refusal is not None
            assert other is not None
            assert (refusal.code, refusal.opaque, refusal.is_response) == (1, 9, True)
            assert refusal.remark.startswith(remark)
            assert other.code == 8
            client.send(ECHO)
            assert await client.read() is not None
            assert server.failures.empty()
            await client.close()

    in_loop(test)


def test_who_asks_for_much_at_once_does_not_keep_others_waiting() -> None:
    class Slow(EchoService):
        """What it is asked takes a while, unless it is nothing."""

        def __init__(self, clock: SimClock) -> None:
            super().__init__()
            self.clock = clock
            self.order: list[bytes] = []

        def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
            self.order.append(bytes(command.body))
            if command.body:
                self.clock.advance(TURN_MS_MAX)
            return super().on_command(channel, command, now)

    async def test() -> None:
        clock = SimClock()
        service = Slow(clock)
        async with Running(clock=clock, service=service) as server:
            greedy, other = await Client.open(server.port), await Client.open(server.port)
            for client in (greedy, other):  # both are known
                client.send(ECHO)
                assert await client.read() is not None
            greedy.writer.write(
                b"".join(b"".join(encode(RemotingCommand(ECHO, body=b"slow"))) for _ in range(50))
            )
            other.send(ECHO)
            assert await other.read() is not None
            assert len(service.order) < 20
            for _ in range(50):
                assert await greedy.read() is not None
            await greedy.close()
            await other.close()

    in_loop(test)
