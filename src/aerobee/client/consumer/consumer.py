"""`Consumer` receives messages of its share of the queues, one at a time or many at once.

    async with client.consumer("orders", group="billing", concurrency=64) as consumer:
        async for message in consumer:
            async with message.process():
                ...

or, to handle many together: `receive_many`.

Any number of tasks may iterate over one consumer; `run` starts as many as `concurrency` says. The
heartbeats, pulls and commits are tasks of their own: a handler holds them up only by blocking the
whole event loop.

K1. A message is handed out once, until it failed, or its queue went to another member.
K2. A handler's exception reaches the log and the retry, never the loop that feeds it.
K3. Closing waits for messages that are being worked on, but not for those of the task that leaves
    the block by an exception: they come again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.consumer_options import ConsumerOptions, StartAt
from aerobee.client.api.message import Message
from aerobee.client.api.received_batch import ReceivedBatch
from aerobee.client.connection.session import Session
from aerobee.client.consumer.broker_questions import BrokerQuestions
from aerobee.client.consumer.member import Member
from aerobee.client.core.consume.backoff import Backoff
from aerobee.client.group.consumer_context import (
    check_filters,
    consumer_context,
    offsets_of,
    subscriptions_of,
)
from aerobee.client.group.start_position import find_offset
from aerobee.client.pop.pop_member import PopMember
from aerobee.client.pull.pull_member import PullMember
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue

_log = logging.getLogger(__name__)

Handler = Callable[[Message], Awaitable[object]]
NOTICE_SECONDS = 2.0
"""Whoever waits longer for a consumer to close is told what for."""


class Consumer:
    """Made by `client.consumer(...)`, used with `async with`."""

    def __init__(self, session: Session, options: ConsumerOptions) -> None:
        self.options = options
        context = consumer_context(session, options)
        self._session = session
        self._context = context
        self._calls = context.calls
        self._inbox = context.inbox
        self._member: Member
        if options.mode == "pop":
            self._member = PopMember(context, subscriptions_of(context))
        else:
            self._member = PullMember(context, offsets_of(context), subscriptions_of(context))
        self._queues = self._member.queues
        self._asked = BrokerQuestions(session, self._member, self._inbox)
        self._last: Message | ReceivedBatch | None = None
        """What iterating gave last, until it is asked for more; or a batch, with `auto_ack`."""
        self._reader: asyncio.Task[object] | None = None
        """Who iterates; None: nobody, or several."""
        self._received: list[tuple[asyncio.Task[object] | None, Message]] = []
        """What `receive` gave to whom, and is not settled."""
        self._batches: list[tuple[asyncio.Task[object] | None, ReceivedBatch]] = []
        """The same of `receive_many`."""
        self._is_auto = options.auto_ack
        self._is_begun = False
        self._is_open = False

    async def open(self) -> None:
        """Join the group and begin to receive; `async with` calls it."""
        self._session.check()
        self._session.check_loop()
        if self._session.members.is_consuming(self._calls.group):
            raise Misuse(
                f"this client has a consumer of {self.options.group} already",
                hint="one consumer may be iterated over by many tasks; else open another client",
            )
        await check_filters(self._context, self._member.subscriptions.values())
        self._is_open = self._is_begun = True
        self._asked.begin()
        self._session.at_close(self.close)
        try:
            await self._member.join()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Hand out nothing more, wait for messages in work, commit, leave the group."""
        if not self._is_open:
            return
        self._is_open = False
        if self._is_auto:
            self._acknowledge_last()
        self._inbox.close()
        self._session.not_at_close(self.close)
        notice = asyncio.get_running_loop().call_later(
            min(NOTICE_SECONDS, self.options.grace / 2), self._say_what_is_out
        )
        try:
            await self._member.leave()
        finally:
            notice.cancel()
        self._asked.end()

    async def receive(self) -> Message:
        """The next message; waits until there is one."""
        self._check_begun()
        message = await self._inbox.take()
        if message is None:
            raise _closed()
        self._received = [one for one in self._received if not one[1].is_settled]
        self._received.append((asyncio.current_task(), message))
        return message

    async def receive_many(self, count: int, *, timeout: Duration | None = None) -> ReceivedBatch:
        """The messages that are there, up to `count`: it waits for the first and for no other.
        Empty if none comes within `timeout`.

        Acknowledge all of them with `async with batch.process()` or `await batch.ack()`, or each by
        itself. No more than `concurrency` are out at once, so give it at least `count`; where order
        is kept there is one of each queue or key in a batch.
        """
        self._check_begun()
        if count < 1:
            raise Misuse(f"{count} messages are wanted", hint="ask for at least one")
        if self._is_auto:
            self._acknowledge_last()
        seconds = None if timeout is None else seconds_of(timeout, "timeout")
        try:
            async with asyncio.timeout(seconds):
                batch = ReceivedBatch(await self._inbox.take_many(count))
        except TimeoutError:
            return ReceivedBatch([])
        if not batch:
            raise _closed()
        if self._is_auto:
            self._last = batch
        self._batches = [one for one in self._batches if not one[1].is_settled()]
        self._batches.append((asyncio.current_task(), batch))
        return batch

    async def run(self, handler: Handler, *, retry: Backoff | None = None) -> None:
        """Call a handler with every message, `concurrency` of them at once, until the consumer is
        closed. If the handler raises, its message is retried later.
        """
        self._check_begun()

        async def work() -> None:
            while (message := await self._inbox.take()) is not None:
                async with message.process(retry=retry):
                    await handler(message)

        async with asyncio.TaskGroup() as workers:
            for _ in range(self.options.concurrency):
                workers.create_task(work())

    # Where it is, and where it goes on.

    @property
    def queues(self) -> tuple[MessageQueue, ...]:
        """The queues that this consumer owns now."""
        return tuple(sorted(self._queues))

    def position(self, queue: MessageQueue) -> int:
        """The smallest offset that is not settled: another member would begin there."""
        return self._queues.of(queue).in_hand.commit_offset()

    async def commit(self) -> None:
        """Commit all offsets now, not at the next interval."""
        await self._queues.commit(is_certain=True)

    async def seek(self, to: int | StartAt, *, queue: MessageQueue | None = None) -> None:
        """Go on at an offset, a moment, or an end; in one queue, or in all that this consumer owns.
        Messages that were received before and are not settled are forgotten.
        """
        for one in [queue] if queue is not None else self.queues:
            self._queues.of(one)
            await self._queues.seek(one, await find_offset(self._calls, one, to))

    def pause(self, *queues: MessageQueue) -> None:
        """Hand out no messages of these queues, or of all; stay a member of the group."""
        if not queues:
            self._inbox.pause()
        for queue in queues:
            self._queues.of(queue).pause()

    def resume(self, *queues: MessageQueue) -> None:
        if not queues:
            self._inbox.resume()
        for queue in queues:
            self._queues.of(queue).resume()

    def __aiter__(self) -> Self:
        self._check_begun()
        task = asyncio.current_task()
        self._reader = task if self._reader in (None, task) else None
        return self

    async def __anext__(self) -> Message:
        if self._is_auto:
            self._acknowledge_last()
        self._last = None
        message = self._inbox.take_at_once() or await self._inbox.take()
        if message is None:
            raise StopAsyncIteration
        self._last = message
        return message

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._drop_what_was_in_hand()
        await self.close()

    def _acknowledge_last(self) -> None:
        last, self._last = self._last, None
        if isinstance(last, Message):
            last.held_by().settle(last)
        elif last is not None:
            last.settle()

    def _check_begun(self) -> None:
        """Raise Misuse if the consumer was never opened: iterating over it would wait for ever."""
        if not self._is_begun:
            raise Misuse(
                "the consumer is not open",
                hint="`async with client.consumer(...) as consumer:`, and iterate in there",
            )

    def _drop_what_was_in_hand(self) -> None:
        """Drop the messages of the task that leaves: it works on them no more."""
        task = asyncio.current_task()
        dropped = [message for taker, message in self._received if taker is task]
        for taker, batch in self._batches:
            if taker is task:
                dropped += batch
        last, self._last = self._last, None
        if isinstance(last, Message) and self._reader is task:
            dropped.append(last)
        for message in dropped:
            if not message.is_settled:
                message.held_by().give_back(message)

    def _say_what_is_out(self) -> None:
        if self._inbox.out > 0:
            _log.warning(
                "leaving %s waits up to %g s for %d messages that were handed out and not settled: "
                "use message.process() or ack(); grace= says for how long",
                self.options.group,
                self.options.grace,
                self._inbox.out,
            )


def _closed() -> Misuse:
    return Misuse("the consumer is closed", hint="receive inside its `async with`")
