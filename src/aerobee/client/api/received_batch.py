"""`ReceivedBatch`: messages that a consumer hands out together, acknowledged with one call.

    while True:
        batch = await consumer.receive_many(500)
        async with batch.process():      # at the end: all acked; after an exception: retried later
            await write([message.json() for message in batch])

Each message also has its own `ack`, `nack` and `reject`: one that was settled by itself is left out
of calls for the batch. Handing out and acknowledging cost one await for all of them.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import overload

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.message import Holder, Message
from aerobee.client.core.consume.backoff import Backoff

_log = logging.getLogger(__name__)


class ReceivedBatch(Sequence[Message]):
    """Messages in the order in which they would have come one by one."""

    __slots__ = ("_is_settled", "_messages")

    def __init__(self, messages: list[Message]) -> None:
        self._messages = messages
        self._is_settled = False

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...

    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        return self._messages[index]

    def process(self, *, retry: Backoff | None = None) -> "BatchProcessing":
        """A context for working on all of them: acknowledged at the end, retried later after an
        exception, which is logged and not raised. `retry` replaces the consumer's backoff.
        """
        return BatchProcessing(self, retry)

    async def ack(self) -> None:
        """Acknowledge all messages that are not settled yet."""
        for holder in self.settle():
            await holder.told()

    async def nack(self, *, delay: Duration | None = None) -> None:
        """Have all messages that are not settled yet delivered again later."""
        seconds = None if delay is None else seconds_of(delay, "delay")
        unsettled = self.unsettled()
        await asyncio.gather(*(one.held_by().nack(one, seconds) for one in unsettled))

    def settle(self) -> list[Holder]:
        """Acknowledge all without waiting for the broker. Returns the holders that were told."""
        runs: list[tuple[Holder, list[Message]]] = []
        last: object = None
        run: list[Message] = []
        for message in self._messages:
            if message.holder is not last:
                last = message.holder
                run = []
                runs.append((message.held_by(), run))
            run.append(message)
        for holder, held in runs:
            holder.settle_all(held)
        self._is_settled = True
        return [holder for holder, _ in runs]

    def is_settled(self) -> bool:
        """Whether all of them are settled."""
        return self._is_settled or all(message.is_settled for message in self._messages)

    def unsettled(self) -> list[Message]:
        """The messages that are not settled yet."""
        return [message for message in self._messages if not message.is_settled]

    def __repr__(self) -> str:
        return f"ReceivedBatch({len(self)} messages, {len(self.unsettled())} to be settled)"


class BatchProcessing:
    """The context manager of `async with batch.process()`."""

    __slots__ = ("_batch", "_retry")

    def __init__(self, batch: ReceivedBatch, retry: Backoff | None) -> None:
        self._batch = batch
        self._retry = retry

    async def __aenter__(self) -> ReceivedBatch:
        return self._batch

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is None:
            self._batch.settle()
            return False
        unsettled = self._batch.unsettled()
        if not isinstance(error, Exception):
            # Each goes before all others, so the last one first.
            for message in reversed(unsettled):
                message.held_by().give_back(message)
            return False
        if unsettled:
            _log.warning(
                "%d messages from %r on failed and are to be tried again",
                len(unsettled),
                unsettled[0],
                exc_info=error,
            )
            await asyncio.gather(*(self._again(message) for message in unsettled))
        return True

    async def _again(self, message: Message) -> None:
        delay = None if self._retry is None else self._retry.seconds(message.attempt)
        await message.nack(delay=delay)
