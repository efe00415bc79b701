"""Consumers, readers and their messages for callers without an event loop.

Each line names an asynchronous method; its arguments and result are documented there.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Self, TypeVar, overload

from aerobee.client.api.client_options import Duration
from aerobee.client.api.message import Message, Processing
from aerobee.client.api.received_batch import BatchProcessing, ReceivedBatch
from aerobee.client.connection.loop_portal import Portal
from aerobee.client.consumer.consumer import Consumer
from aerobee.client.consumer.reader import Reader
from aerobee.client.core.consume.backoff import Backoff
from aerobee.client.sync.facade import Context, Facade, Fact, act, part, verb
from aerobee.model.message_queue import MessageQueue

T = TypeVar("T")


def _of_message(said: Callable[[Message], T]) -> Fact[Message, T]:
    return Fact(said)


class SyncProcessing(Facade[Processing | BatchProcessing]):
    """The context manager of `with message.process()` and `with batch.process()`."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return self._portal.call(self._subject.__aexit__(kind, error, trace))


class SyncMessage(Facade[Message]):
    """A received message. Immutable, as the asynchronous one."""

    body = _of_message(lambda message: message.body)
    topic = _of_message(lambda message: message.topic)
    tag = _of_message(lambda message: message.tag)
    keys = _of_message(lambda message: message.keys)
    headers = _of_message(lambda message: message.headers)
    properties = _of_message(lambda message: message.properties)
    message_id = _of_message(lambda message: message.message_id)
    attempt = _of_message(lambda message: message.attempt)
    priority = _of_message(lambda message: message.priority)
    queue = _of_message(lambda message: message.queue)
    offset = _of_message(lambda message: message.offset)
    born_at = _of_message(lambda message: message.born_at)
    stored_at = _of_message(lambda message: message.stored_at)
    json = _of_message(lambda message: message.json)
    ack = verb(Message.ack)
    nack = verb(Message.nack)
    reject = verb(Message.reject)
    extend = verb(Message.extend)
    reply = verb(Message.reply)
    process = part(Message.process, SyncProcessing)

    def __repr__(self) -> str:
        return repr(self._subject)


class SyncBatch(Facade[ReceivedBatch], Sequence[SyncMessage]):
    """Messages that were received together."""

    ack = verb(ReceivedBatch.ack)
    nack = verb(ReceivedBatch.nack)
    process = part(ReceivedBatch.process, SyncProcessing)

    def __len__(self) -> int:
        return len(self._subject)

    @overload
    def __getitem__(self, index: int) -> SyncMessage: ...

    @overload
    def __getitem__(self, index: slice) -> list[SyncMessage]: ...

    def __getitem__(self, index: int | slice) -> SyncMessage | list[SyncMessage]:
        if isinstance(index, slice):
            return [SyncMessage(message, self._portal) for message in self._subject[index]]
        return SyncMessage(self._subject[index], self._portal)

    def __iter__(self) -> Iterator[SyncMessage]:
        return (SyncMessage(message, self._portal) for message in self._subject)

    def __repr__(self) -> str:
        return repr(self._subject)


class SyncConsumer(Context[Consumer]):
    """A consumer that threads may share. If an exception leaves the `with` block, the messages of
    that thread come again, and are not waited for.
    """

    def __init__(self, subject: Consumer, portal: Portal) -> None:
        super().__init__(subject, portal)
        self._in_hand: dict[int, list[Message]] = {}
        """What each thread was given and is not settled."""

    open = verb(Consumer.open)
    close = verb(Consumer.close)
    commit = verb(Consumer.commit)
    seek = verb(Consumer.seek)
    position = act(Consumer.position)
    pause = act(Consumer.pause)
    resume = act(Consumer.resume)
    queues = Fact[Consumer, tuple[MessageQueue, ...]](lambda consumer: consumer.queues)
    _receive = verb(Consumer.receive)
    _receive_many = verb(Consumer.receive_many)
    _next = verb(Consumer.__anext__)
    _begin_iterating = act(Consumer.__aiter__)

    def receive(self) -> SyncMessage:
        """The next message; waits until there is one."""
        message = self._receive()
        self._hold([message])
        return SyncMessage(message, self._portal)

    def receive_many(self, count: int, *, timeout: Duration | None = None) -> SyncBatch:
        """The messages that are there, up to `count`, with one change of threads: it waits for the
        first and for no other. Empty if none comes within `timeout`.
        """
        batch = self._receive_many(count, timeout=timeout)
        self._hold(batch)
        return SyncBatch(batch, self._portal)

    def run(
        self, handler: Callable[[SyncMessage], object], *, retry: Backoff | None = None
    ) -> None:
        """Call a function with every message, on threads, until the consumer is closed."""

        async def handle(message: Message) -> None:
            await asyncio.to_thread(handler, SyncMessage(message, self._portal))

        self._portal.call(self._subject.run(handle, retry=retry))

    def __iter__(self) -> Self:
        self._begin_iterating()
        return self

    def __next__(self) -> SyncMessage:
        try:
            message = self._next()
        except StopAsyncIteration:
            raise StopIteration from None
        self._hold([message])
        return SyncMessage(message, self._portal)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            for message in self._in_hand.pop(threading.get_ident(), ()):
                self._portal.call(_given_back(message))
        super().__exit__(kind, error, trace)

    def _hold(self, messages: Iterable[Message]) -> None:
        """Note that these messages were given to this thread."""
        in_hand = self._in_hand.setdefault(threading.get_ident(), [])
        in_hand[:] = [one for one in in_hand if not one.is_settled]
        in_hand.extend(messages)


class SyncReader(Context[Reader]):
    open = verb(Reader.open)
    close = verb(Reader.close)
    all_queues = verb(Reader.all_queues)
    assign = verb(Reader.assign)
    commit = verb(Reader.commit)
    seek = verb(Reader.seek)
    position = act(Reader.position)
    pause = act(Reader.pause)
    resume = act(Reader.resume)
    queues = Fact[Reader, tuple[MessageQueue, ...]](lambda reader: reader.queues)
    read = verb(Reader.read)
    """Messages that need not be settled: reading is not consuming."""
    _next = verb(Reader.__anext__)
    _begin_iterating = act(Reader.__aiter__)

    def __iter__(self) -> Self:
        self._begin_iterating()
        return self

    def __next__(self) -> Message:
        try:
            return self._next()
        except StopAsyncIteration:
            raise StopIteration from None


async def _given_back(message: Message) -> None:
    message.held_by().give_back(message)
