import asyncio

import pytest

from aerobee.errors import ConnectionLost
from aerobee.net.waiter import Waiter
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand


def test_an_answer_is_handed_over_with_a_body_of_its_own() -> None:
    async def test() -> None:
        waiter = Waiter(asyncio.get_running_loop().create_future(), 1.0, False)
        assert not waiter.take(FrameReader())
        waiter.end(RemotingCommand(0, body=memoryview(b"a body")[2:]))
        command = await waiter.answer
        assert type(command.body) is bytes
        assert command.body == b"body"

    asyncio.run(test())


def test_who_gave_up_is_not_told() -> None:
    async def test() -> None:
        waiter = Waiter(asyncio.get_running_loop().create_future(), 1.0, False)
        waiter.answer.cancel()
        waiter.end(RemotingCommand(0))
        waiter.fail(ConnectionLost("lost", address="a"))
        assert waiter.answer.cancelled()

    asyncio.run(test())


def test_who_waits_is_told_what_went_wrong() -> None:
    async def test() -> None:
        waiter = Waiter(asyncio.get_running_loop().create_future(), 1.0, False)
        waiter.fail(ConnectionLost("lost", address="a"))
        with pytest.raises(ConnectionLost):
            await waiter.answer

    asyncio.run(test())
