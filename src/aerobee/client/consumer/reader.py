"""`Reader` reads queues of the caller's choice from any offset, without joining a group.

    async with client.reader("orders", start="earliest") as reader:
        async for message in reader:
            ...

It shares its queues with no other consumer; messages are neither acknowledged nor retried. With a
group's name it begins at that group's offsets, and `commit` moves the group. This is RocketMQ's
lite pull consumer with `assign`.

R1. A message that was handed out is read; `position` is behind it, and `commit` keeps that.
"""

import asyncio
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from aerobee.client.api.client_options import READER_GROUP, Duration, seconds_of
from aerobee.client.api.consumer_options import ConsumerOptions, StartAt
from aerobee.client.api.message import Message
from aerobee.client.api.received_batch import ReceivedBatch
from aerobee.client.connection.session import Session
from aerobee.client.core.namespace import with_namespace
from aerobee.client.group.consumer_context import check_filters, consumer_context, subscriptions_of
from aerobee.client.group.offset_stores import BrokerOffsetStore, NoOffsetStore, OffsetStore
from aerobee.client.group.start_position import find_offset, first_offset
from aerobee.client.pull.owned_queues import OwnedQueues
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue


class Reader:
    """Made by `client.reader(...)`, used with `async with`."""

    def __init__(self, session: Session, options: ConsumerOptions) -> None:
        self.options = options
        self._session = session
        context = consumer_context(session, options, is_reading=True)
        self._context = context
        self._calls = context.calls
        self._inbox = context.inbox
        self._has_group = options.group != READER_GROUP
        offsets: OffsetStore = (
            BrokerOffsetStore(self._calls) if self._has_group else NoOffsetStore()
        )
        self._subscriptions = subscriptions_of(context)
        self._queues = OwnedQueues(context, offsets, self._subscriptions)
        self._is_open = self._is_begun = False

    async def open(self) -> None:
        """Begin to read every queue of the topics. `assign` chooses others."""
        self._session.check()
        await check_filters(self._context, self._subscriptions)
        self._is_open = self._is_begun = True
        self._session.at_close(self.close)
        try:
            await self.assign(await self.all_queues())
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop reading. Offsets are not committed unless `commit` was called."""
        if self._is_open:
            self._is_open = False
            self._inbox.close()
            self._session.not_at_close(self.close)
            await self.assign(())

    async def all_queues(self) -> tuple[MessageQueue, ...]:
        """All queues of the topics, read here or not. TopicNotFound if there is no such topic."""
        namespace = self._session.options.namespace
        found: list[MessageQueue] = []
        for topic in self.options.topics:
            found += (await self._session.routes.of(with_namespace(namespace, topic))).readable
        return tuple(found)

    async def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Read these queues from now on, and no others."""
        wanted = set(queues)
        async with self._queues.turn:
            await self._queues.drop(
                [owned for owned in self._queues.all() if owned.queue not in wanted]
            )
            for queue in sorted(wanted.difference(self._queues)):
                start = await self._start_of(queue)
                self._queues.begin(queue, start)

    async def read(self, count: int = 32, *, timeout: Duration = 5.0) -> list[Message]:
        """Up to so many messages; fewer, or none, if no more come in time."""
        self._check_begun()
        if count < 1:
            raise Misuse(f"{count} messages are wanted", hint="ask for at least one")
        found: list[Message] = []
        try:
            async with asyncio.timeout(seconds_of(timeout, "timeout")):
                taken = await self._inbox.take_many(count)
        except TimeoutError:
            return found
        while taken:
            ReceivedBatch(taken).settle()
            found += taken
            taken = self._inbox.take_some(count - len(found))
        return found

    @property
    def queues(self) -> tuple[MessageQueue, ...]:
        return tuple(sorted(self._queues))

    def position(self, queue: MessageQueue) -> int:
        """The offset that is read next."""
        return self._queues.of(queue).in_hand.commit_offset()

    async def seek(self, to: int | StartAt, *, queue: MessageQueue | None = None) -> None:
        """Go on at an offset, a moment, or an end; in one queue, or in all."""
        for one in self.queues if queue is None else (queue,):
            self._queues.of(one)
            await self._queues.seek(one, await find_offset(self._calls, one, to))

    def pause(self, *queues: MessageQueue) -> None:
        for queue in queues or self.queues:
            self._queues.of(queue).pause()

    def resume(self, *queues: MessageQueue) -> None:
        for queue in queues or self.queues:
            self._queues.of(queue).resume()

    async def commit(self) -> None:
        """Commit the positions for the group, which then begins there."""
        if not self._has_group:
            raise Misuse("a reader without a group keeps no place", hint="client.reader(group=…)")
        await self._queues.commit(is_certain=True)

    def __aiter__(self) -> Self:
        self._check_begun()
        return self

    async def __anext__(self) -> Message:
        message = self._inbox.take_at_once() or await self._inbox.take()
        if message is None:
            raise StopAsyncIteration
        message.held_by().settle(message)
        return message

    def _check_begun(self) -> None:
        """Raise Misuse if the reader was never opened: iterating over it would wait for ever."""
        if not self._is_begun:
            raise Misuse(
                "the reader is not open",
                hint="`async with client.reader(...) as reader:`, and read in there",
            )

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _start_of(self, queue: MessageQueue) -> int:
        committed = await self._calls.committed(queue) if self._has_group else None
        if committed is not None:
            return committed
        return await first_offset(self._calls, queue, self.options.start)
