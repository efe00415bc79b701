"""Outbox sends the requests of one task: one at a time for each lane, several lanes at once.

O1. Requests of one lane arrive in the order in which they were posted: the next is not sent before
    the last was acknowledged.
O2. A request is retried until its broker gives a final answer, or until its time is over. The first
    failure is raised by the next call.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from aerobee.client.core.send.outgoing import Draft
from aerobee.client.send.delivery import Delivery
from aerobee.errors import RemoteAnswer, SendFailed
from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.sink.write_round import Succeeded
from aerobee.protocol.response_codes import ResponseCode

V = TypeVar("V")

REQUESTS_MAX = 8
_TRIES_MAX = 1_000_000  # the deadline ends them

Send = Callable[[Draft, MessageQueue], Coroutine[Any, Any, V]]


class Outbox(Generic[V]):
    def __init__(self, send: Send[V], heard: Callable[[Hashable, V], None] | None = None) -> None:
        """`heard` is called with each answer; in order within a lane."""
        self._send = send
        self._heard = heard
        self._going: dict[Hashable, asyncio.Task[None]] = {}

    async def post(self, lane: Hashable, draft: Draft, queue: MessageQueue) -> None:
        """Send a draft after the pending request of the same lane."""
        before = self._going.pop(lane, None)
        if before is not None:
            await before
        while len(self._going) >= REQUESTS_MAX:
            await asyncio.wait(self._going.values(), return_when=asyncio.FIRST_COMPLETED)
            for key in [key for key, task in self._going.items() if task.done()]:
                await self._going.pop(key)
        self._going[lane] = asyncio.get_running_loop().create_task(self._one(lane, draft, queue))
        await asyncio.sleep(0)  # on its way, before the caller keeps us busy
        await asyncio.sleep(0)

    async def finish(self) -> None:
        """Wait until all requests are acknowledged."""
        while self._going:
            _, task = self._going.popitem()
            await task

    async def abandon(self) -> None:
        """Cancel all pending requests, after an error."""
        going, self._going = list(self._going.values()), {}
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    async def _one(self, lane: Hashable, draft: Draft, queue: MessageQueue) -> None:
        answer = await self._send(draft, queue)
        if self._heard is not None:
            self._heard(lane, answer)


def delivering(delivery: Delivery, seconds: float, group: str | None = None) -> Send[None]:
    """Return the function that sends drafts to their queues."""

    async def send(draft: Draft, queue: MessageQueue) -> None:
        try:
            await delivery.deliver(
                draft, group=group, queue=queue, timeout=seconds, retries=_TRIES_MAX
            )
        except SendFailed as failure:
            cause = failure.__cause__
            if isinstance(cause, RemoteAnswer) and cause.code == ResponseCode.PRODUCER_FENCED:
                raise Succeeded(
                    f"another attempt writes these rows by now: {cause.message}"
                ) from failure
            raise

    return send
