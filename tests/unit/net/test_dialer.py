import asyncio

from aerobee.net.dialer import Dialer
from aerobee.net.listener import bind, port_of
from aerobee.ports.service import Dial
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX, FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from tests.net_kit import CLOSE_ME, ECHO, SILENCE, Running, in_loop


class Asking:
    """A dialer and the answers it brought."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[tuple[object, RemotingCommand | None]] = asyncio.Queue()
        self.dialer = Dialer(
            lambda ticket, answer: self.answers.put_nowait((ticket, answer)), FrameLimits()
        )

    async def ask(
        self, port: int, code: int, body: bytes = b"", timeout_ms: int = 5000, flag: int = 0
    ) -> bytes | None:
        command = RemotingCommand(code, flag=flag, body=body)
        self.dialer.dial(Dial(f"127.0.0.1:{port}", command, timeout_ms, body))
        ticket, answer = await self.answers.get()
        assert ticket == body
        return bytes(answer.body) if answer is not None else None


def test_an_answer_comes_back_with_its_ticket_over_a_connection_that_is_kept() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            for body in (b"a", b"b", b"c"):
                assert await asking.ask(server.port, ECHO, body) == body
            assert len(server.service.opened) == 1
            await asking.dialer.close()

    in_loop(test)


def test_requests_in_flight_together_find_their_own_answers() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            for number in range(20):
                body = str(number).encode()
                address = f"127.0.0.1:{server.port}"
                asking.dialer.dial(Dial(address, RemotingCommand(ECHO, body=body), 5000, body))
            for _ in range(20):
                ticket, answer = await asking.answers.get()
                assert answer is not None
                assert answer.body == ticket
            await asking.dialer.close()

    in_loop(test)


def test_requests_that_need_a_connection_at_the_same_time_share_one() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            address = f"127.0.0.1:{server.port}"
            for _ in range(5):
                asking.dialer.dial(Dial(address, RemotingCommand(ECHO, body=b"x"), 5000, b"x"))
            for _ in range(5):
                await asking.answers.get()
            assert len(server.service.opened) == 1
            await asking.dialer.close()

    in_loop(test)


def test_what_the_other_side_asks_is_told_and_may_be_answered_later() -> None:
    async def test() -> None:
        asked: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        heard: asyncio.Queue[RemotingCommand] = asyncio.Queue()
        dialer = Dialer(
            lambda ticket, answer: None,
            FrameLimits(),
            asked=lambda address, command: asked.put_nowait((address, bytes(command.body))),
        )

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            frames = FrameReader(FrameLimits())
            for flag, body in ((ONEWAY_FLAG, b"a"), (0, b"b")):
                command = RemotingCommand(39, flag=flag, opaque=7, body=body)
                writer.writelines(encode(command))
            while data := await reader.read(4096):
                frames.receive(data)
                while frames.advance():
                    heard.put_nowait(decode(frames))
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        dialer.dial(Dial(address, RemotingCommand(ECHO, flag=ONEWAY_FLAG), 5000, "ticket"))
        assert [await asked.get(), await asked.get()] == [(address, b"a"), (address, b"b")]
        assert (await heard.get()).code == ECHO
        assert heard.empty()
        dialer.answer(address, reply_to(RemotingCommand(39, opaque=7), 4711))
        answer = await heard.get()
        assert (answer.code, answer.opaque, answer.is_response) == (4711, 7, True)
        dialer.answer("127.0.0.1:1", reply_to(RemotingCommand(39, opaque=8), 0))  # never opened
        await dialer.close()
        server.close()

    in_loop(test)


def test_nobody_there_is_no_answer() -> None:
    async def test() -> None:
        asking = Asking()
        (free,) = bind("127.0.0.1", 0)
        assert await asking.ask(port_of(free), ECHO) is None
        free.close()
        await asking.dialer.close()

    in_loop(test)


def test_too_late_is_no_answer_and_a_lost_connection_is_opened_again() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            assert await asking.ask(server.port, ECHO, b"first") == b"first"
            assert await asking.ask(server.port, SILENCE, timeout_ms=20) is None
            assert await asking.ask(server.port, CLOSE_ME) is None
            assert await asking.ask(server.port, ECHO, b"again") == b"again"
            assert len(server.service.opened) == 2
            await asking.dialer.close()

    in_loop(test)


def test_a_connection_that_leaves_two_requests_unanswered_is_replaced() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            assert await asking.ask(server.port, ECHO, b"first") == b"first"
            for _ in range(2):
                assert await asking.ask(server.port, SILENCE, timeout_ms=20) is None
            assert await asking.ask(server.port, ECHO, b"x") == b"x"
            assert len(server.service.opened) == 2
            await asking.dialer.close()

    in_loop(test)


def test_a_connection_that_brings_answers_in_between_is_kept() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            for _ in range(3):
                assert await asking.ask(server.port, ECHO, b"x") == b"x"
                assert await asking.ask(server.port, SILENCE, timeout_ms=20) is None
            assert len(server.service.opened) == 1
            await asking.dialer.close()

    in_loop(test)


def test_a_one_way_request_is_over_when_it_is_sent() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            assert await asking.ask(server.port, SILENCE, flag=ONEWAY_FLAG) is None
            assert await asking.ask(server.port, ECHO, b"x") == b"x"
            await asking.dialer.close()

    in_loop(test)


def test_waiting_for_the_answers_ends_with_the_last_one_or_when_told() -> None:
    async def test() -> None:
        asking = Asking()
        await asking.dialer.finish(60)  # nothing was asked
        async with Running() as server:
            address = f"127.0.0.1:{server.port}"
            asking.dialer.dial(Dial(address, RemotingCommand(ECHO), 60_000, b""))
            await asking.dialer.finish(60)
            assert asking.answers.qsize() == 1
            asking.dialer.dial(Dial(address, RemotingCommand(SILENCE), 60_000, b""))
            await asking.dialer.finish(0.01)
            assert asking.answers.qsize() == 1
            await asking.dialer.close()

    in_loop(test)


def test_what_no_frame_can_hold_is_not_answered_and_the_next_question_is() -> None:
    async def test() -> None:
        asking = Asking()
        async with Running() as server:
            assert await asking.ask(server.port, ECHO, bytes(FRAME_BYTES_MAX)) is None
            assert await asking.ask(server.port, ECHO, b"x") == b"x"
            await asking.dialer.close()

    in_loop(test)
