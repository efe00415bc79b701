"""`BatchSender` sends many messages of one call: cut into what a broker takes at once, part after
part.

    messages ─▶ bodies, texts ─▶ cuts ─▶ part ─▶ fast path ─▶ receipts
                                                   │ not applicable, or failed
                                                   └─▶ drafts ─▶ delivery (general path)

B1. A message that is not valid is refused before anything is sent.
B2. A part is sent when the one before it is stored: if one fails, everything before it is stored,
    and nothing behind it sent.
B3. A part is one request: its messages follow each other in one queue. All parts of a batch with an
    order key go to the queue of the key; those of another go to one queue after the other.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from aerobee.client.api.receipt import BatchReceipt, LongBatchReceipt, Receipt
from aerobee.client.core.send.outgoing import (
    Codec,
    Draft,
    Outgoing,
    batch_of,
    body_bytes,
    encode_text,
    order_text,
    to_json,
)
from aerobee.client.core.send.send_tries import SendTries
from aerobee.client.send.delivery import Delivery, Sent
from aerobee.client.send.drafts import BatchOptions, Drafts
from aerobee.client.send.fast_send import NEXT, SendWaiter
from aerobee.client.send.fast_send_lanes import FastSendLanes
from aerobee.errors import Misuse, NoAnswer, RemoteAnswer, SendFailed, Stored
from aerobee.protocol.message.message_batch import ENTRY_BYTES_MIN
from aerobee.protocol.send.send_frame_template import cut_batch

PART_MESSAGES_MAX = 500
"""Of one request. Its answer names every message in one field, which ends at 32 KiB: with 33
characters for each, with 57 of a broker with a long address."""


Deliver = Callable[[Sequence[Draft]], Awaitable[Sent]]
"""What has drafts stored with one request."""


class _FastBatch(NamedTuple):
    """Messages encoded for the wire, and the ends of the parts."""

    messages: list[object]
    """As they were said, but for bodies, which are bytes."""
    bodies: list[object]
    texts: list[bytes] | None
    """What each says besides, if they differ."""
    text: bytes
    """What all say otherwise."""
    ends: list[int]


class BatchSender:
    """The batch sender of one client."""

    def __init__(
        self, drafts: Drafts, delivery: Delivery, lanes: FastSendLanes, bytes_max: int
    ) -> None:
        """`bytes_max`: of one request."""
        self._drafts = drafts
        self._delivery = delivery
        self._lanes = lanes
        self._bytes_max = bytes_max
        self._each = ENTRY_BYTES_MIN + lanes.properties_bytes

    async def send(self, messages: Iterable[object], options: BatchOptions) -> Sequence[Receipt]:
        listed = list(messages)
        order_by = options.order_by
        text = b"" if order_by is None else order_text(order_by)
        waiter = None
        if len(listed) <= PART_MESSAGES_MAX:
            waiter = self._send_fast(listed, None, text, options)
            if waiter is not None:
                try:
                    receipt: BatchReceipt = await waiter.answer
                    return receipt
                except (NoAnswer, RemoteAnswer):
                    pass  # of the first try: whether there are others is said below
        batch = self._cut(listed, text, options.codec)
        if options.queue is None and batch.texts is not None:
            _check_orders(listed, order_by)
        return await _sent_in_parts(batch.ends, partial(self._send_part, batch, options, waiter))

    async def send_drafts(self, drafts: Sequence[Draft], deliver: Deliver) -> Sequence[Receipt]:
        """Send drafts in parts with another `deliver`, such as that of deduplicated sends."""
        ends = cut_batch(
            [draft.body for draft in drafts],
            [draft.properties_text() for draft in drafts],
            ENTRY_BYTES_MIN,
            self._bytes_max,
            PART_MESSAGES_MAX,
        )
        if not ends:
            raise _nothing()

        async def send(start: int, end: int) -> BatchReceipt:
            part = drafts[start:end]
            return self._receipt(part, await deliver(part))

        return await _sent_in_parts(ends, send)

    def one(
        self,
        topic: str,
        message: object,
        order_by: str | None,
        codec: Codec = to_json,
        unique_id: str = "",
    ) -> Draft:
        """A message of a batch as a draft."""
        if not isinstance(message, Outgoing):
            message = Outgoing(message, order_by=order_by)
        return self._drafts.plain(topic, message, codec, unique_id)

    def _receipt(self, drafts: Sequence[Draft], sent: Sent) -> BatchReceipt:
        return BatchReceipt(
            [draft.unique_id for draft in drafts],
            sent.said.message_ids,
            self._lanes.shown(sent.queue),
            sent.said.queue_offset,
            sent.durability,
        )

    def _cut(self, listed: list[object], text: bytes, codec: Codec) -> _FastBatch:
        each, bytes_max = self._each, self._bytes_max
        ends = cut_batch(listed, None, each + len(text), bytes_max, PART_MESSAGES_MAX)
        if ends:
            return _FastBatch(listed, listed, None, text, ends)
        if ends is not None:
            raise _nothing()
        messages, bodies, texts = _encoded(listed, text, codec)
        ends = cut_batch(bodies, texts, each, bytes_max, PART_MESSAGES_MAX)
        assert ends is not None  # bodies are bytes by now
        return _FastBatch(messages, bodies, texts, b"", ends)

    async def _send_part(
        self,
        batch: _FastBatch,
        options: BatchOptions,
        waiter: SendWaiter | None,
        start: int,
        end: int,
    ) -> BatchReceipt:
        """Send one part. `waiter`: of a first try that was made already."""
        queue = options.queue
        unique_ids: list[bytes] = []
        tries: SendTries | None = None
        if waiter is None:
            bodies, texts = batch.bodies[start:end], batch.texts
            texts = None if texts is None else texts[start:end]
            waiter = self._send_fast(bodies, texts, batch.text, options)
        if waiter is not None:
            try:
                receipt: BatchReceipt = await waiter.answer
                return receipt
            except (NoAnswer, RemoteAnswer) as error:
                wire_topic = self._drafts.wire_topic(options.topic)
                tries = self._delivery.first_failed(wire_topic, waiter, error, options.retries)
                unique_ids = waiter.message_id
                if options.order_by is not None:
                    queue = waiter.queue  # to no other, should the queues have become others
        drafts = [
            self.one(options.topic, message, options.order_by, unique_id=unique_id.decode())
            for message, unique_id in zip_longest(
                batch.messages[start:end], unique_ids, fillvalue=b""
            )
        ]
        sent = await self._delivery.deliver(
            batch_of(drafts, options.order_by),
            group=options.group,
            queue=queue,
            timeout=options.seconds,
            retries=options.retries,
            tries=tries,
        )
        self._lanes.open(options.topic, drafts[0].topic, sent.queue)
        return self._receipt(drafts, sent)

    def _send_fast(
        self, bodies: list[object], texts: list[bytes] | None, text: bytes, options: BatchOptions
    ) -> SendWaiter | None:
        """None: the general path is needed."""
        lane = self._lanes.find(options.topic) if options.group is None else None
        if lane is None:
            return None
        place: int | None = NEXT
        if options.queue is not None:
            place = lane.find_place(options.queue)
        elif options.order_by is not None:
            place = lane.place_for(options.order_by.encode())
        return (
            None if place is None else lane.send_batch(place, bodies, texts, text, options.seconds)
        )


def _encoded(
    listed: Iterable[object], text: bytes, codec: Codec
) -> tuple[list[object], list[object], list[bytes]]:
    """Messages with their bodies as bytes, those bodies, and the properties text of each message:
    `text` for one that is not an Outgoing.
    """
    messages: list[object] = []
    bodies: list[object] = []
    texts: list[bytes] = []
    for message in listed:
        if isinstance(message, Outgoing):
            said = _settled(message, codec)
            messages.append(said)
            bodies.append(said.body)
            texts.append(_text_of(said))
        else:
            body = body_bytes(message, codec)
            messages.append(body)
            bodies.append(body)
            texts.append(text)
    return messages, bodies, texts


def _settled(message: Outgoing, codec: Codec) -> Outgoing:
    """The same message with its body as bytes."""
    body = message.body
    if type(body) is bytes and body:
        return message
    encoded = body_bytes(body, codec)
    return Outgoing(encoded, message.tag, message.keys, message.headers, message.order_by)


def _text_of(message: Outgoing) -> bytes:
    if message.order_by is not None and not (message.tag or message.keys or message.headers):
        return order_text(message.order_by)
    return encode_text(message.tag, message.keys, message.headers, message.order_by)


def _nothing() -> Misuse:
    return Misuse("a batch without messages", hint="give at least one")


async def _sent_in_parts(
    ends: Sequence[int], send: Callable[[int, int], Awaitable[BatchReceipt]]
) -> Sequence[Receipt]:
    """Send the messages part after part; `ends` has the end of each part."""
    stored: list[BatchReceipt] = []
    start = 0
    for end in ends:
        try:
            stored.append(await send(start, end))
        except SendFailed as failure:
            if not stored:
                raise
            raise _partial_failure(failure, start, ends[-1]) from failure
        start = end
    return stored[0] if len(stored) == 1 else LongBatchReceipt(stored)


def _check_orders(messages: Iterable[object], order_by: str | None) -> None:
    """Raise Misuse unless all may go to one queue."""
    for message in messages:
        if isinstance(message, Outgoing) and message.order_by not in (None, order_by):
            raise Misuse(
                "a message with an order of its own in a batch",
                hint="a batch goes to one queue: say order_by for all, or use a producer",
            )


def _partial_failure(failure: SendFailed, stored: int, count: int) -> SendFailed:
    """The error of a batch that went in several requests, of which one failed."""
    return SendFailed(
        f"the first {stored} of {count} messages are stored; of the others: {failure.message}",
        stored=Stored.UNKNOWN,
        attempts=failure.attempts,
        hint=failure.hint,
    )
