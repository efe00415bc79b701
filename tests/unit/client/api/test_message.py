import asyncio
from datetime import UTC, datetime

import pytest

from aerobee.client.api.message import Message
from aerobee.client.core.consume.backoff import Backoff
from aerobee.errors import Misuse
from tests.client_kit import turn
from tests.net_kit import in_loop
from tests.received_kit import received


class Told:
    """A Holder that writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []

    def settle(self, message: Message) -> None:
        message.is_settled = True
        self.heard.append(("settle",))

    async def ack(self, message: Message) -> None:
        message.is_settled = True
        self.heard.append(("ack",))

    async def nack(self, message: Message, seconds: float | None) -> None:
        message.is_settled = True
        self.heard.append(("nack", seconds))

    async def reject(self, message: Message, reason: str) -> None:
        message.is_settled = True
        self.heard.append(("reject", reason))

    async def extend(self, message: Message, seconds: float) -> None:
        self.heard.append(("extend", seconds))

    def give_back(self, message: Message) -> None:
        self.heard.append(("give back",))


def held() -> tuple[Message, Told]:
    told = Told()
    return received(3, holder=told)[0], told


def test_times_are_moments_with_a_zone() -> None:
    message, _ = held()
    assert message.born_at == datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC)
    assert message.stored_at > message.born_at


def test_a_body_is_read_as_json() -> None:
    message, _ = held()
    with pytest.raises(ValueError, match="Expecting value"):
        message.json()


def test_work_that_ends_well_is_acknowledged_once() -> None:
    async def test() -> None:
        message, told = held()
        async with message.process() as same:
            assert same is message
        assert told.heard == [("settle",)]
        other, told = held()
        async with other.process():
            await other.reject(reason="bad")
        assert told.heard == [("reject", "bad")]

    in_loop(test)


def test_an_exception_has_the_message_tried_again_and_goes_no_further() -> None:
    async def test() -> None:
        message, told = held()
        async with message.process(retry=Backoff(7, 100)):
            raise ValueError("no")
        assert told.heard == [("nack", 7)]
        other, told = held()
        async with other.process():
            raise ValueError("no")
        assert told.heard == [("nack", None)]

    in_loop(test)


def test_a_cancelled_handler_gives_its_message_back() -> None:
    async def test() -> None:
        message, told = held()

        async def work() -> None:
            async with message.process():
                await asyncio.Event().wait()

        task = asyncio.ensure_future(work())
        await turn()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert told.heard == [("give back",)]

    in_loop(test)


def test_what_is_said_in_so_many_words_is_heard() -> None:
    async def test() -> None:
        message, told = held()
        await message.extend(5)
        await message.nack(delay=30)
        assert told.heard == [("extend", 5.0), ("nack", 30.0)]
        with pytest.raises(Misuse):
            message.nack(delay=-1)

    in_loop(test)


def test_it_shows_what_it_is() -> None:
    message, _ = held()
    assert "attempt 1, 4 bytes" in repr(message)
