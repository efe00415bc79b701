"""Traffic sends the messages of the demonstration that are due since the last turn, topic by topic.

Numbers continue from the end of the topic, so that a second run on the same data repeats none. A
send that fails is logged and not repeated.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from aerobee.app.demo.story import (
    LOGINS,
    ORDERS,
    PAYERS,
    PAYMENTS,
    REMINDERS,
    TOPICS,
    StoryOutcome,
    body,
    customer,
    delay_seconds,
    key,
    payment,
    rate,
    tag,
    was_paid,
)
from aerobee.client.api.message import Message
from aerobee.client.client import Client
from aerobee.client.core.send.outgoing import Outgoing
from aerobee.errors import AerobeeError

_log = logging.getLogger(__name__)

QUEUES = 2
DUE_MAX = 100
"""Of one topic in one turn: after a long pause nobody wants everything at once."""


class Traffic:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._next = dict.fromkeys(TOPICS, 0)
        self._due = dict.fromkeys(TOPICS, 0.0)
        self._ways: dict[str, Callable[[range], Awaitable[None]]] = {
            ORDERS: self._orders,
            PAYMENTS: self._payments,
            LOGINS: self._logins,
            REMINDERS: self._reminders,
        }

    async def open(self) -> None:
        """Create the topics, and read their ends."""
        admin = self._client.admin
        for topic, kind in TOPICS.items():
            await admin.topics.create(topic, queues=QUEUES, attributes={"message.type": kind})
            stats = await admin.topics.stats(topic)
            self._next[topic] = sum(one.max_offset for one in stats.queues.values())
        await self._client.answer_checks(PAYERS, _check, topics=[PAYMENTS])

    async def turn(self, seconds: float, since: float) -> None:
        """Send the messages that are due: `seconds` since the start, `since` the last turn."""
        await asyncio.gather(*(self._send(topic, seconds, since) for topic in TOPICS))

    async def _send(self, topic: str, seconds: float, since: float) -> None:
        due = min(self._due[topic] + rate(topic, seconds) * since, DUE_MAX)
        count = int(due)
        self._due[topic] = due - count
        if count == 0:
            return
        start = self._next[topic]
        self._next[topic] = start + count
        try:
            await self._ways[topic](range(start, start + count))
        except AerobeeError as error:
            _log.warning("not everything was sent to %s: %s", topic, error)

    async def _orders(self, numbers: range) -> None:
        """Send all at once: each customer's keep their order, and consumers are woken once."""
        sends = (
            self._client.send(
                ORDERS,
                body(ORDERS, number),
                tag=tag(ORDERS, number),
                keys=[key(ORDERS, number)],
                order_by=customer(number),
            )
            for number in numbers
        )
        await asyncio.gather(*sends)

    async def _logins(self, numbers: range) -> None:
        messages = [
            Outgoing(body(LOGINS, number), tag(LOGINS, number), [customer(number)])
            for number in numbers
        ]
        await self._client.send_batch(LOGINS, messages)

    async def _reminders(self, numbers: range) -> None:
        for number in numbers:
            await self._client.send(
                REMINDERS,
                body(REMINDERS, number),
                keys=[key(REMINDERS, number)],
                delay=delay_seconds(number),
            )

    async def _payments(self, numbers: range) -> None:
        for number in numbers:
            async with self._client.transaction(
                PAYMENTS,
                body(PAYMENTS, number),
                check=_check,
                group=PAYERS,
                keys=[key(PAYMENTS, number)],
            ) as transaction:
                outcome = payment(number)
                if outcome is StoryOutcome.ROLLBACK:
                    await transaction.roll_back()
                elif outcome is StoryOutcome.OPEN:
                    transaction.leave_open()


def _check(message: Message) -> bool:
    """Answer a broker's check of a payment that was left open."""
    return was_paid(int(message.json()["number"]))
