import asyncio
import contextlib
import logging

import pytest

from aerobee.client.api.message import Message
from aerobee.client.api.received_batch import ReceivedBatch
from aerobee.client.core.consume.backoff import Backoff
from aerobee.errors import Misuse
from aerobee.testing import Cluster
from tests.client_kit import turn
from tests.consume_kit import numbered
from tests.net_kit import in_loop
from tests.received_kit import received


class Told:
    """A Holder that writes down what it hears, with the offsets of the messages."""

    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []
        self.knows: asyncio.Event | None = None

    def settle_all(self, messages: list[Message]) -> None:
        self.heard.append(("settle", *(message.offset for message in messages)))
        for message in messages:
            message.is_settled = True

    async def told(self) -> None:
        if self.knows is not None:
            await self.knows.wait()
        self.heard.append(("told",))

    async def nack(self, message: Message, seconds: float | None) -> None:
        self.heard.append(("nack", message.offset, seconds))
        await turn()
        message.is_settled = True

    def give_back(self, message: Message) -> None:
        self.heard.append(("give back", message.offset))


def held() -> tuple[ReceivedBatch, Told, Told]:
    """Messages of two holders, in turns."""
    one, two = Told(), Told()
    messages = [
        *received(3, 4, holder=one),
        *received(7, holder=two),
        *received(5, holder=one),
    ]
    return ReceivedBatch(messages), one, two


def test_it_is_a_sequence_of_messages() -> None:
    batch, _, _ = held()
    assert len(batch) == 4
    assert [message.offset for message in batch] == [3, 4, 7, 5]
    assert [message.offset for message in batch[1:3]] == [4, 7]
    assert batch[-1].offset == 5
    assert batch[2] in batch
    assert repr(batch) == "ReceivedBatch(4 messages, 4 to be settled)"
    assert not ReceivedBatch([])


def test_each_holder_hears_once_of_messages_that_follow_each_other() -> None:
    async def test() -> None:
        batch, one, two = held()
        async with batch.process() as same:
            assert same is batch
        assert one.heard == [("settle", 3, 4), ("settle", 5)]
        assert two.heard == [("settle", 7)]

    in_loop(test)


def test_an_acknowledgement_waits_until_all_holders_have_been_told() -> None:
    async def test() -> None:
        batch, one, two = held()
        two.knows = asyncio.Event()
        acking = asyncio.ensure_future(batch.ack())
        await turn()
        assert one.heard[:2] == [("settle", 3, 4), ("settle", 5)]
        assert two.heard == [("settle", 7)]
        assert not acking.done()
        two.knows.set()
        await acking
        assert two.heard == [("settle", 7), ("told",)]
        assert ("told",) in one.heard

    in_loop(test)


def test_an_exception_has_all_tried_again_at_once_that_were_not_settled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test() -> None:
        batch, one, two = held()
        batch[1].is_settled = True
        with caplog.at_level(logging.WARNING):
            async with batch.process(retry=Backoff(7, 100)):
                raise ValueError("no")
        assert one.heard == [("nack", 3, 7), ("nack", 5, 7)]
        assert two.heard == [("nack", 7, 7)]
        assert "3 messages" in caplog.text
        caplog.clear()
        async with batch.process():  # of which nothing is left to be settled
            raise ValueError("no")
        assert caplog.text == ""
        other, one, _ = held()
        async with other.process():
            raise ValueError("no")
        assert one.heard == [("nack", 3, None), ("nack", 4, None), ("nack", 5, None)]

    in_loop(test)


def test_a_cancelled_handler_gives_its_messages_back_the_last_one_first() -> None:
    async def test() -> None:
        batch, one, two = held()
        batch[1].is_settled = True

        async def work() -> None:
            async with batch.process():
                await asyncio.Event().wait()

        task = asyncio.ensure_future(work())
        await turn()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # Each is put before all others: so they come again as they came.
        assert one.heard == [("give back", 5), ("give back", 3)]
        assert two.heard == [("give back", 7)]

    in_loop(test)


def test_what_could_not_be_handled_comes_again_when_it_is_said() -> None:
    async def test() -> None:
        batch, one, two = held()
        batch[0].is_settled = True
        await batch.nack(delay=30)
        assert one.heard == [("nack", 4, 30.0), ("nack", 5, 30.0)]
        assert two.heard == [("nack", 7, 30.0)]
        with pytest.raises(Misuse):
            await batch.nack(delay=-1)

    in_loop(test)


def test_of_a_batch_that_failed_those_come_again_that_were_not_settled() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await numbered(cluster.client, 3)
            async with cluster.client.consumer("orders", group="g", start="earliest") as consumer:
                batch = await consumer.receive_many(9)
                async with batch.process(retry=Backoff(10, 10)):
                    await batch[1].ack()
                    raise ValueError("no")
                assert consumer._inbox.out == 0
                cluster.clock.advance(60)
                again: list[tuple[bytes, int]] = []
                while len(again) < 2:
                    more = await consumer.receive_many(9)
                    again += [(one.body, one.attempt) for one in more]
                    await more.ack()
                assert sorted(again) == [(b"0", 2), (b"2", 2)]

    in_loop(test)


def test_a_batch_that_was_cancelled_comes_again_as_it_came() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await numbered(cluster.client, 5)
            async with cluster.client.consumer("orders", group="g", start="earliest") as consumer:
                working = asyncio.Event()

                async def work() -> None:
                    async with (await consumer.receive_many(3)).process():
                        working.set()
                        await asyncio.Event().wait()

                task = asyncio.ensure_future(work())
                await working.wait()
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                batch = await consumer.receive_many(9)
                assert [one.body for one in batch] == [b"0", b"1", b"2", b"3", b"4"]
                await batch.ack()

    in_loop(test)
