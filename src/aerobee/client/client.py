"""`Client`: the object that sends, consumes and administers, made by `connect`.

    async with aerobee.connect("localhost:9876") as client:
        ...

Its methods are thin: each calls the module that does the work. Imports more than 15 modules because
every verb is here; all but those of a simple send are imported when they are first used, since a
command that sends one message must not wait for the import of consumers.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from aerobee.client.api.client_options import (
    READER_GROUP,
    ClientKeywords,
    ClientOptions,
    Duration,
    options_for,
    seconds_of,
)
from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Codec, to_json
from aerobee.client.core.send.spill_rules import MAX_BYTES as SPILL_BYTES_MAX
from aerobee.client.core.target import Target
from aerobee.client.send.drafts import BatchKeywords, MessageKeywords, SendKeywords
from aerobee.client.send.sender import Sender
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.ports.clock import Clock

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.client.api.consumer_options import ConsumerKeywords, ReaderKeywords, Topics
    from aerobee.client.api.message import Message
    from aerobee.client.consumer.consumer import Consumer
    from aerobee.client.consumer.reader import Reader
    from aerobee.client.consumer.receive_consumers import ReceiveConsumers
    from aerobee.client.send.producer import Producer, ProducerKeywords
    from aerobee.client.send_modes.send_modes_assembly import (
        Check,
        SendModes,
        Spill,
        Transaction,
    )


def connect(target: str | Target = "localhost:9876", **options: Unpack[ClientKeywords]) -> "Client":
    """A client of the cluster whose name servers are at `target`, to be used with `async with`.
    No connection is opened before the first send or subscription.

    By keyword, with the default in brackets; a duration is a timedelta or seconds:

    credentials               an access key and its secret (those of the target)
    namespace                 in which topics and groups are named (that of the target)
    tls                       True, or an SSLContext (as the target says: rmqs://…?ca=FILE)
    timeout                   for one request, and for a send with all its tries (3 s)
    connect_timeout           for a connection (3 s)
    unit                      the unit of RocketMQ's unitised deployments (none)
    max_message_bytes         a larger body is refused before it is sent (4 MiB)
    trace                     write down what was sent and consumed, for RocketMQ's tools (False)
    avoid_slow_brokers        sends keep away for a while from a broker that was slow: True, by
                              RocketMQ's table, or a table of (latency ms, pause ms) (False)
    """
    return Client(options_for(target, **options))


class Client:
    """A client. C1. Everything of it happens on the loop that opened it; it starts no thread."""

    def __init__(self, options: ClientOptions, *, clock: Clock | None = None) -> None:
        self._session = Session(options, clock=clock)
        self._session.reply = self._reply
        self._sending = Sender(self._session)

    @property
    def id(self) -> str:
        """The client id that brokers know."""
        return self._session.client_id

    @cached_property
    def admin(self) -> "Admin":
        """The admin client, over this client's connections."""
        from aerobee.client.admin.admin import Admin

        return Admin(self._session)

    @cached_property
    def _special(self) -> "SendModes":
        from aerobee.client.send_modes.send_modes_assembly import SendModes

        return SendModes(self._session, self._sending)

    @cached_property
    def _receiving(self) -> "ReceiveConsumers":
        from aerobee.client.consumer.receive_consumers import ReceiveConsumers

        return ReceiveConsumers(self._session)

    async def open(self) -> None:
        """Start the client; `async with` calls it."""
        await self._session.start()
        if self._session.options.trace:
            self._special.start()

    async def close(self) -> None:
        """Leave every group, unregister from the brokers, close. Sends that were awaited are
        stored.
        """
        await self._session.close()

    async def send(
        self,
        topic: str,
        body: object,
        *,
        dedup: str | None = None,
        **said: Unpack[SendKeywords],
    ) -> Receipt:
        """Have a message stored; the receipt has its ids, queue and offset.

        By keyword: `tag`, `keys`, `headers`, `order_by`, `delay`, `deliver_at`, `priority`,
        `queue`, `timeout`, `retries`, `compress`, `codec`, `group`. A body is bytes, text, or any
        value that the codec takes: JSON, if none is given. Messages with the same `order_by` go to
        the same queue. `delay` or `deliver_at` have it delivered later. `priority`, from 0 on, has
        it popped before those of lower priorities, if the topic's type is PRIORITY. `dedup`, a
        producer id, has it stored once however often it is tried. SendFailed says whether the
        message may be stored all the same.
        """
        try:
            if dedup is not None:
                return await self._special.once.send(dedup, topic, body, **said)
            return await self._sending.send(topic, body, **said)
        except RuntimeError:
            self._session.check_loop()  # what asyncio says of another loop helps nobody
            raise

    async def send_oneway(
        self,
        topic: str,
        body: object,
        *,
        queue: MessageQueue | None = None,
        group: str | None = None,
        **said: Unpack[MessageKeywords],
    ) -> None:
        """Send a message without confirmation. A loss is not noticed."""
        await self._sending.send_oneway(topic, body, queue=queue, group=group, **said)

    async def send_batch(
        self,
        topic: str,
        messages: Iterable[object],
        *,
        dedup: str | None = None,
        **said: Unpack[BatchKeywords],
    ) -> Sequence[Receipt]:
        """Have messages stored one after the other in one queue, with one request.

        By keyword, as for `send`: `order_by`, `queue`, `timeout`, `retries`, `codec`, `group`. Each
        is a body, or an `Outgoing` where it is more than that. What is more than a broker takes at
        once (500 messages, `max_message_bytes`) goes in several requests, each when the one before
        it is stored: with `order_by` to one queue, else round the queues. SendFailed says how many
        are stored.
        """
        if isinstance(messages, str | bytes | bytearray | dict):
            # Its characters or keys would become messages.
            raise Misuse("a batch that is one body", hint="give a list of them, or use send")
        if dedup is not None:
            return await self._special.once.send_batch(dedup, topic, messages, **said)
        return await self._sending.send_batch(topic, messages, **said)

    def producer(
        self, topic: str, *, dedup: str | None = None, **options: "Unpack[ProducerKeywords]"
    ) -> "Producer":
        """A producer, which sends many messages to a topic in batches, to be used with `async
        with`.

        By keyword, with the default in brackets; a duration is a timedelta or seconds:

        linger                    for how long a batch waits for more messages (2 ms)
        max_batch, max_batch_bytes
                                  a batch that is full leaves at once (256, 128 KiB)
        max_pending, max_pending_bytes
                                  messages that wait or are on their way (20,000, 32 MiB)
        timeout                   for a batch with all its tries (that of the client)
        retries                   more tries of a batch that failed (2)
        codec                     makes bytes of a body that is neither bytes nor text (JSON)
        group                     the producer group (that of the client)
        dedup                     a producer id: each message is stored once (none)
        """
        from aerobee.client.send.producer import Producer, producer_options

        chosen = producer_options(**options)
        send_all = None
        if dedup is not None:
            send_all = self._special.once.sender(
                dedup, topic, group=chosen.group, timeout=chosen.timeout
            )
        return Producer(self._session, self._sending, topic, chosen, send_all)

    def consumer(self, topics: "Topics", **options: "Unpack[ConsumerKeywords]") -> "Consumer":
        """A consumer of these topics for a group, to be used with `async with`; see `Consumer`.

        By keyword, with the default in brackets; a duration is a timedelta or seconds:

        group                     whose members share the messages; needed
        tags, sql                 which messages: "a || b", or SQL92 over properties (all)
        start                     of a new group: "earliest", "latest" or a datetime ("latest")
        order                     "none", "queue" or "key" ("none")
        model                     "clustering", or "broadcasting": each member has all
        mode                      "pull", or "pop": members share every queue ("pull")
        concurrency               messages out at once (64)
        auto_ack                  acknowledge when the next one is asked for (False)
        max_attempts, retry       before a dead letter (16); when: a Backoff (the broker's levels)
        grace                     how long closing waits for messages in work (30 s)
        consume_timeout           a message out for longer comes again (15 min)
        invisible                 how long a popped message is hidden from others (60 s)
        strategy                  how queues are shared out (Averagely())
        pull_batch                messages of one pull (256)
        queue_messages_max, queue_bytes_max, queue_span_max
                                  of each queue, held here before pulling rests
        poll, commit_every, rebalance_every, hand_over
                                  how often, how long (15 s, 5 s, 20 s, 0.5 s)
        offsets_folder            where a broadcasting member keeps its offsets (the home folder)
        """
        from aerobee.client.api.consumer_options import consumer_options
        from aerobee.client.consumer.consumer import Consumer

        return Consumer(self._session, consumer_options(topics, **options))

    def reader(
        self, topics: "Topics", *, group: str = READER_GROUP, **options: "Unpack[ReaderKeywords]"
    ) -> "Reader":
        """A reader of queues from any position, which is no member of a group; see `Reader`."""
        from aerobee.client.api.consumer_options import consumer_options
        from aerobee.client.consumer.reader import Reader

        return Reader(self._session, consumer_options(topics, group=group, **options))

    async def receive(self, topic: str, *, group: str, timeout: Duration = 30.0) -> "Message":
        """The next message of a topic for a group, acknowledged; for scripts and tests.
        TimeoutError: there was none. A group that is new begins with the oldest.
        """
        return await self._receiving.receive(topic, group, seconds_of(timeout, "timeout"))

    def transaction(
        self,
        topic: str,
        body: object,
        *,
        check: "Check | None" = None,
        group: str,
        queue: MessageQueue | None = None,
        timeout: Duration | None = None,
        **said: Unpack[MessageKeywords],
    ) -> "Transaction":
        """A transactional message: consumers see it if the block of `async with` succeeds.

        Brokers call `check` for a message whose outcome they were not told: True commits it, False
        rolls it back, None has it checked again later. One function serves all transactions of a
        group.
        """
        draft = self._sending.drafts.draft(topic, body, **said)
        seconds = None if timeout is None else seconds_of(timeout, "timeout")
        return self._special.transaction(draft, group, check, queue=queue, timeout=seconds)

    async def answer_checks(self, group: str, check: "Check", *, topics: Iterable[str]) -> None:
        """Answer checks for a group's transactions that another process began, or this one before a
        restart: checks of the brokers that have these topics.
        """
        for topic in topics:
            await self._special.transactions.join(
                group, check, self._sending.drafts.wire_topic(topic)
            )

    async def request(
        self,
        topic: str,
        body: object,
        *,
        timeout: Duration | None = None,
        queue: MessageQueue | None = None,
        **said: Unpack[MessageKeywords],
    ) -> "Message":
        """Send a message and wait for the reply that a consumer gives with `reply`."""
        draft = self._sending.drafts.draft(topic, body, **said)
        seconds = self._session.options.timeout if timeout is None else seconds_of(timeout)
        return await self._special.requests.request(draft, queue=queue, timeout=seconds)

    async def reply(self, message: "Message", body: object, *, codec: Codec = to_json) -> None:
        """Answer a message that was sent with `request`, as `message.reply(body)` does."""
        await self._reply(message, body, codec)

    def spill(
        self,
        path: str,
        *,
        max_bytes: int = SPILL_BYTES_MAX,
        expire: Duration | None = None,
        keep_unknown: bool = True,
    ) -> "Spill":
        """A spill: sends are kept in a SQLite file while no broker answers, and sent in order when
        one does; to be used with `async with`. `keep_unknown=False`: a send of unknown outcome is
        raised instead of kept, and so never sent twice.
        """
        return self._special.spill(
            path, max_bytes=max_bytes, expire=expire, keep_unknown=keep_unknown
        )

    async def _reply(self, message: "Message", body: object, codec: Codec) -> None:
        await self._special.requests.reply(message, body, codec)

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
