"""Messages popped from one topic on one broker: hidden from others for a while, then theirs again.

Nothing is owned and nothing is shared out: every member pops from all queues. An acknowledgement
ends a message, silence brings it back to whoever pops next.

S1. No more is popped than the application may be expected to handle before it comes again.
S2. A message whose time has run out before it was handed out is left to the others.
S3. After `max_attempts` a message becomes a dead letter, and only then is acknowledged.

Imports more than 15 modules because it joins what is asked, read and decided elsewhere.
"""

import asyncio
import logging
from typing import cast

from aerobee.client.asking import Answer, ask, ask_well, checked
from aerobee.client.consuming import Consuming
from aerobee.client.core.backoff import DEAD_LETTER, pop_seconds
from aerobee.client.core.outgoing import Codec
from aerobee.client.core.popped import receipts_of
from aerobee.client.message import Message
from aerobee.client.pop_acks import PopAcks
from aerobee.errors import AerobeeError, NoAnswer
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.subscription import Subscription
from aerobee.protocol.declared_header import read_header
from aerobee.protocol.headers.popping import (
    ANY_QUEUE,
    FROM_MIN,
    InvisibleTimeAnswerHeader,
    InvisibleTimeHeader,
    PopAnswerHeader,
    PopHeader,
)
from aerobee.protocol.pop_receipt import PopReceipt, encode_pop_receipt, topic_of
from aerobee.protocol.received import MessageReader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_log = logging.getLogger(__name__)

BATCH = 32
HELD_MAX = 96
"""Popped and not yet acknowledged: as many as Java's."""
ANSWER_SECONDS = 10.0
FROM_MAX = 1
_FAILURE_SECONDS = (0.1, 0.2, 0.5, 1.0)


class PopSource:
    """A Holder of messages."""

    def __init__(
        self, consuming: Consuming, topic: str, broker_name: str, subscription: Subscription
    ) -> None:
        self.topic = topic
        self.broker_name = broker_name
        self._all = consuming
        self._subscription = subscription
        self._any = MessageQueue(topic, broker_name, QueueId(ANY_QUEUE))
        self._reader = MessageReader(Message, None, consuming.prefix)
        self._receipts: dict[Message, PopReceipt] = {}
        self._acks = PopAcks(
            consuming.session, consuming.calls.group, topic, broker_name, self._address
        )
        self._room = asyncio.Event()
        self._is_over = False

    async def run(self) -> None:
        """Pop until it is stopped. A pop that waits at the broker then is not given up: what it
        brings would be hidden from everybody."""
        failures = 0
        while not self._is_over:
            if len(self._receipts) >= HELD_MAX:
                self._room.clear()
                await self._room.wait()
            try:
                await self._pop()
                failures = 0
            except AerobeeError as error:
                if failures in (0, 3) or failures % 60 == 0:
                    _log.warning("nothing is popped from %s: %s", self._any, error)
                await asyncio.sleep(_FAILURE_SECONDS[min(failures, len(_FAILURE_SECONDS) - 1)])
                failures += 1

    def stop(self) -> None:
        """Hand out nothing more. What is hidden comes again, to somebody else."""
        self._is_over = True
        self._room.set()
        for message in self._all.inbox.withdraw(self):
            self._receipts.pop(message, None)

    async def finish(self) -> None:
        """Wait until the broker knows what was acknowledged."""
        await self._acks.finish()

    async def _pop(self) -> None:
        session, options = self._all.session, self._all.options
        answer = await ask(
            session,
            await self._address(),
            RequestCode.POP_MESSAGE,
            PopHeader(
                self._all.calls.group,
                self.topic,
                ANY_QUEUE,
                BATCH,
                int(options.invisible * 1000),
                int(options.poll_seconds * 1000),
                session.clock.now().wall_ms,
                FROM_MIN if options.start.is_earliest else FROM_MAX,
                self._subscription.expression_type,
                self._subscription.expression,
            ),
            seconds=options.poll_seconds + ANSWER_SECONDS,
        )
        if answer.code not in (ResponseCode.POLLING_TIMEOUT, ResponseCode.PULL_NOT_FOUND):
            await self._popped(checked(answer))

    async def _popped(self, answer: Answer) -> None:
        header = read_header(PopAnswerHeader, answer.ext_fields)
        messages = cast("list[Message]", self._reader.read(bytes(answer.body), self._any, self))
        receipts = receipts_of(header, self.broker_name, messages)
        found = dict(zip(messages, receipts, strict=True))
        self._receipts.update(found)
        if self._is_over:
            for message in messages:
                await self._hide(message, 0, is_untried=True)
            return
        loop = asyncio.get_running_loop()
        loop.call_later(header.invisible_time / 1000, self._expire, messages)
        tags = frozenset(self._subscription.tags)
        wanted = [message for message in messages if not tags or message.tag in tags]
        self._all.inbox.put(wanted)
        # The broker compares hashes of tags: what was not meant for us is done with.
        for message in set(messages).difference(wanted):
            self._acknowledge(message)

    def _expire(self, messages: list[Message]) -> None:
        """Whatever of these is not handed out yet will be popped by somebody again."""
        for message in self._all.inbox.take_back(messages):
            self._forget(message)

    # What becomes of messages.

    def settle(self, message: Message) -> None:
        if not message.is_settled:
            message.is_settled = True
            self._all.inbox.done(message)
            self._acknowledge(message)

    async def ack(self, message: Message) -> None:
        if self._end(message):
            await self._acknowledged(message)

    async def nack(self, message: Message, seconds: float | None) -> None:
        options = self._all.options
        if message.is_settled:
            return
        self._all.inbox.failed(message)
        if message.attempt >= options.max_attempts:
            await self.reject(message, f"{message.attempt} attempts have failed")
            return
        if seconds is None:
            retry = options.retry
            attempt = message.attempt
            seconds = pop_seconds(attempt) if retry is None else retry.seconds(attempt)
        if self._end(message):
            await self._hide(message, seconds)
            self._forget(message)

    async def reject(self, message: Message, reason: str) -> None:
        self._all.inbox.failed(message)
        if not self._end(message):
            return
        _log.warning("%r becomes a dead letter: %s", message, reason or "it was rejected")
        try:
            await self._all.calls.send_back(
                MessageQueue(self.topic, self.broker_name, QueueId(0)),
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
            await self._acknowledged(message)

    async def extend(self, message: Message, seconds: float) -> None:
        if not message.is_settled:
            await self._hide(message, seconds)

    async def reply(self, message: Message, body: object, codec: Codec) -> None:
        await self._all.session.reply(message, body, codec)

    def give_back(self, message: Message) -> None:
        if not message.is_settled:
            self._all.inbox.give_room()
            if not self._is_over:
                self._all.inbox.put_first(message)

    def _end(self, message: Message) -> bool:
        if message.is_settled:
            return False
        message.is_settled = True
        self._all.inbox.done(message)
        return True

    def _forget(self, message: Message) -> PopReceipt | None:
        receipt = self._receipts.pop(message, None)
        if len(self._receipts) < HELD_MAX:
            self._room.set()
        return receipt

    async def _acknowledged(self, message: Message) -> None:
        sent = self._acknowledge(message)
        if sent is not None:
            await asyncio.shield(sent)  # others wait for the same

    def _acknowledge(self, message: Message) -> "asyncio.Future[None] | None":
        receipt = self._forget(message)
        return None if receipt is None else self._acks.add(receipt)

    async def _hide(self, message: Message, seconds: float, *, is_untried: bool = False) -> None:
        """Have it come again after so long, counted from now; as if nobody had tried it."""
        receipt = self._receipts.get(message)
        if receipt is None:
            return
        header = InvisibleTimeHeader(
            self._all.calls.group,
            topic_of(receipt.origin, self._all.calls.group, self.topic),
            receipt.queue_id,
            encode_pop_receipt(receipt),
            receipt.queue_offset,
            max(1, int(seconds * 1000)),
            is_untried,
        )
        try:
            answer = await ask_well(
                self._all.session,
                await self._address(),
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

    async def _address(self) -> str:
        try:
            return await self._all.calls.address(self.topic, self.broker_name)
        except NoAnswer:
            await self._all.session.routes.refresh(self.topic)
            raise
