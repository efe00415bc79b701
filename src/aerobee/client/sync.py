"""The client for callers without an event loop: the same verbs, waited for.

    with aerobee.connect_sync("localhost:9876") as client:
        client.send("orders", b"{}")
        with client.consumer("orders", group="billing") as consumer:
            for message in consumer:
                with message.process():
                    ...

Heartbeats and pulls must go on while the application does something else, so there is a loop on a
thread of its own: begun by `with`, named `aerobee-client`, gone when `with` ends. Who has a loop
already needs no other: `sync(client)` is for the other threads of such a program.

Each line names an asynchronous verb; what it takes and gives is said there.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from aerobee.client.blocking import (
    ClosedPortal,
    Facade,
    Fact,
    LoopThread,
    Portal,
    act,
    giving,
    part,
    verb,
)
from aerobee.client.client import Client, connect
from aerobee.client.consumer import Consumer
from aerobee.client.core.backoff import Backoff
from aerobee.client.message import Message, Processing
from aerobee.client.receipt import Durability, Receipt
from aerobee.client.sync_admin import SyncAdmin
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue

P = ParamSpec("P")
T = TypeVar("T")

THREAD = "aerobee-client"


def _of_message(said: Callable[[Message], T]) -> Fact[Message, T]:
    return Fact(said)


class SyncProcessing(Facade[Processing]):
    """`with message.process()`."""

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
    """A received message. Immutable, as the other."""

    body = _of_message(lambda message: message.body)
    topic = _of_message(lambda message: message.topic)
    tag = _of_message(lambda message: message.tag)
    keys = _of_message(lambda message: message.keys)
    headers = _of_message(lambda message: message.headers)
    properties = _of_message(lambda message: message.properties)
    message_id = _of_message(lambda message: message.message_id)
    attempt = _of_message(lambda message: message.attempt)
    queue = _of_message(lambda message: message.queue)
    offset = _of_message(lambda message: message.offset)
    born_at = _of_message(lambda message: message.born_at)
    stored_at = _of_message(lambda message: message.stored_at)
    json = _of_message(lambda message: message.json)
    ack = verb(Message.ack)
    nack = verb(Message.nack)
    reject = verb(Message.reject)
    extend = verb(Message.extend)
    process = part(Message.process, SyncProcessing)

    def __repr__(self) -> str:
        return repr(self._subject)


class SyncConsumer(Facade[Consumer]):
    open = verb(Consumer.open)
    close = verb(Consumer.close)
    commit = verb(Consumer.commit)
    seek = verb(Consumer.seek)
    position = act(Consumer.position)
    pause = act(Consumer.pause)
    resume = act(Consumer.resume)
    queues = Fact[Consumer, tuple[MessageQueue, ...]](lambda consumer: consumer.queues)
    receive = giving(Consumer.receive, SyncMessage)
    _next = verb(Consumer.__anext__)

    def run(
        self, handler: Callable[[SyncMessage], object], *, retry: Backoff | None = None
    ) -> None:
        """Have a function handle every message, on threads, until the consumer is closed."""

        async def handle(message: Message) -> None:
            await asyncio.to_thread(handler, SyncMessage(message, self._portal))

        self._portal.call(self._subject.run(handle, retry=retry))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> SyncMessage:
        try:
            return SyncMessage(self._next(), self._portal)
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal.call(self._subject.__aexit__(kind, error, trace))


class SyncReceipt(Facade[Receipt]):
    """Where a message is."""

    message_id = Fact[Receipt, str](lambda receipt: receipt.message_id)
    offset_id = Fact[Receipt, str](lambda receipt: receipt.offset_id)
    queue = Fact[Receipt, MessageQueue](lambda receipt: receipt.queue)
    offset = Fact[Receipt, int](lambda receipt: receipt.offset)
    durability = Fact[Receipt, Durability](lambda receipt: receipt.durability)
    recall_handle = Fact[Receipt, str](lambda receipt: receipt.recall_handle)
    cancel = verb(Receipt.cancel)

    def __repr__(self) -> str:
        return repr(self._subject)


class SyncClient(Facade[Client]):
    send = giving(Client.send, SyncReceipt)
    receive = verb(Client.receive)
    send_oneway = verb(Client.send_oneway)
    send_batch = verb(Client.send_batch)
    consumer = part(Client.consumer, SyncConsumer)
    id = Fact[Client, str](lambda client: client.id)

    def __init__(self, subject: Client, portal: Portal | None = None) -> None:
        """`portal`: of the loop that the client is open in; None: there is none yet."""
        super().__init__(subject, portal or ClosedPortal())
        self._thread = LoopThread(THREAD) if portal is None else None

    @property
    def admin(self) -> SyncAdmin:
        """What tools can ask, over this client's connections."""
        return SyncAdmin(self._subject.admin, self._portal)

    def open(self) -> None:
        """What `with` does first."""
        if self._thread is None:
            raise Misuse("the client is open already")
        self._portal = self._thread.start()
        try:
            self._portal.call(self._subject.open())
        except BaseException:
            self._stop()
            raise

    def close(self) -> None:
        """Leave every group, say goodbye, close, and end the thread."""
        if self._thread is None:
            raise Misuse("it is closed where it was opened", hint="end its `async with` block")
        if isinstance(self._portal, ClosedPortal):
            return
        try:
            self._portal.call(self._subject.close())
        finally:
            self._stop()

    def _stop(self) -> None:
        self._portal = ClosedPortal()
        if self._thread is not None:
            self._thread.stop()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _waiting(make: Callable[P, Client]) -> Callable[P, SyncClient]:
    def made(*args: P.args, **options: P.kwargs) -> SyncClient:
        return SyncClient(make(*args, **options))

    made.__doc__ = make.__doc__
    made.__wrapped__ = make  # type: ignore[attr-defined]  # for those who ask for its signature
    return made


connect_sync = _waiting(connect)


def sync(client: Client) -> SyncClient:
    """A client that is open in some loop, for the other threads of the program: nothing is started.
    Misuse in the loop's own thread, when it is used."""
    return SyncClient(client, client._session.portal)
