import asyncio

import pytest

from aerobee.client.core.send.outgoing import Draft
from aerobee.client.send.delivery import Delivery
from aerobee.errors import SendFailed
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.sink.outbox import REQUESTS_MAX, Outbox, delivering
from aerobee.protocol.response_codes import ResponseCode
from tests.client_kit import session_of, turn, until
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker


def draft(body: bytes) -> Draft:
    return Draft("t", body, {"UNIQ_KEY": body.decode()})


def queue(number: int) -> MessageQueue:
    return MessageQueue("t", "broker-a", QueueId(number))


def bodies(broker: ScriptedBroker) -> list[bytes]:
    return [bytes(send.body) for send in broker.sends]


def test_one_request_of_a_lane_is_on_its_way_and_several_lanes() -> None:
    async def test() -> None:
        async with ScriptedBroker(queues=16) as broker, broker.client() as client:
            outbox = Outbox(delivering(Delivery(session_of(client)), 5.0))
            broker.is_holding = True
            await outbox.post(0, draft(b"a"), queue(0))
            await outbox.post(1, draft(b"b"), queue(1))
            behind = asyncio.ensure_future(outbox.post(0, draft(b"c"), queue(0)))
            await until(lambda: len(broker.sends) == 2)
            for _ in range(20):
                await turn()
            assert bodies(broker) == [b"a", b"b"]
            broker.release()
            await behind
            await outbox.finish()
            assert bodies(broker) == [b"a", b"b", b"c"]

    in_loop(test)


def test_no_more_requests_are_on_their_way_than_may_be() -> None:
    async def test() -> None:
        async with ScriptedBroker(queues=16) as broker, broker.client() as client:
            outbox = Outbox(delivering(Delivery(session_of(client)), 5.0))
            broker.is_holding = True
            for number in range(REQUESTS_MAX):
                await outbox.post(number, draft(b"%d" % number), queue(number))
            more = asyncio.ensure_future(outbox.post("more", draft(b"more"), queue(9)))
            await until(lambda: len(broker.sends) == REQUESTS_MAX)
            for _ in range(20):
                await turn()
            assert not more.done()
            broker.release()
            await more
            await outbox.finish()
            assert len(broker.sends) == REQUESTS_MAX + 1

    in_loop(test)


def test_a_failure_is_raised_by_what_comes_next_and_abandoned_requests_are_not_waited_for() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            outbox = Outbox(delivering(Delivery(session_of(client)), 5.0))
            broker.codes = [int(ResponseCode.MESSAGE_ILLEGAL)]
            await outbox.post(0, draft(b"a"), queue(0))
            with pytest.raises(SendFailed):
                await outbox.finish()
            broker.is_holding = True
            await outbox.post(0, draft(b"b"), queue(0))
            await outbox.abandon()
            await outbox.finish()

    in_loop(test)


def test_what_may_work_later_is_tried_again() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            outbox = Outbox(delivering(Delivery(session_of(client)), 5.0))
            broker.codes = [int(ResponseCode.SYSTEM_BUSY)] * 2
            await outbox.post(0, draft(b"a"), queue(1))
            await outbox.finish()
            assert bodies(broker) == [b"a"] * 3
            assert {send.ext_fields["e"] for send in broker.sends} == {"1"}

    in_loop(test)


def test_what_was_answered_is_heard_in_the_order_of_each_lane() -> None:
    async def test() -> None:
        heard: list[tuple[object, bytes]] = []

        async def send(draft: Draft, queue: MessageQueue) -> bytes:
            if queue.queue_id == 0:
                await turn()
            return draft.body

        outbox = Outbox(send, lambda lane, answer: heard.append((lane, answer)))
        for number in range(4):
            await outbox.post(number % 2, draft(b"%d" % number), queue(number % 2))
        await outbox.finish()
        assert [answer for lane, answer in heard if lane == 0] == [b"0", b"2"]
        assert [answer for lane, answer in heard if lane == 1] == [b"1", b"3"]

    in_loop(test)
