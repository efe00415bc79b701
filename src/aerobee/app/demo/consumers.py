"""Consumers of the demonstration, one per group: quick ones, a slow one, one that rejects messages.

Each commits its offsets often, so that the brokers' figures are fresh.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from aerobee.app.demo.story import (
    ATTEMPTS_MAX,
    GROUPS,
    GUARD,
    SHIPPING,
    StoryVerdict,
    login,
    pace,
)
from aerobee.client.api.message import Message
from aerobee.client.client import Client
from aerobee.client.consumer.consumer import Consumer

RETRY_SECONDS = 1.0
COMMIT_SECONDS = 0.5
GRACE_SECONDS = 2.0
Handler = Callable[[Message], Awaitable[None]]


class Consumers:
    def __init__(self, client: Client, seconds: Callable[[], float]) -> None:
        """`seconds` returns the time since the start."""
        self._client = client
        self._seconds = seconds
        self._undo = contextlib.AsyncExitStack()

    async def open(self) -> list[Coroutine[Any, Any, None]]:
        """Join the groups; returns the coroutines that handle messages until `close`."""
        running = []
        async with contextlib.AsyncExitStack() as undo:
            for group in GROUPS:
                consumer = await undo.enter_async_context(self._consumer(group))
                running.append(consumer.run(self.handler(group)))
            self._undo = undo.pop_all()
        return running

    async def close(self) -> None:
        """Finish the messages in work, and leave the groups."""
        await self._undo.aclose()

    def handler(self, group: str) -> Handler:
        """Return the handler of a group's messages."""
        return {SHIPPING: self._ship, GUARD: self._guard}.get(group, self._take)

    def _consumer(self, group: str) -> Consumer:
        return self._client.consumer(
            GROUPS[group],
            group=group,
            start="earliest",
            concurrency=1 if group == SHIPPING else 8,
            max_attempts=ATTEMPTS_MAX,
            commit_every=COMMIT_SECONDS,
            grace=GRACE_SECONDS,
        )

    async def _take(self, message: Message) -> None:
        """Do nothing: the message only has to be acknowledged."""

    async def _ship(self, message: Message) -> None:
        await asyncio.sleep(pace(self._seconds()))

    async def _guard(self, message: Message) -> None:
        verdict = login(int(message.json()["number"]), message.attempt)
        if verdict is StoryVerdict.LATER:
            await message.nack(delay=RETRY_SECONDS)
        elif verdict is StoryVerdict.NEVER:
            await message.reject(reason="nobody understands it")
