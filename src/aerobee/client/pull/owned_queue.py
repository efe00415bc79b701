"""`OwnedQueue` pulls one queue as long as the consumer owns it, and settles its messages.

    pull ─▶ in hand ─▶ inbox ─▶ application ─▶ ack │ nack │ reject ─▶ settled ─▶ may be committed

Q1. No failure ends the pulling: it is tried again, later each time up to a second.
Q2. A queue that was dropped commits nothing and hands out nothing; `ack` and `nack` of its messages
    have no effect after that.
Q3. A message that failed is sent back, and settled only when the broker has it. Where order is kept
    it stays, and its lane with it, until it succeeds or its attempts are used up.
"""

import asyncio
import logging
from collections.abc import Container
from typing import cast

from aerobee.client.api.message import Message
from aerobee.client.core.consume.backoff import BROKER_CHOOSES, DEAD_LETTER, level_for
from aerobee.client.core.consume.overdue import BACK_LEVEL, Overdue
from aerobee.client.core.consume.process_queue import ProcessQueue
from aerobee.client.core.send.outgoing import Codec
from aerobee.client.core.trace_records import ConsumedCode
from aerobee.client.group.consumer_context import ConsumerContext
from aerobee.client.pull.queue_pulls import PullOutcome, QueuePulls
from aerobee.errors import AerobeeError, NoAnswer
from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import Subscription
from aerobee.protocol.message.received_message import MessageReader, ReceivedMessage

_log = logging.getLogger(__name__)

SUSPEND_SECONDS = 1.0
"""After which a message that failed in a lane is tried again, if nobody says when."""
LOCAL_RETRY_SECONDS = 5.0
"""After which a message is handed out again that could not be sent back."""
_FAILURE_SECONDS = (0.1, 0.2, 0.5, 1.0)


class OwnedQueue:
    """The holder of the messages of one queue."""

    def __init__(
        self,
        context: ConsumerContext,
        queue: MessageQueue,
        subscription: Subscription,
        start: int,
    ) -> None:
        self.queue = queue
        self.in_hand = ProcessQueue(start, context.options.flow)
        self.is_dropped = False
        self.is_paused = False
        self.last_pull_ms = 0
        self.failed = 0
        self._all = context
        self._reader = MessageReader(Message, frozenset(subscription.tags) or None, context.prefix)
        self._pulls = QueuePulls(
            context.session,
            context.calls,
            queue,
            subscription,
            count=context.options.pull_batch,
            poll_seconds=context.options.poll_seconds,
            brings_filter=context.is_reading,
        )
        self._overdue: Overdue[Message] = Overdue(int(context.options.consume_timeout * 1000))
        self._moved_to: int | None = None
        self._room = asyncio.Event()
        self._is_waiting = False
        self._retries: dict[Message, asyncio.TimerHandle] = {}
        self._withdrawn = 0
        self._is_leaving = False
        self._finished: asyncio.Event | None = None

    # Pulling.

    async def run(self) -> int | None:
        """Pull as long as the queue is owned, or until the broker has no message at the offset: it
        then says where to begin anew.
        """
        failures = 0
        while not self.is_dropped and self._moved_to is None:
            if self.is_paused or self.in_hand.is_full():
                self._room.clear()
                self._is_waiting = True
                await self._room.wait()
                self._is_waiting = False
                continue
            try:
                await self._pull()
                failures = 0
            except AerobeeError as error:
                await self._failed_pull(error, failures)
                failures += 1
        return self._moved_to

    async def _pull(self) -> None:
        in_hand = self.in_hand
        is_shared = not self._all.options.is_broadcasting and not self._all.is_reading
        commit = in_hand.commit_offset() if is_shared else None
        self.last_pull_ms = self._all.session.clock.now().wall_ms
        pulled = await self._pulls.pull(in_hand.next_offset, commit)
        if self.is_dropped or self._is_leaving:
            return  # what it brought is the next owner's
        if pulled.outcome is PullOutcome.MOVED:
            self._moved_to = pulled.next_offset
        else:
            self._reader.offset_delta = pulled.offset_delta
            messages = self._reader.read(pulled.records, self.queue, self)
            in_hand.put(messages, pulled.next_offset)
            self._all.inbox.put(cast("list[Message]", messages))

    async def _failed_pull(self, error: AerobeeError, failures: int) -> None:
        if failures in (0, 3) or failures % 60 == 0:
            _log.warning("no pull of %s: %s", self.queue, error)
        await asyncio.sleep(_FAILURE_SECONDS[min(failures, len(_FAILURE_SECONDS) - 1)])
        if isinstance(error, NoAnswer):
            try:
                await self._pulls.start_over()
            except AerobeeError as no_route:
                _log.info("the route of %s stays as it was: %s", self.queue.topic, no_route)

    # What becomes of messages.

    async def ack(self, message: Message) -> None:
        self.settle(message)

    async def nack(self, message: Message, seconds: float | None) -> None:
        options = self._all.options
        if self._is_over(message):
            self.settle(message)
            return
        self.failed += 1
        self._all.inbox.failed(message)
        if seconds is None and options.retry is not None:
            seconds = options.retry.seconds(message.attempt)
        if options.is_ordered and message.attempt < options.max_attempts:
            message.count_attempt()
            self._again(message, SUSPEND_SECONDS if seconds is None else seconds)
            return
        level = BROKER_CHOOSES if seconds is None else level_for(seconds)
        await self._send_back(message, DEAD_LETTER if options.is_ordered else level)

    async def reject(self, message: Message, reason: str) -> None:
        if self._is_over(message):
            self.settle(message)
            return
        _log.warning("%r is rejected: %s", message, reason or "no reason is given")
        self._all.inbox.failed(message)
        await self._send_back(message, DEAD_LETTER, reason)

    def _is_over(self, message: Message) -> bool:
        """Whether a failure has no effect any more: broadcast messages are never tried again."""
        return message.is_settled or self.is_dropped or self._all.options.is_broadcasting

    async def extend(self, message: Message, seconds: float) -> None:
        """No effect: a pulled message stays with its member as long as the queue does."""

    async def reply(self, message: Message, body: object, codec: Codec) -> None:
        await self._all.session.reply(message, body, codec)

    def give_back(self, message: Message) -> None:
        if not message.is_settled:
            self._all.inbox.give_room()
            if not self.is_dropped:
                self._all.inbox.put_first(message)

    def settle(self, message: Message) -> None:
        """Settle a message."""
        if self.in_hand.settle(message):
            self._all.inbox.done(message)
            if self._is_waiting and not self.in_hand.is_full():
                self._room.set()
            if self._finished is not None:
                self._look_if_finished()

    def settle_all(self, messages: list[Message]) -> None:
        settled = self.in_hand.settle_all(cast("list[ReceivedMessage]", messages))
        if settled:
            self._all.inbox.done_all(cast("list[Message]", settled))
            if self._is_waiting and not self.in_hand.is_full():
                self._room.set()
            if self._finished is not None:
                self._look_if_finished()

    async def told(self) -> None:
        """Nothing to wait for: the broker learns of it by the next pull or commit."""

    def _look_if_finished(self) -> None:
        if self._finished is not None and self.out <= 0:
            self._finished.set()

    async def send_back_overdue(self, waiting: Container[Message]) -> None:
        """Send back messages that the application has had for too long; those in `waiting` it does
        not have. Later calls for them have no effect. One that cannot be sent back is tried next
        time.
        """
        unsettled = cast("list[Message]", self.in_hand.unsettled())
        out = [one for one in unsettled if one not in waiting and one not in self._retries]
        for message in self._overdue.look(out, self._all.session.clock.monotonic_ms()):
            _log.warning(
                "%r was not settled for %g s, and goes back to the broker",
                message,
                self._all.options.consume_timeout,
            )
            if not self._all.options.is_broadcasting:
                await self._to_broker(message, BACK_LEVEL)
            self._all.inbox.failed(message, ConsumedCode.TIME_OUT)
            self.settle(message)

    async def _send_back(self, message: Message, level: int, reason: str = "") -> None:
        try:
            await self._to_broker(message, level, reason)
        except AerobeeError as error:
            _log.warning("%r cannot be sent back, and is tried here again: %s", message, error)
            message.count_attempt()
            self._again(message, LOCAL_RETRY_SECONDS)
        else:
            self.settle(message)

    async def _to_broker(self, message: Message, level: int, reason: str = "") -> None:
        await self._all.calls.send_back(
            self.queue,
            message.log_offset,
            level=level,
            max_attempts=self._all.options.max_attempts - 1,
            message_id=message.offset_id,
            topic=message.topic,
            reason=reason,
        )

    def _again(self, message: Message, seconds: float) -> None:
        """Hand a message out once more, later. Until then it is not out."""
        self._all.inbox.give_room()
        if not self.is_dropped:
            loop = asyncio.get_running_loop()
            self._retries[message] = loop.call_later(seconds, self._retry, message)

    def _retry(self, message: Message) -> None:
        del self._retries[message]
        self._all.inbox.put_first(message)

    # Holding still, and leaving.

    @property
    def out(self) -> int:
        """The number of messages with the application, once the rest was withdrawn."""
        return self.in_hand.count - self._withdrawn - len(self._retries)

    def pause(self) -> None:
        self.is_paused = True
        self._all.inbox.pause(self)

    def resume(self) -> None:
        self.is_paused = False
        self._all.inbox.resume(self)
        self._room.set()

    async def finish(self, seconds: float) -> None:
        """Hand out nothing more, and wait for messages that are out, at most so long."""
        self.is_paused = self._is_leaving = True
        self._withdraw()
        if self.out > 0 and seconds > 0:
            self._finished = asyncio.Event()
            try:
                async with asyncio.timeout(seconds):
                    await self._finished.wait()
            except TimeoutError:
                _log.warning("%d messages of %s are given up unfinished", self.out, self.queue)

    def drop(self) -> None:
        """Stop pulling: the queue is not owned any more."""
        self._withdraw()
        self.is_dropped = True
        self._room.set()

    def _withdraw(self) -> None:
        self._withdrawn += len(self._all.inbox.withdraw(self))
        for timer in self._retries.values():
            timer.cancel()
        self._withdrawn += len(self._retries)
        self._retries.clear()
