"""`SyncClient`: the client for callers without an event loop: the same methods, which wait.

    with aerobee.connect_sync("localhost:9876") as client:
        client.send("orders", b"{}")
        with client.consumer("orders", group="billing") as consumer:
            for message in consumer:
                with message.process():
                    ...

Heartbeats and pulls must go on while the application does something else, so there is a loop on a
thread of its own, named `aerobee-client`: begun by `with`, gone when `with` ends. A program with a
running loop needs no other: `sync(client)` is for the other threads of such a program.

Each line names an asynchronous method; its arguments and result are documented there.
"""

from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, Self

from aerobee.client.api.message import Message
from aerobee.client.client import Client, connect
from aerobee.client.connection.loop_portal import ClosedPortal, LoopThread, Portal
from aerobee.client.core.send.outgoing import Codec, to_json
from aerobee.client.sync.facade import Facade, Fact, giving, part, verb
from aerobee.client.sync.sync_admin import SyncAdmin
from aerobee.client.sync.sync_consumer import SyncConsumer, SyncMessage, SyncReader
from aerobee.client.sync.sync_producer import SyncProducer, SyncReceipt
from aerobee.client.sync.sync_send_modes import SyncSpill, SyncTransaction
from aerobee.errors import Misuse

P = ParamSpec("P")

THREAD = "aerobee-client"


class SyncClient(Facade[Client]):
    send = giving(Client.send, SyncReceipt)
    receive = verb(Client.receive)
    send_oneway = verb(Client.send_oneway)
    send_batch = verb(Client.send_batch)
    producer = part(Client.producer, SyncProducer)
    consumer = part(Client.consumer, SyncConsumer)
    reader = part(Client.reader, SyncReader)
    transaction = part(Client.transaction, SyncTransaction)
    answer_checks = verb(Client.answer_checks)
    request = verb(Client.request)
    spill = part(Client.spill, SyncSpill)
    id = Fact[Client, str](lambda client: client.id)

    def __init__(self, subject: Client, portal: Portal | None = None) -> None:
        """`portal`: of the loop that the client is open in; None: there is none yet."""
        super().__init__(subject, portal or ClosedPortal())
        self._thread = LoopThread(THREAD) if portal is None else None

    @property
    def admin(self) -> SyncAdmin:
        """The admin client, over this client's connections."""
        return SyncAdmin(self._subject.admin, self._portal)

    def reply(
        self, message: Message | SyncMessage, body: object, *, codec: Codec = to_json
    ) -> None:
        """Answer a message that was sent with `request`."""
        asked = message._subject if isinstance(message, SyncMessage) else message
        self._portal.call(self._subject.reply(asked, body, codec=codec))

    def open(self) -> None:
        """Start the loop and the client; `with` calls it."""
        if self._thread is None:
            raise Misuse("the client is open already")
        self._portal = self._thread.start()
        try:
            self._portal.call(self._subject.open())
        except BaseException:
            self._stop()
            raise

    def close(self) -> None:
        """Leave every group, unregister from the brokers, close, and end the thread."""
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

    made.__name__ = made.__qualname__ = f"{make.__name__}_sync"
    made.__doc__ = make.__doc__
    made.__wrapped__ = make  # type: ignore[attr-defined]  # for those who ask for its signature
    return made


connect_sync = _waiting(connect)


def sync(client: Client) -> SyncClient:
    """A facade for other threads of a client that is open in some loop: nothing is started. Misuse
    if it is used in the loop's own thread.
    """
    return SyncClient(client, client._session.portal)
