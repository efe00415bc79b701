"""`PopSource` pops messages of one topic from one broker, which hides them from others for a while.

    pop, pop, pop ─▶ batches ─▶ inbox ─▶ application ─▶ settled, together ─▶ broker

No queue is owned: every member pops from all queues. An acknowledgement ends a message; without one
it comes again to any member. One pop waits at the broker; while there are more messages than it
brings, others are sent beside it.

S1. No more is popped than the application may be expected to handle before it comes again.
S2. A message whose invisible time is over before it was handed out is left to the others.
"""

import asyncio
import logging
from collections import deque
from functools import partial
from typing import cast

from aerobee.client.api.message import Message
from aerobee.client.connection.remote_call import Answer, ask, checked
from aerobee.client.core.consume.popped_runs import receipts_of, runs_of
from aerobee.client.group.consumer_context import ConsumerContext
from aerobee.client.pop.pop_batch import PopBatch, PopDesk
from aerobee.errors import AerobeeError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.subscription import Subscription
from aerobee.protocol.headers.popping import ANY_QUEUE, FROM_MIN, PopAnswerHeader, PopHeader
from aerobee.protocol.message.received_message import MessageReader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_log = logging.getLogger(__name__)

BATCH = 32
HELD_MAX = 96
"""Popped and not yet acknowledged: as many as Java's, or as the application works on at once."""
BESIDE_MAX = 3
"""How many pops there may be beside the one that waits."""
ANSWER_SECONDS = 10.0
FROM_MAX = 1
_FAILURE_SECONDS = (0.1, 0.2, 0.5, 1.0)
_BORN_TIME = "bornTime"


class PopSource:
    def __init__(
        self, context: ConsumerContext, topic: str, broker_name: str, subscription: Subscription
    ) -> None:
        options = context.options
        self._all = context
        self._desk = PopDesk(context, topic, broker_name)
        self._any = MessageQueue(topic, broker_name, QueueId(ANY_QUEUE))
        self._reader = MessageReader(Message, None, context.prefix)
        self._tags = frozenset(subscription.tags)
        self._held_max = max(HELD_MAX, options.concurrency + BATCH)
        self._seconds = options.poll_seconds + ANSWER_SECONDS
        self._fields = write_header(
            PopHeader(
                context.calls.group,
                topic,
                ANY_QUEUE,
                BATCH,
                int(options.invisible * 1000),
                int(options.poll_seconds * 1000),
                1,  # said anew each time
                FROM_MIN if options.start.is_earliest else FROM_MAX,
                subscription.expression_type,
                subscription.expression,
            )
        )
        self._under_way = 0
        self._beside = 0
        self._rest = 0  # what the broker has for us besides, as it said last
        # Batches in the order in which their time runs out.
        self._expiring: deque[tuple[float, PopBatch]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Pop until it is stopped. A pop that waits at the broker then is not given up: its
        messages would be hidden from every member.
        """
        failures = 0
        while not self._desk.is_over:
            if not self._has_room():
                await self._desk.room()
                continue
            try:
                await self._pop()
                failures = 0
            except AerobeeError as error:
                if failures in (0, 3) or failures % 60 == 0:
                    _log.warning("nothing is popped from %s: %s", self._any, error)
                await asyncio.sleep(_FAILURE_SECONDS[min(failures, len(_FAILURE_SECONDS) - 1)])
                failures += 1

    def stop(self) -> None:
        """Hand out nothing more. Hidden messages come again, to other members."""
        self._desk.stop()
        if self._timer is not None:
            self._timer.cancel()
        self._all.inbox.take_back(self._is_own)

    async def finish(self) -> None:
        """Wait until the broker has all acknowledgements."""
        await self._desk.acks.finish()

    def _is_own(self, message: Message) -> bool:
        return isinstance(message.holder, PopBatch) and message.holder.desk is self._desk

    # Popping.

    def _has_room(self) -> bool:
        return self._desk.held + BATCH * self._under_way < self._held_max

    async def _pop_beside(self) -> None:
        """Send further pops while there are more messages than the present ones bring."""
        try:
            while self._is_more():
                await self._pop()
        except AerobeeError as error:
            _log.debug("no pop beside another of %s: %s", self._any, error)
        finally:
            self._beside -= 1

    def _is_more(self) -> bool:
        is_there = self._rest > BATCH * self._under_way
        return is_there and self._has_room() and not self._desk.is_over

    async def _pop(self) -> None:
        session = self._all.session
        fields = self._fields
        fields[_BORN_TIME] = str(session.clock.now().wall_ms)
        self._under_way += 1
        try:
            address = await self._desk.address()
            answer = await ask(
                session, address, RequestCode.POP_MESSAGE, fields, seconds=self._seconds
            )
        finally:
            self._under_way -= 1
        if answer.code in (ResponseCode.POLLING_TIMEOUT, ResponseCode.PULL_NOT_FOUND):
            self._rest = 0
        else:
            await self._popped(checked(answer))

    async def _popped(self, answer: Answer) -> None:
        header = read_header(PopAnswerHeader, answer.ext_fields)
        batch = PopBatch(self._desk)
        messages = cast("list[Message]", self._reader.read(bytes(answer.body), self._any, batch))
        runs = runs_of(header, messages)
        if runs is not None:
            batch.fill(len(messages), runs, {})
        else:
            receipts = receipts_of(header, self._desk.broker_name, messages)
            batch.fill(len(messages), {}, dict(zip(messages, receipts, strict=True)))
        if self._desk.is_over:
            for message in messages:
                await batch.hide(message, 0, is_untried=True)
            return
        self._rest = header.rest_num
        self._expire_later(batch, header.invisible_time / 1000)
        if self._tags:
            # The broker compares hashes of tags: what was not meant for us is done with.
            for message in messages:
                if message.tag not in self._tags:
                    batch.acknowledge(message)
            messages = [message for message in messages if message.tag in self._tags]
        self._all.inbox.put(messages)
        if self._beside < BESIDE_MAX and self._is_more():
            self._beside += 1
            self._all.session.spawn(self._pop_beside(), f"pops of {self._any}")

    # What nobody took in time.

    def _expire_later(self, batch: PopBatch, seconds: float) -> None:
        expiring = self._expiring
        while expiring and expiring[0][1].left == 0:
            expiring.popleft()
        loop = asyncio.get_running_loop()
        expiring.append((loop.time() + seconds, batch))
        if self._timer is None:
            self._timer = loop.call_at(expiring[0][0], self._expire)

    def _expire(self) -> None:
        """Drop the messages of these that are not handed out yet: another member will pop them."""
        loop = asyncio.get_running_loop()
        expiring = self._expiring
        while expiring and (expiring[0][1].left == 0 or expiring[0][0] <= loop.time() + 1e-3):
            batch = expiring.popleft()[1]
            if batch.left:
                batch.leave(len(self._all.inbox.take_back(partial(_is_of, batch))))
        self._timer = loop.call_at(expiring[0][0], self._expire) if expiring else None


def _is_of(batch: PopBatch, message: Message) -> bool:
    return message.holder is batch
