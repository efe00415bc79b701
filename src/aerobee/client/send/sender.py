"""`Sender` has the sending methods of a client: one message, one-way, a batch; and the recall.

The send modes (half messages, requests) take a draft from `drafts`, add to its properties, and hand
it to `delivery`.
"""

from collections.abc import Iterable, Sequence
from typing import Unpack

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.remote_call import ask_well
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import (
    COMPRESS_FROM_BYTES,
    Draft,
    encode_text,
    listed_keys,
    order_text,
)
from aerobee.client.send.batch_sender import BatchSender
from aerobee.client.send.delivery import RETRIES, Delivery, Sent
from aerobee.client.send.drafts import (
    BatchKeywords,
    Drafts,
    MessageKeywords,
    TimedKeywords,
    batch_options,
)
from aerobee.client.send.fast_send import FastSend, SendWaiter
from aerobee.client.send.fast_send_lanes import FastSendLanes
from aerobee.errors import Misuse, NoAnswer, Refused, RemoteAnswer
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_FAST_BYTES_END = 64 << 10  # larger bodies are not copied more than once

_FAST_KEYWORDS = frozenset({"tag", "keys", "headers", "order_by", "compress", "codec"})


class Sender:
    """The sending methods behind `Client`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.drafts = Drafts(session)
        self.delivery = Delivery(session)
        self._lanes = FastSendLanes(session, self.delivery.command)
        self.batches = BatchSender(
            self.drafts, self.delivery, self._lanes, session.options.max_message_bytes
        )
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
        if queue is not None and said.get("priority") is not None:
            raise Misuse("queue and priority contradict each other", hint="give one of them")
        seconds = self._timeout if timeout is None else seconds_of(timeout, "timeout")
        if "keys" in said:
            said["keys"] = listed_keys(said["keys"])
        unique_id, tries = "", None
        lane = self._lanes.find(topic)
        if (
            lane is not None
            and type(body) is bytes
            and queue is None
            and group is None
            and (not said or _is_fast(said))
            and 0 < len(body) < _fast_bytes_end(said)
        ):
            waiter = _send_fast(lane, body, seconds, said)
            if waiter is not None:
                try:
                    receipt: Receipt = await waiter.answer
                    return receipt
                except (NoAnswer, RemoteAnswer) as error:
                    unique_id = waiter.message_id.decode()
                    wire_topic = self.drafts.wire_topic(topic)
                    tries = self.delivery.first_failed(wire_topic, waiter, error, retries)
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
        **said: Unpack[BatchKeywords],
    ) -> Sequence[Receipt]:
        self._session.check()
        return await self.batches.send(messages, batch_options(topic, self._timeout, **said))

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
        """Recall a delayed message."""
        self._session.check()
        topic = self.drafts.wire_topic(receipt.queue.topic)
        route = await self._session.routes.of(topic, may_be_new=True)
        address = route.master_of(receipt.queue)
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


def _is_fast(said: TimedKeywords) -> bool:
    """Whether the keywords are all among those of the fast path: no delay, no unknown keyword."""
    return said.keys() <= _FAST_KEYWORDS


def _fast_bytes_end(said: TimedKeywords) -> int:
    return COMPRESS_FROM_BYTES if said.get("compress", True) else _FAST_BYTES_END


def _send_fast(
    lane: FastSend, body: bytes, seconds: float, said: TimedKeywords
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
