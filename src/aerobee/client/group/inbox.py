"""`Inbox` holds messages between the queues of one consumer and the application.

    queues ─ put ─▶ lanes ─▶ ready ─ take ─▶ out ─ done ─▶ (the next of its lane is ready)

I1. At most `room` messages are out: taken, and neither done nor given back.
I2. With lanes, of each lane one is ready or out at a time, in order.
I3. A message that was withdrawn is never taken.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable

from aerobee.client.api.message import Message
from aerobee.client.core.consume.order_lanes import OrderLanes
from aerobee.client.core.trace_records import ConsumedCode

_log = logging.getLogger(__name__)

LaneOf = Callable[[Message], tuple[object, Hashable] | None]
"""Its holder, and which lane of his. None: it waits for nobody."""

STALL_SECONDS = 60.0
FAIR_TURN = 256
"""After so many messages without a pause, others on the loop have a turn: heartbeats are there."""


class Inbox:
    def __init__(self, room: int, lane_of: LaneOf | None = None) -> None:
        self._room = room
        self._lane_of = lane_of
        self._lanes: OrderLanes[Message] = OrderLanes()
        self._ready: deque[Message] = deque()
        # Of holders that are paused: what was ready when its turn came.
        self._aside: dict[object, list[Message]] = {}
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._turn = 0
        self._idle: asyncio.Event | None = None
        self.out = 0
        self.is_closed = False
        self.is_paused = False

    def put(self, messages: Iterable[Message]) -> None:
        lane_of = self._lane_of
        ready = self._ready
        if lane_of is None:
            ready.extend(messages)
        else:
            for message in messages:
                lane = lane_of(message)
                if lane is None or self._lanes.enter(lane, message):
                    ready.append(message)
        self._wake()

    def put_first(self, message: Message) -> None:
        """Put a message back before all others. It still occupies its lane."""
        self._ready.appendleft(message)
        self._wake()

    def take_at_once(self) -> Message | None:
        """The next message, if there is one and other tasks need no turn: the fast part of `take`,
        because a coroutine costs as much as a message.
        """
        if self._turn >= FAIR_TURN:
            return None
        self._turn += 1
        return self.take_nowait()

    async def take(self) -> Message | None:
        """The next message; None when the inbox is closed."""
        if self._turn >= FAIR_TURN:
            self._turn = 0
            await asyncio.sleep(0)
        self._turn += 1
        while True:
            message = self.take_nowait()
            if message is not None or self.is_closed:
                return message
            self._turn = 0
            await self._wait()

    def take_nowait(self) -> Message | None:
        if self.out >= self._room or self.is_paused or self.is_closed:
            return None
        while self._ready:
            message = self._ready.popleft()
            if self._aside and message.holder in self._aside:
                self._aside[message.holder].append(message)
            else:
                self.out += 1
                return message
        return None

    async def take_many(self, count: int) -> list[Message]:
        """The ready messages, at least one and at most `count`; none when the inbox is closed."""
        if self._turn >= FAIR_TURN:
            self._turn = 0
            await asyncio.sleep(0)
        while True:
            taken = self.take_some(count)
            if taken or self.is_closed:
                self._turn += len(taken)
                return taken
            self._turn = 0
            await self._wait()

    def take_some(self, count: int) -> list[Message]:
        """The ready messages, at most `count`."""
        count = min(count, self._room - self.out)
        if count <= 0 or self.is_paused or self.is_closed:
            return []
        ready = self._ready
        taken: list[Message] = []
        if self._aside:
            while ready and len(taken) < count:
                message = ready.popleft()
                self._aside.get(message.holder, taken).append(message)
        elif count < len(ready):
            taken = [ready.popleft() for _ in range(count)]
        else:
            taken = list(ready)
            ready.clear()
        self.out += len(taken)
        return taken

    def done(self, message: Message) -> None:
        """Settle a message that was taken: there is room for another, and its lane goes on."""
        if self._lane_of is not None:
            self._next_of_lane(message)
        self.out -= 1
        if self._waiters or self._idle is not None:
            self._room_was_made()

    def done_all(self, messages: list[Message]) -> None:
        """Settle many messages that were taken."""
        if self._lane_of is not None:
            for message in messages:
                self._next_of_lane(message)
        self.out -= len(messages)
        if self._waiters or self._idle is not None:
            self._room_was_made()

    def failed(self, message: Message, code: ConsumedCode = ConsumedCode.FAILED) -> None:
        """Note a failed attempt to handle a message; only a traced inbox records it."""

    def give_room(self) -> None:
        """Count a message that was taken as not out any more, without settling it."""
        self.out -= 1
        self._room_was_made()

    def _room_was_made(self) -> None:
        self._wake()
        if self._idle is not None and self.out <= 0:
            self._idle.set()

    def waiting(self) -> set[Message]:
        """Messages that are ready, those of paused holders included."""
        return {*self._ready, *(message for aside in self._aside.values() for message in aside)}

    def withdraw(self, holder: object) -> list[Message]:
        """Take back the messages of a holder that are not out. The holder puts no more."""
        taken = [message for message in self._ready if message.holder is holder]
        if taken:
            self._ready = deque(message for message in self._ready if message.holder is not holder)
        taken += self._aside.pop(holder, ())
        return taken + self._lanes.drop(lambda lane: _holder_of(lane) is holder)

    def take_back(self, is_meant: Callable[[Message], bool]) -> list[Message]:
        """Take the ready messages out for which `is_meant` is true."""
        taken = [message for message in self._ready if is_meant(message)]
        if taken:
            gone = set(taken)
            self._ready = deque(message for message in self._ready if message not in gone)
        return taken

    def pause(self, holder: object = None) -> None:
        """Hand out no message: of one holder, or at all."""
        if holder is None:
            self.is_paused = True
        else:
            self._aside.setdefault(holder, [])

    def resume(self, holder: object = None) -> None:
        if holder is None:
            self.is_paused = False
        else:
            self._ready.extendleft(reversed(self._aside.pop(holder, [])))
        self._wake()

    def close(self) -> None:
        """End all waiting `take` calls, now and later: they return no message."""
        self.is_closed = True
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def idle(self, seconds: float) -> bool:
        """Wait until no message is out, at most so long. Returns whether none is."""
        if self.out > 0:
            self._idle = asyncio.Event()
            try:
                async with asyncio.timeout(seconds):
                    await self._idle.wait()
            except TimeoutError:
                return False
        return True

    def __len__(self) -> int:
        """The number of messages that are ready."""
        return len(self._ready)

    def _next_of_lane(self, message: Message) -> None:
        assert self._lane_of is not None
        lane = self._lane_of(message)
        if lane is not None:
            following = self._lanes.leave(lane)
            if following is not None:
                self._ready.append(following)
                self._wake()

    async def _wait(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            if self.out < self._room or self.is_paused:
                await waiter
            else:
                await self._wait_for_room(waiter)
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._wake()  # it was our turn, and we leave: the next one's
            raise
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    async def _wait_for_room(self, waiter: "asyncio.Future[None]") -> None:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await asyncio.shield(waiter)
        except TimeoutError:
            _log.warning(
                "%d messages are out and none of them was settled for %d s: nothing more is "
                "handed out. Use `async with message.process()`, or ack(), or auto_ack=True",
                self.out,
                STALL_SECONDS,
            )
            await waiter

    def _wake(self) -> None:
        """Wake as many waiting tasks as there are messages and room for."""
        count = min(len(self._ready), self._room - self.out)
        while count > 0 and self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                count -= 1


def _holder_of(lane: Hashable) -> object:
    return lane[0] if isinstance(lane, tuple) else None
