"""`DirectMessage`: a message that an administrator has a consumer consume now (code 309).

It is handed to the application like any other, and its result is reported. It is of no queue that
this consumer owns, so it moves no offset.
"""

import asyncio
from typing import cast

from aerobee.client.api.message import Message
from aerobee.client.connection.session import Reply
from aerobee.client.core.send.outgoing import Codec
from aerobee.client.group.inbox import Inbox
from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.message.received_message import MessageReader

DIRECT_SECONDS = 9.0
"""A broker waits ten for what came of it."""
SUCCESS, LATER, FAILED = "CR_SUCCESS", "CR_LATER", "CR_THROW_EXCEPTION"


class DirectMessage:
    """The holder of one such message."""

    def __init__(self, inbox: Inbox, queue: MessageQueue, record: bytes, reply: Reply) -> None:
        self._inbox = inbox
        self._reply = reply
        self._outcome: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
        messages = MessageReader(Message).read(record, queue, self)
        if len(messages) != 1:
            raise RemoteProtocolError(f"{len(messages)} messages to be consumed now, not one")
        inbox.put(cast("list[Message]", messages))

    async def outcome(self) -> tuple[str, str]:
        """The result by Java's name, and a remark."""
        try:
            async with asyncio.timeout(DIRECT_SECONDS):
                return await self._outcome
        except TimeoutError:
            return LATER, "nobody has handled it yet"

    def settle(self, message: Message) -> None:
        self._end(message, SUCCESS, "")

    def settle_all(self, messages: list[Message]) -> None:
        for message in messages:
            self.settle(message)

    async def told(self) -> None:
        """Nothing to wait for: the administrator gets `outcome`."""

    async def ack(self, message: Message) -> None:
        self._end(message, SUCCESS, "")

    async def nack(self, message: Message, seconds: float | None) -> None:
        self._end(message, LATER, "it failed, and would be tried again")

    async def reject(self, message: Message, reason: str) -> None:
        self._end(message, FAILED, reason)

    async def extend(self, message: Message, seconds: float) -> None:
        """No effect: the message is not hidden from others."""

    async def reply(self, message: Message, body: object, codec: Codec) -> None:
        await self._reply(message, body, codec)

    def give_back(self, message: Message) -> None:
        self._end(message, LATER, "the handler was cancelled")

    def _end(self, message: Message, result: str, remark: str) -> None:
        if not message.is_settled:
            message.is_settled = True
            self._inbox.done(message)
            if not self._outcome.done():
                self._outcome.set_result((result, remark))
