"""`Producer` sends messages of one topic in batches, with a bound on what waits.

    async with client.producer("orders", linger=0.002, max_batch=256) as producer:
        for row in rows:
            producer.send_nowait(row)       # ProducerFull when too much waits
        await producer.drain()              # raises if any of them was not stored
        receipt = await producer.send(row)  # waits for room, and until it is stored

Messages with the same `order_by` go to one queue, a batch of that queue after the other; the others
go to one queue after the other, a batch to each. Leaving the block drains.

P1. A message that was handed over is stored, or its failure is reported: to the task that awaits
    it, to its callback, or by the next drain.
P2. Messages that wait and messages that are being sent together stay within `max_pending` and
    `max_pending_bytes`; one message alone is always taken.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self, TypedDict, Unpack, cast

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.keyword_check import check_keywords
from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Codec, Outgoing, body_bytes, properties_of, to_json
from aerobee.client.core.send.producer_batches import Batch, ProducerBatches
from aerobee.client.core.send.queue_choice import queue_for_key
from aerobee.client.send.delivery import RETRIES
from aerobee.client.send.sender import Sender
from aerobee.errors import AerobeeError, Misuse, ProducerFull, SendFailed, Stored
from aerobee.model.message_queue import MessageQueue

_log = logging.getLogger(__name__)

_EACH_BYTES = 96  # of a message besides its body: entry and id

Callback = Callable[[Receipt | AerobeeError], None]
"""Told where a message is, or why it is not."""
SendAll = Callable[[Sequence[object], MessageQueue | None], Awaitable[Sequence[Receipt]]]


@dataclass(frozen=True, slots=True)
class ProducerOptions:
    """Settings of a producer. O1. All are positive; a linger may be 0: then it is one turn of the
    loop.
    """

    linger: float = 0.002
    max_batch: int = 256
    max_batch_bytes: int = 128 << 10
    max_pending: int = 20_000
    max_pending_bytes: int = 32 << 20
    timeout: float | None = None
    retries: int = RETRIES
    codec: Codec = to_json
    group: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_batch", "max_batch_bytes", "max_pending", "max_pending_bytes"):
            if getattr(self, name) <= 0:
                raise Misuse(f"{name} must be more than nothing")


class ProducerKeywords(TypedDict, total=False):
    """What `client.producer` takes by keyword, besides `dedup`."""

    linger: Duration
    max_batch: int
    max_batch_bytes: int
    max_pending: int
    max_pending_bytes: int
    timeout: Duration | None
    retries: int
    codec: Codec
    group: str | None


_KEYWORDS = ProducerKeywords.__optional_keys__ | {"dedup"}


def producer_options(**said: Unpack[ProducerKeywords]) -> ProducerOptions:
    """Misuse says what is no option, or not within its bounds."""
    check_keywords(said, _KEYWORDS, "a producer")
    chosen: dict[str, Any] = {**said}
    if "linger" in chosen:
        chosen["linger"] = seconds_of(chosen["linger"], "linger")
    if chosen.get("timeout") is not None:
        chosen["timeout"] = seconds_of(chosen["timeout"], "timeout")
    return ProducerOptions(**chosen)


class _Item(NamedTuple):
    message: object
    """Bytes, or an Outgoing."""
    size: int
    told: "asyncio.Future[Receipt] | Callback | None"


class Producer:
    """A producer of one topic. It belongs to its client's loop."""

    def __init__(
        self,
        session: Session,
        sending: Sender,
        topic: str,
        options: ProducerOptions,
        send_all: SendAll | None = None,
    ) -> None:
        """`send_all` replaces the usual sending of a batch, such as for deduplicated sends."""
        self._session = session
        self._send_all = send_all
        self._sending = sending
        self._topic = topic
        self._options = options
        self._gathering: ProducerBatches[_Item] = ProducerBatches(
            options.linger, options.max_batch, options.max_batch_bytes
        )
        self._timer: asyncio.Handle | None = None
        self._pending = 0
        self._pending_bytes = 0
        # Batches of one queue, of which the first is on its way and the others wait for it.
        self._runs: dict[MessageQueue, list[Batch[_Item]]] = {}
        self._wire_topic = ""  # once it is open
        self._changed = asyncio.Event()
        self._failures: list[AerobeeError] = []
        self._failed = 0
        self._is_open = False

    @property
    def pending(self) -> int:
        """The number of messages handed over that are not known to be stored."""
        return self._pending

    def send_nowait(
        self,
        body: object,
        *,
        tag: str = "",
        keys: str | Iterable[str] = (),
        headers: Mapping[str, str] | None = None,
        order_by: str | None = None,
        callback: Callback | None = None,
    ) -> None:
        """Hand a message over. ProducerFull if too much waits: `await drain()`, or `send`."""
        self._session.check()
        message, size = self._message(body, tag, keys, headers, order_by)
        if not self._has_room(size):
            raise ProducerFull(
                f"{self._pending} messages of {self._topic}, {self._pending_bytes} bytes, wait",
                hint="await producer.drain() now and then, or use await producer.send(...)",
            )
        self._add(_Item(message, size, callback), order_by)

    async def send(
        self,
        body: object,
        *,
        tag: str = "",
        keys: str | Iterable[str] = (),
        headers: Mapping[str, str] | None = None,
        order_by: str | None = None,
    ) -> Receipt:
        """Hand a message over, when there is room, and wait until it is stored."""
        self._session.check()
        message, size = self._message(body, tag, keys, headers, order_by)
        while not self._has_room(size):
            await self._change()
        told: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._add(_Item(message, size, told), order_by)
        return await told

    async def drain(self) -> None:
        """Send waiting messages now, and wait for all. SendFailed if one was not stored whose
        failure was not reported yet.
        """
        self._leave(self._gathering.take_all())
        while self._pending:
            await self._change()
        failures, self._failures = self._failures, []
        failed, self._failed = self._failed, 0
        if failed == 1:
            raise failures[0]
        if failed:
            raise _several(failures, failed)

    async def open(self) -> None:
        """Find the topic; `async with` calls it. TopicNotFound, or Unreachable."""
        self._session.check()
        self._wire_topic = self._sending.drafts.wire_topic(self._topic)
        await self._session.routes.of(self._wire_topic, may_be_new=True)
        self._is_open = True

    async def close(self) -> None:
        """Drain, and take no more messages."""
        self._is_open = False
        try:
            await self.drain()
        finally:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self.close()
        except AerobeeError as failure:
            if error is None:
                raise
            _log.warning("beside another error: %s", failure)

    # Handing over.

    def _message(
        self,
        body: object,
        tag: str,
        keys: str | Iterable[str],
        headers: Mapping[str, str] | None,
        order_by: str | None,
    ) -> tuple[object, int]:
        """The checked message: a mistake shows here, not when its batch is sent."""
        if not self._is_open:
            raise Misuse("the producer is not open", hint="use it inside `async with`")
        encoded = body if type(body) is bytes and body else body_bytes(body, self._options.codec)
        size = len(encoded) + _EACH_BYTES
        if not (tag or keys or headers or order_by is not None):
            return encoded, size
        message = Outgoing(encoded, tag, keys, headers, order_by)
        properties = properties_of(tag, message.keys, headers, order_by)
        size += sum(len(name) + len(text) + 2 for name, text in properties.items())
        return message, size

    def _has_room(self, size: int) -> bool:
        return self._pending == 0 or (
            self._pending < self._options.max_pending
            and self._pending_bytes + size <= self._options.max_pending_bytes
        )

    def _add(self, item: _Item, order_by: str | None) -> None:
        loop = asyncio.get_running_loop()
        self._pending += 1
        self._pending_bytes += item.size
        place = None if order_by is None else self._queue(order_by)
        leaving = self._gathering.add(place, item, item.size, loop.time())
        if leaving:
            self._leave(leaving)
        if self._timer is None:
            self._timer = loop.call_later(self._options.linger, self._look)

    def _queue(self, key: str) -> MessageQueue | None:
        """The queue of a key; None while the route has none."""
        route = self._session.routes.find(self._wire_topic)
        return queue_for_key(route.writable, key) if route and route.writable else None

    def _look(self) -> None:
        """Send the batches whose linger is over."""
        self._timer = None
        loop = asyncio.get_running_loop()
        self._leave(self._gathering.take_due(loop.time() + 1e-4))
        due = self._gathering.next_due()
        if due is not None:
            self._timer = loop.call_at(due, self._look)

    # Sending.

    def _leave(self, batches: Iterable[Batch[_Item]]) -> None:
        for batch in batches:
            place = cast("MessageQueue | None", batch.place)
            run = None if place is None else self._runs.get(place)
            if run is not None:
                run.append(batch)
                continue
            run = [batch]
            if place is not None:
                self._runs[place] = run
            task = self._session.spawn(self._deliver(place, run), f"a batch for {self._topic}")
            task.add_done_callback(partial(self._ended, place, run))

    async def _deliver(self, place: MessageQueue | None, run: list[Batch[_Item]]) -> None:
        """Send batches one after the other: those of one queue keep their order."""
        while run:
            try:
                outcome: Sequence[Receipt] | AerobeeError = await self._send(run[0])
            except AerobeeError as error:
                outcome = error
            self._settle(run.pop(0), outcome)
        # Here, and not when the task is known to have ended: nobody would send what came between.
        if place is not None:
            del self._runs[place]

    def _ended(
        self, place: MessageQueue | None, run: list[Batch[_Item]], task: "asyncio.Task[None]"
    ) -> None:
        """Called when a delivering task ends: all was delivered, unless the client was closed
        before.
        """
        if run and place is not None:
            del self._runs[place]
        for batch in run:
            self._settle(batch, Misuse("the client was closed before the message was stored"))

    async def _send(self, batch: Batch[_Item]) -> Sequence[Receipt]:
        options = self._options
        queue = cast("MessageQueue | None", batch.place)
        if self._send_all is not None:
            return await self._send_all([item.message for item in batch.items], queue)
        if len(batch.items) > 1:
            return await self._sending.send_batch(
                self._topic,
                [item.message for item in batch.items],
                queue=queue,
                timeout=options.timeout,
                retries=options.retries,
                group=options.group,
            )
        message = batch.items[0].message
        if not isinstance(message, Outgoing):
            message = Outgoing(message)
        return [
            await self._sending.send(
                self._topic,
                message.body,
                tag=message.tag,
                keys=message.keys,
                headers=message.headers,
                order_by=message.order_by,
                queue=queue,
                timeout=options.timeout,
                retries=options.retries,
                group=options.group,
            )
        ]

    def _settle(self, batch: Batch[_Item], outcome: Sequence[Receipt] | AerobeeError) -> None:
        """Report the result of a batch to its callers, and make room."""
        self._pending -= len(batch.items)
        self._pending_bytes -= batch.size
        self._changed.set()
        untold = 0
        for number, item in enumerate(batch.items):
            told = item.told
            if told is None:
                untold += 1
            elif not isinstance(told, asyncio.Future):
                self._call(told, outcome if isinstance(outcome, AerobeeError) else outcome[number])
            elif not told.done():
                if isinstance(outcome, AerobeeError):
                    told.set_exception(outcome)
                else:
                    told.set_result(outcome[number])
        if untold and isinstance(outcome, AerobeeError):
            self._failed += untold
            self._failures.append(outcome)

    def _call(self, callback: Callback, outcome: Receipt | AerobeeError) -> None:
        try:
            callback(outcome)
        except Exception:
            # The application's own: it must not take the other messages with it.
            _log.exception("a callback for %s failed", self._topic)

    async def _change(self) -> None:
        """Wait until a batch was settled."""
        self._changed.clear()
        await self._changed.wait()


def _several(failures: Sequence[AerobeeError], count: int) -> SendFailed:
    sends = [failure for failure in failures if isinstance(failure, SendFailed)]
    is_unknown = any(failure.stored is Stored.UNKNOWN for failure in sends)
    failed = SendFailed(
        f"{count} messages were not acknowledged; the first: {failures[0].message}",
        stored=Stored.UNKNOWN if is_unknown else Stored.NO,
        attempts=[failure.message for failure in failures],
        hint=failures[0].hint,
    )
    failed.__cause__ = failures[0]
    return failed
