"""`ReceiveConsumers` keeps the consumers behind `client.receive`, which returns one message a call.

The first call for a group and its topic opens a consumer, which stays open until the client closes:
the next call finds messages that were pulled already. A message is acknowledged by being returned.
"""

import asyncio

from aerobee.client.api.consumer_options import ConsumerKeywords, consumer_options
from aerobee.client.api.message import Message
from aerobee.client.connection.session import Session
from aerobee.client.consumer.consumer import Consumer
from aerobee.errors import Misuse


class ReceiveConsumers:
    """The consumers that `receive` has opened, by group."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._opening: dict[str, tuple[str, asyncio.Future[Consumer]]] = {}

    async def receive(self, topic: str, group: str, seconds: float) -> Message:
        """The next message, acknowledged. TimeoutError: none came in time."""
        try:
            async with asyncio.timeout(seconds):
                consumer = await self._consumer(topic, group)
                message = await consumer.receive()
        except TimeoutError:
            raise TimeoutError(f"no message of {topic} for {group} within {seconds:g} s") from None
        message.held_by().settle(message)
        return message

    async def _consumer(self, topic: str, group: str) -> Consumer:
        known = self._opening.get(group)
        if known is None:
            opening: asyncio.Future[Consumer] = asyncio.ensure_future(self._open(topic, group))
            self._opening[group] = (topic, opening)
        elif known[0] == topic:
            opening = known[1]
        else:
            raise Misuse(
                f"{group} receives {known[0]} here, and a group has one set of topics",
                hint="use another group, or a consumer of both topics",
            )
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._opening.pop(group, None)
            raise

    async def _open(self, topic: str, group: str) -> Consumer:
        options: ConsumerKeywords = {"group": group, "start": "earliest"}
        consumer = Consumer(self._session, consumer_options(topic, **options))
        await consumer.open()
        return consumer
