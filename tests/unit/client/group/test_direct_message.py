import pytest

from aerobee.client.api.message import Message
from aerobee.client.api.received_batch import ReceivedBatch
from aerobee.client.core.send.outgoing import Codec
from aerobee.client.group.direct_message import DirectMessage
from aerobee.client.group.inbox import Inbox
from aerobee.errors import RemoteProtocolError
from aerobee.protocol.message.stored_message import encode_record
from tests.net_kit import in_loop
from tests.received_kit import QUEUE, stored


async def no_reply(message: Message, body: object, codec: Codec) -> None:
    raise AssertionError("nobody asked for a reply")


def test_a_reply_goes_the_way_that_was_given() -> None:
    replies: list[tuple[bytes, object]] = []

    async def reply(message: Message, body: object, codec: Codec) -> None:
        replies.append((message.body, body))

    async def test() -> None:
        inbox = Inbox(1)
        DirectMessage(inbox, QUEUE, encode_record(stored(1)), reply)
        message = await inbox.take()
        assert message is not None
        await message.reply({"a": 1})
        assert replies == [(message.body, {"a": 1})]
        assert not message.is_settled

    in_loop(test)


def test_what_came_of_it_is_told_in_javas_words() -> None:
    async def test() -> None:
        for verb, said in (("ack", "CR_SUCCESS"), ("nack", "CR_LATER"), ("reject", "CR_THROW")):
            inbox = Inbox(1)
            direct = DirectMessage(inbox, QUEUE, encode_record(stored(1)), no_reply)
            message = await inbox.take()
            assert message is not None
            await getattr(message, verb)()
            await message.ack()  # too late: it is settled
            assert (await direct.outcome())[0].startswith(said)
            assert inbox.out == 0

    in_loop(test)


def test_it_may_be_one_of_many_that_are_received_together() -> None:
    async def test() -> None:
        inbox = Inbox(2)
        both = [DirectMessage(inbox, QUEUE, encode_record(stored(n)), no_reply) for n in (1, 2)]
        await ReceivedBatch(await inbox.take_many(9)).ack()
        assert [(await one.outcome())[0] for one in both] == ["CR_SUCCESS"] * 2
        assert inbox.out == 0

    in_loop(test)


def test_only_one_message_is_consumed_directly() -> None:
    async def test() -> None:
        with pytest.raises(RemoteProtocolError):
            DirectMessage(Inbox(1), QUEUE, encode_record(stored(1)) * 2, no_reply)

    in_loop(test)
