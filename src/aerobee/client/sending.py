"""The verbs of sending: one message, one without an answer, a batch; and taking one back.

Those who send special messages (a half one, a request) take a draft from `drafts`, add to its
properties, and hand it to `delivery`.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Unpack

from aerobee.client.asking import ask_well
from aerobee.client.core.outgoing import (
    COMPRESS_FROM_BYTES,
    Codec,
    Draft,
    Outgoing,
    batch_of,
    encode_text,
    order_text,
    to_json,
)
from aerobee.client.delivery import RETRIES, Delivery, Sent
from aerobee.client.drafting import Drafts, MessageKeywords, TimedKeywords
from aerobee.client.options import Duration, seconds_of
from aerobee.client.quick_lanes import QuickLanes
from aerobee.client.quick_send import QuickSend, SendWaiter
from aerobee.client.receipt import BatchReceipt, Receipt
from aerobee.client.session import Session
from aerobee.errors import Misuse, NoAnswer, Refused, RemoteAnswer, SendFailed, Stored
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_ENTRY_BYTES = 22  # of a batch, besides body and properties
PART_MESSAGES_MAX = 500
"""Of one request. Its answer names every message in one field, which ends at 32 KiB: with 33
characters for each, with 57 of a broker with a long address."""
_QUICK_BYTES_END = 64 << 10  # larger bodies are not copied more than once


class Sending:
    """What a client's verbs of sending hand over to."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.drafts = Drafts(session)
        self.delivery = Delivery(session)
        self._lanes = QuickLanes(session, self.delivery.command)
        self._timeout = session.options.timeout

    async def send(
        self,
        topic: str,
        body: object,
        *,
        queue: MessageQueue | None = None,
        timeout: Duration | None = None,
        retries: int = RETRIES,
        group: str | None = None,
        **said: Unpack[TimedKeywords],
    ) -> Receipt:
        self._session.check()
        seconds = self._timeout if timeout is None else seconds_of(timeout, "timeout")
        unique_id, tries = "", None
        lane = self._lanes.find(topic)
        if (
            lane is not None
            and type(body) is bytes
            and queue is None
            and group is None
            and (not said or _is_quick(said))
            and 0 < len(body) < _quick_bytes_end(said)
        ):
            waiter = _send_quickly(lane, body, seconds, said)
            if waiter is not None:
                try:
                    receipt: Receipt = await waiter.answer
                    return receipt
                except (NoAnswer, RemoteAnswer) as error:
                    unique_id = waiter.message_id.decode()
                    tries = self.delivery.first_failed(topic, waiter, error, retries)
                    if said.get("order_by") is not None:
                        queue = waiter.queue  # to no other, should the queues have become others
        draft = self.drafts.draft(topic, body, unique_id=unique_id, **said)
        sent = await self.delivery.deliver(
            draft, group=group, queue=queue, timeout=seconds, retries=retries, tries=tries
        )
        self._lanes.open(topic, draft.topic, sent.queue)
        return self.receipt(draft, sent)

    async def send_oneway(
        self,
        topic: str,
        body: object,
        *,
        queue: MessageQueue | None = None,
        group: str | None = None,
        **said: Unpack[MessageKeywords],
    ) -> None:
        self._session.check()
        draft = self.drafts.draft(topic, body, **said)
        await self.delivery.tell(draft, group=group, queue=queue)

    async def send_batch(
        self,
        topic: str,
        messages: Iterable[object],
        *,
        order_by: str | None = None,
        queue: MessageQueue | None = None,
        timeout: Duration | None = None,
        retries: int = RETRIES,
        codec: Codec = to_json,
        group: str | None = None,
    ) -> Sequence[Receipt]:
        self._session.check()
        seconds = self._timeout if timeout is None else seconds_of(timeout, "timeout")
        listed = list(messages)
        unique_ids: list[bytes] = []
        tries = None
        lane = self._lanes.find(topic) if len(listed) <= PART_MESSAGES_MAX else None
        if lane is not None and order_by is None and queue is None and group is None:
            waiter = lane.send_batch(listed, seconds)
            if waiter is not None:
                try:
                    receipts: BatchReceipt = await waiter.answer
                    return receipts
                except (NoAnswer, RemoteAnswer) as error:
                    unique_ids = waiter.message_id
                    tries = self.delivery.first_failed(topic, waiter, error, retries)
        if queue is None:
            check_orders(listed, order_by)
        drafts = [
            self.one_of_batch(topic, message, order_by, codec, unique_id.decode())
            for message, unique_id in zip_longest(listed, unique_ids, fillvalue=b"")
        ]
        stored: list[Sequence[Receipt]] = []
        for part in self.parts(drafts):
            try:
                sent = await self.delivery.deliver(
                    batch_of(part, order_by),
                    group=group,
                    queue=queue,
                    timeout=seconds,
                    retries=retries,
                    tries=tries,
                )
            except SendFailed as failure:
                if not stored:
                    raise
                raise partial_failure(failure, sum(map(len, stored)), len(drafts)) from failure
            stored.append(self.batch_receipt(part, sent))
        self._lanes.open(topic, drafts[0].topic, sent.queue)
        if len(stored) == 1:
            return stored[0]
        return [receipt for receipts in stored for receipt in receipts]

    def receipt(self, draft: Draft, sent: Sent) -> Receipt:
        said = sent.said
        return Receipt(
            draft.unique_id,
            said.message_ids,
            self._lanes.shown(sent.queue),
            said.queue_offset,
            sent.durability,
            said.recall_handle,
            self._recall if said.recall_handle else None,
        )

    async def _recall(self, receipt: Receipt) -> None:
        """Take a delayed message back."""
        self._session.check()
        topic = self.drafts.wire_topic(receipt.queue.topic)
        route = await self._session.routes.of(topic, may_be_new=True)
        address = route.master(receipt.queue.broker_name)
        if address is None:
            raise Misuse(f"no master of {receipt.queue.broker_name} is known")
        header = RecallHeader(
            topic,
            receipt.recall_handle,
            producer_group=self._session.options.group,
            broker_name=receipt.queue.broker_name,
        )
        try:
            await ask_well(self._session, address, RequestCode.RECALL_MESSAGE, header)
        except RemoteAnswer as error:
            raise Refused(
                f"{receipt.message_id} was not taken back: {error.message}",
                code=error.code,
                hint="set recallMessageEnable of the broker"
                if error.code == ResponseCode.NO_PERMISSION
                else "it may have been delivered",
            ) from error

    def batch_receipt(self, drafts: Sequence[Draft], sent: Sent) -> BatchReceipt:
        return BatchReceipt(
            [draft.unique_id for draft in drafts],
            sent.said.message_ids,
            self._lanes.shown(sent.queue),
            sent.said.queue_offset,
            sent.durability,
        )

    def one_of_batch(
        self, topic: str, message: object, order_by: str | None, codec: Codec, unique_id: str = ""
    ) -> Draft:
        if not isinstance(message, Outgoing):
            message = Outgoing(message, order_by=order_by)
        return self.drafts.plain(topic, message, codec, unique_id)

    def parts(self, drafts: list[Draft]) -> Iterable[list[Draft]]:
        """The batch, cut where it would be more than a broker takes at once."""
        if not drafts:
            raise Misuse("a batch without messages")
        bytes_max = self._session.options.max_message_bytes
        part: list[Draft] = []
        size = 0
        for draft in drafts:
            entry = _ENTRY_BYTES + len(draft.body) + len(draft.properties_text())
            if entry > bytes_max:
                raise Misuse(
                    f"a message of {entry} bytes in a batch; at most {bytes_max} are taken"
                )
            if part and (size + entry > bytes_max or len(part) == PART_MESSAGES_MAX):
                yield part
                part, size = [], 0
            part.append(draft)
            size += entry
        yield part


def _is_quick(said: TimedKeywords) -> bool:
    """Whether nothing is said that a lane does not know: a time."""
    return said.get("delay") is None and said.get("deliver_at") is None


def _quick_bytes_end(said: TimedKeywords) -> int:
    return COMPRESS_FROM_BYTES if said.get("compress", True) else _QUICK_BYTES_END


def _send_quickly(
    lane: QuickSend, body: bytes, seconds: float, said: TimedKeywords
) -> SendWaiter | None:
    if not said:
        return lane.send(body, b"", seconds)
    order_by = said.get("order_by")
    if len(said) == 1 and order_by is not None:
        text = order_text(order_by)
    else:
        text = encode_text(said.get("tag", ""), said.get("keys", ()), said.get("headers"), order_by)
    if order_by is None:
        return lane.send(body, text, seconds)
    return lane.send_in_order(order_by.encode(), body, text, seconds)


def check_orders(messages: Iterable[object], order_by: str | None) -> None:
    """Misuse unless all may go to one queue."""
    for message in messages:
        if isinstance(message, Outgoing) and message.order_by not in (None, order_by):
            raise Misuse(
                "a message with an order of its own in a batch",
                hint="a batch goes to one queue: say order_by for all, or use a producer",
            )


def partial_failure(failure: SendFailed, stored: int, count: int) -> SendFailed:
    """Of a batch that went in several requests, of which one failed."""
    return SendFailed(
        f"the first {stored} of {count} messages are stored; of the others: {failure.message}",
        stored=Stored.UNKNOWN,
        attempts=failure.attempts,
        hint=failure.hint,
    )
