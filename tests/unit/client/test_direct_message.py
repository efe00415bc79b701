import pytest

from aerobee.client.direct_message import DirectMessage
from aerobee.client.inbox import Inbox
from aerobee.errors import RemoteProtocolError
from aerobee.protocol.stored_message import encode_record
from tests.net_kit import in_loop
from tests.received_kit import QUEUE, stored


def test_what_came_of_it_is_told_in_javas_words() -> None:
    async def test() -> None:
        for verb, said in (("ack", "CR_SUCCESS"), ("nack", "CR_LATER"), ("reject", "CR_THROW")):
            inbox = Inbox(1)
            direct = DirectMessage(inbox, QUEUE, encode_record(stored(1)))
            message = await inbox.take()
            assert message is not None
            await getattr(message, verb)()
            await message.ack()  # too late: it is settled
            assert (await direct.outcome())[0].startswith(said)
            assert inbox.out == 0

    in_loop(test)


def test_only_one_message_is_consumed_directly() -> None:
    async def test() -> None:
        with pytest.raises(RemoteProtocolError):
            DirectMessage(Inbox(1), QUEUE, encode_record(stored(1)) * 2)

    in_loop(test)
