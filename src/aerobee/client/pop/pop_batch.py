"""`PopBatch` holds the messages of one pop answer until each is acked, retried, rejected or
extended.

P1. A message is settled once. A call after that, or after its invisible time was over and another
    member got it, changes nothing here.
P2. A message that failed too often becomes a dead letter, and only then is acknowledged.
"""

import asyncio
import logging
from collections.abc import Awaitable, Mapping

from aerobee.client.api.message import Message
from aerobee.client.connection.remote_call import ask_well
from aerobee.client.core.consume.backoff import DEAD_LETTER, pop_seconds
from aerobee.client.core.consume.popped_runs import PopRun
from aerobee.client.core.send.outgoing import Codec
from aerobee.client.group.consumer_context import ConsumerContext
from aerobee.client.pop.pop_acks import PopAcks
from aerobee.errors import AerobeeError, NoAnswer
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.consume.pop_receipt import PopReceipt, encode_pop_receipt, topic_of
from aerobee.protocol.headers.popping import InvisibleTimeAnswerHeader, InvisibleTimeHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode

_log = logging.getLogger(__name__)


class PopDesk:
    """Shared by all batches of one topic on one broker: acknowledgements and the number held."""

    def __init__(self, context: ConsumerContext, topic: str, broker_name: str) -> None:
        self.all = context
        self.topic = topic
        self.broker_name = broker_name
        self.inbox = context.inbox
        self.acks = PopAcks(context.session, context.calls.group, topic, broker_name, self.address)
        self.held = 0
        """Popped, and neither settled nor left to others."""
        self.is_over = False
        self._room: asyncio.Future[None] | None = None

    def release(self, count: int) -> None:
        """Count so many messages as not held any more."""
        self.held -= count
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    async def room(self) -> None:
        """Wait until a message is released, or the source is stopped."""
        self._room = asyncio.get_running_loop().create_future()
        await self._room
        self._room = None

    def stop(self) -> None:
        self.is_over = True
        self.release(0)

    def address(self) -> Awaitable[str]:
        return self._address()

    async def _address(self) -> str:
        try:
            return await self.all.calls.address(self.topic, self.broker_name)
        except NoAnswer:
            await self.all.session.routes.refresh(self.topic)
            raise


class PopBatch:
    """The holder of the messages of one pop answer."""

    __slots__ = ("_acks", "_inbox", "_receipts", "_runs", "desk", "left")

    def __init__(self, desk: PopDesk) -> None:
        self.desk = desk
        self.left = 0
        """How many are held still."""
        self._acks = desk.acks
        self._inbox = desk.inbox
        self._runs: Mapping[int, PopRun] = {}
        # Of messages that are acknowledged by something else than their run.
        self._receipts: dict[Message, PopReceipt] = {}

    def fill(
        self, count: int, runs: Mapping[int, PopRun], receipts: dict[Message, PopReceipt]
    ) -> None:
        """Take so many messages: with the runs of their queues, or each with its own receipt."""
        self.left = count
        self.desk.held += count
        self._runs = runs
        self._receipts = receipts

    def leave(self, count: int) -> None:
        """Count so many as not held any more, settled or left to other members."""
        self.left -= count
        self.desk.release(count)

    # What becomes of messages.

    def settle(self, message: Message) -> None:
        if not message.is_settled:
            message.is_settled = True
            self._inbox.done(message)
            self.acknowledge(message)

    def settle_all(self, messages: list[Message]) -> None:
        for message in messages:
            self.settle(message)

    def acknowledge(self, message: Message) -> None:
        """Acknowledge a message, whether it was handed out or not."""
        self.leave(1)
        receipt = self._receipts.pop(message, None) if self._receipts else None
        if receipt is None:
            self._acks.add(self._runs[message.queue.queue_id], message.offset)
        else:
            self._acks.add_one(receipt)

    async def ack(self, message: Message) -> None:
        if not message.is_settled:
            self.settle(message)
            await self.told()

    async def told(self) -> None:
        """Wait until the broker has this turn's acknowledgements."""
        sent = self._acks.sent
        if sent is not None:
            await asyncio.shield(sent)  # others wait for the same

    async def nack(self, message: Message, seconds: float | None) -> None:
        options = self.desk.all.options
        if message.is_settled:
            return
        self._inbox.failed(message)
        if message.attempt >= options.max_attempts:
            await self.reject(message, f"{message.attempt} attempts have failed")
            return
        if seconds is None:
            retry = options.retry
            attempt = message.attempt
            seconds = pop_seconds(attempt) if retry is None else retry.seconds(attempt)
        self._end(message)
        await self.hide(message, seconds)
        self._forget(message)

    async def reject(self, message: Message, reason: str) -> None:
        if message.is_settled:
            return
        self._inbox.failed(message)
        self._end(message)
        _log.warning("%r becomes a dead letter: %s", message, reason or "it was rejected")
        try:
            await self.desk.all.calls.send_back(
                MessageQueue(self.desk.topic, self.desk.broker_name, QueueId(0)),
                message.log_offset,
                level=DEAD_LETTER,
                max_attempts=0,
                message_id=message.offset_id,
                topic=message.topic,
                reason=reason,
            )
        except AerobeeError as error:
            _log.warning("%r is no dead letter yet, and comes again: %s", message, error)
            self._forget(message)
        else:
            self.acknowledge(message)
            await self.told()

    async def extend(self, message: Message, seconds: float) -> None:
        if not message.is_settled:
            await self.hide(message, seconds)

    async def reply(self, message: Message, body: object, codec: Codec) -> None:
        await self.desk.all.session.reply(message, body, codec)

    def give_back(self, message: Message) -> None:
        if not message.is_settled:
            self._inbox.give_room()
            if not self.desk.is_over:
                self._inbox.put_first(message)

    async def hide(self, message: Message, seconds: float, *, is_untried: bool = False) -> None:
        """Have a message come again after so long, from now; `is_untried`: this attempt does not
        count.
        """
        desk = self.desk
        receipt = self._receipt(message)
        group = desk.all.calls.group
        header = InvisibleTimeHeader(
            group,
            topic_of(receipt.origin, group, desk.topic),
            receipt.queue_id,
            encode_pop_receipt(receipt),
            receipt.queue_offset,
            max(1, int(seconds * 1000)),
            is_untried,
        )
        try:
            answer = await ask_well(
                desk.all.session,
                await desk.address(),
                RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
                header,
            )
        except AerobeeError as error:
            _log.warning("%r comes again when its time is over: %s", message, error)
            return
        said = read_header(InvisibleTimeAnswerHeader, answer.ext_fields)
        self._receipts[message] = PopReceipt(
            receipt.queue_offset,
            said.pop_time,
            said.invisible_time,
            said.revive_qid,
            receipt.origin,
            receipt.broker_name,
            receipt.queue_id,
            receipt.queue_offset,
        )

    def _receipt(self, message: Message) -> PopReceipt:
        own = self._receipts.get(message)
        if own is not None:
            return own
        run = self._runs[message.queue.queue_id]
        return run.receipt(self.desk.broker_name, message.offset)

    def _end(self, message: Message) -> None:
        """Mark a message as settled by the application."""
        message.is_settled = True
        self._inbox.done(message)

    def _forget(self, message: Message) -> None:
        self._receipts.pop(message, None)
        self.leave(1)
