"""PopWalk runs one pop: queues of a topic in turn, and the group's retry topic, until enough is
found.

    position ─▶ read ─▶ checkpoint into the log ─▶ position moves ─▶ handed out

Which queue comes first is `queue_order`'s to say. A message goes to one pop only, because its
checkpoint moves the position in the same step; if the checkpoint is refused, no message of the
queue is handed out.

Messages that are on the disk only are not waited for: the read is returned, to be brought into
memory, and the pop is run again; a pop by priority goes no further, because what follows is less
important. A queue that cannot be read is skipped while others can.
"""

import logging
from collections.abc import Callable, Iterator
from typing import TypeAlias

from aerobee.errors import CorruptFile, CorruptRecord, RemoteProtocolError, StorageError
from aerobee.model.names import RETRY_PREFIX, pop_retry_topic
from aerobee.ports.clock import Now
from aerobee.protocol.consume.pop_receipt import FROM_RETRY, FROM_TOPIC, ORDERLY
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.pop.take.handout import ColdRun, Handout, Popped
from aerobee.service.broker.pop.take.held_pops import PopPlan
from aerobee.service.broker.pop.take.pop_offsets import PopKey
from aerobee.service.broker.pop.take.queue_order import QueueOrder
from aerobee.service.broker.state.consumer_offsets import NO_ROOM, UNKNOWN
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.read.queue_read import QueueRead, ReadStatus
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

_RETRY = RETRY_PREFIX.encode()
READS_A_QUEUE = 50  # each looks at 800 units if the filter rejects all

CountOut: TypeAlias = Callable[[str, str, int, int], None]
"""Called for messages that were handed out: (group, topic, messages, bytes)."""


class PopWalk:
    def __init__(
        self,
        store: Store,
        queues: QueueFacts,
        out: Handout,
        revive_queues: int,
        bytes_max: int,
    ) -> None:
        self._store = store
        self._queues = queues
        self.out = out
        self.revive_queues = revive_queues
        self.bytes_max = bytes_max
        self.turn = 0
        self.count_out: CountOut = lambda group, topic, messages, size: None

    def pop(
        self, plan: PopPlan, order: QueueOrder, now: Now, fetched: ColdRun | None = None
    ) -> Popped:
        """Take up to as many messages as the plan says; first those that were read from the disk
        for it (`fetched`)."""
        turn, self.turn = self.turn, self.turn + 1
        revive_queue = ORDERLY if plan.is_orderly else turn % self.revive_queues
        popped = Popped(now, revive_queue, fetched=fetched)
        sources = list(_sources(plan, order, turn))
        waits = order.is_by_priority(turn)
        if fetched is not None:
            sources.sort(key=lambda source: source[1:] != (fetched.topic, fetched.queue_id))
        for origin, topic, queue_id in sources:
            queue = self._store.queue(topic.encode(), queue_id)
            if queue is None:
                continue
            try:
                self._pop_queue(plan, origin, topic, queue, popped)
            except (CorruptRecord, CorruptFile) as error:
                _log.error("queue %d of %s cannot be popped: %s", queue_id, topic, error)
                popped.error = error
            except StorageError as error:
                popped.error, popped.is_refused = error, True
            if waits and popped.cold is not None:
                break
        if popped.count:
            popped.cold = None
        return popped

    def has_any(self, plan: PopPlan, order: QueueOrder, now: Now) -> bool:
        """Whether a pop would find messages, filters left aside."""
        for _, topic, queue_id in _sources(plan, order, 0):
            key = (plan.group, topic, queue_id)
            queue = self._store.queue(topic.encode(), queue_id)
            if queue is None or self._is_blocked(plan, key, now.wall_ms):
                continue
            position = self.out.offsets.position(key)
            if queue.max_offset > max(position, self._store.first_offset(queue)):
                return True
        return False

    def peek(self, plan: PopPlan, order: QueueOrder) -> tuple[list[memoryview], int]:
        """The next messages and the number that is left, changing nothing. Cold ones are left
        out."""
        parts: list[memoryview] = []
        rest = 0
        left = plan.count_max
        for _, topic, queue_id in _sources(plan, order, 0):
            queue = self._store.queue(topic.encode(), queue_id)
            if queue is None:
                continue
            position = self.out.offsets.position((plan.group, topic, queue_id))
            start = max(position, self._store.first_offset(queue))
            if left > 0:
                found = self._read(plan, queue, start, left)
                if found.status == ReadStatus.FOUND and not found.is_cold:
                    parts += found.slices
                    left -= found.count
                    start = found.next_offset
            rest += max(0, queue.max_offset - start)
        return parts, rest

    # One queue.

    def _pop_queue(
        self, plan: PopPlan, origin: str, topic: str, queue: ConsumeQueue, popped: Popped
    ) -> None:
        key = (plan.group, topic, queue.queue_id)
        position = self._position(plan, origin, key, queue)
        left = plan.count_max - popped.count
        if left <= 0 or popped.is_refused or self._is_blocked(plan, key, popped.pop_time):
            popped.rest += max(0, queue.max_offset - position)
            return
        fetched = popped.fetched
        if fetched is not None and fetched[:3] == (topic, queue.queue_id, position):
            found = fetched.read
            if plan.choice.chosen is not None:
                found.choose(plan.choice.chosen, left, self.bytes_max)
        else:
            found = self._found(plan, key, queue, position, left)
            if found.is_cold:
                position = self.out.offsets.position(key)
                popped.cold = ColdRun(topic, queue.queue_id, position, found)
                popped.rest += max(0, queue.max_offset - position)
                return
        if found.status == ReadStatus.FOUND:
            self.out.take(plan, origin, key, found, popped)
            self.count_out(plan.group, topic, found.count, sum(map(len, found.slices)))
        popped.rest += max(0, queue.max_offset - found.next_offset)

    def _position(self, plan: PopPlan, origin: str, key: PopKey, queue: ConsumeQueue) -> int:
        """The group's offset in a queue; for a new group, its first one."""
        offsets = self.out.offsets
        if offsets.take_reset(key) is not None:
            self.out.orders.forget(key)
        position = offsets.position(key)
        if position != UNKNOWN:
            return position
        position = self._store.first_offset(queue)
        is_from_min = plan.is_from_min or origin == FROM_RETRY
        if not is_from_min and not self._queues.is_young(key[1], key[2]):
            position = max(queue.max_offset - 1, position)
        if not offsets.begin(key, position):
            raise RemoteProtocolError(NO_ROOM)
        return position

    def _is_blocked(self, plan: PopPlan, key: PopKey, wall_ms: int) -> bool:
        if not plan.is_orderly:
            return False
        orders = self.out.orders
        return orders.is_blocked(key, plan.attempt_id, wall_ms) or not orders.has_room(key)

    def _found(
        self, plan: PopPlan, key: PopKey, queue: ConsumeQueue, position: int, left: int
    ) -> QueueRead:
        """The next messages that pass the group's filter; others are skipped."""
        found = self._read(plan, queue, position, left)
        for _ in range(READS_A_QUEUE):
            is_over = found.status in (ReadStatus.FOUND, ReadStatus.OFFSET_OVERFLOW_ONE)
            if is_over or found.next_offset == position:
                break
            position = found.next_offset
            self.out.offsets.passed(key, position)
            found = self._read(plan, queue, position, left)
        return found

    def _read(self, plan: PopPlan, queue: ConsumeQueue, position: int, left: int) -> QueueRead:
        # Messages of a retry topic passed the filter before, and have other properties now.
        chosen = None if queue.topic.startswith(_RETRY) else plan.choice.chosen
        return self._store.read(
            queue.topic,
            queue.queue_id,
            position,
            left,
            self.bytes_max,
            plan.choice.tag_codes,
            chosen,
        )


def _sources(plan: PopPlan, order: QueueOrder, turn: int) -> Iterator[tuple[str, str, int]]:
    """Origin, topic and queue, in the order in which they are looked at."""
    retry_topic = pop_retry_topic(plan.group, plan.topic)
    retries = [
        (FROM_RETRY, retry_topic, queue_id)
        for queue_id in ([] if plan.is_orderly else order.in_turn(order.retry_queues, turn))
    ]
    is_retry_first = order.is_retry_first(turn)
    if is_retry_first:
        yield from retries
    if plan.queue_id >= 0:
        yield FROM_TOPIC, plan.topic, plan.queue_id
    else:
        for queue_id in order.in_turn(order.queues, turn):
            yield FROM_TOPIC, plan.topic, queue_id
    if not is_retry_first:
        yield from retries
