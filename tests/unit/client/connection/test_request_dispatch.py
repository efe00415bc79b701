import asyncio

import pytest

from aerobee.client.connection.request_dispatch import RequestDispatch
from aerobee.errors import RemoteProtocolError
from aerobee.net.line import Line
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, reply_to
from tests.client_kit import turn
from tests.net_kit import in_loop


class _Wire(asyncio.Transport):
    """What a line wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = FrameReader()

    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.frames.receive(data)


async def _answers(served: RequestDispatch, *commands: RemotingCommand) -> list[tuple[int, int]]:
    """Opaque and code of each answer."""
    line = Line("a:1", FrameLimits())
    wire = _Wire()
    line.connection_made(wire)
    for command in commands:
        served.serve(line, command)
    await turn()
    found = []
    while wire.frames.advance():
        answer = decode(wire.frames)
        found.append((answer.opaque, answer.code))
    return found


def test_a_request_goes_to_the_one_that_it_is_for() -> None:
    async def test() -> None:
        served = RequestDispatch()
        for group in ("a", "b"):

            def handler(line: Line, command: RemotingCommand, group: str = group) -> bool:
                if command.ext_fields["group"] != group:
                    return False
                line.tell(reply_to(command, ord(group)))
                return True

            served.add(7, handler)
        asked = [
            RemotingCommand(7, opaque=number, ext_fields={"group": group})
            for number, group in enumerate("bac")
        ]
        assert await _answers(served, *asked) == [(0, ord("b")), (1, ord("a")), (2, 3)]

    in_loop(test)


@pytest.mark.parametrize("flag", [0, ONEWAY_FLAG])
def test_what_nobody_takes_is_refused_unless_nobody_waits(flag: int) -> None:
    async def test() -> None:
        answers = await _answers(RequestDispatch(), RemotingCommand(7, opaque=5, flag=flag))
        assert answers == ([] if flag else [(5, 3)])

    in_loop(test)


def test_a_request_whose_header_is_too_large_reaches_nobody_and_is_refused() -> None:
    async def test() -> None:
        asked: list[RemotingCommand] = []

        def handler(line: Line, command: RemotingCommand) -> bool:
            asked.append(command)
            return True

        served = RequestDispatch()
        served.add(7, handler)
        command = RemotingCommand(7, opaque=5)
        command.excess = "more than 128 fields"
        assert await _answers(served, command) == [(5, 3)]
        assert asked == []

    in_loop(test)


def test_a_request_that_cannot_be_read_harms_nobody() -> None:
    async def test() -> None:
        def handler(line: Line, command: RemotingCommand) -> bool:
            raise RemoteProtocolError("what?")

        served = RequestDispatch()
        served.add(7, handler)
        assert await _answers(served, RemotingCommand(7, opaque=1)) == [(1, 3)]
        served.remove(7, handler)
        assert await _answers(served, RemotingCommand(7, opaque=2)) == [(2, 3)]

    in_loop(test)
