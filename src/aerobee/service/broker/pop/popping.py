"""One pop: queues of a topic in turn, and the group's retry topic, until enough is found.

    position ─▶ read ─▶ checkpoint into the log ─▶ position moves ─▶ handed out

One pop in five looks at the retry topic first, the others last, so that neither starves. The queue
to begin with goes round. A message goes to one pop only, because its checkpoint moves the position
in the same step; if the checkpoint is refused, nothing of the queue is handed out.

What is old enough to lie on the disk only is not waited for: the read is handed back, to be brought
into memory, and the pop is run again. A queue that cannot be read is passed over while others can.

Messages of the retry topic are handed out under their own topic's name, with their receipt.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aerobee.errors import (
    CorruptFile,
    CorruptRecord,
    LocalProtocolError,
    RemoteProtocolError,
    StorageError,
)
from aerobee.model.message import StoredMessage
from aerobee.model.names import RETRY_PREFIX, pop_retry_topic
from aerobee.model.properties import POP_CHECKPOINT
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.protocol.pop_receipt import (
    FROM_RETRY,
    FROM_TOPIC,
    ORDERLY,
    PoppedRun,
    PopReceipt,
    encode_pop_receipt,
)
from aerobee.protocol.record import WHOLE, Record
from aerobee.protocol.stored_message import decode_records, encode_record
from aerobee.service.broker.parked.held_pops import PopPlan
from aerobee.service.broker.pop.in_flight import InFlight
from aerobee.service.broker.pop.order_info import OrderInfo
from aerobee.service.broker.pop.order_infos import OrderInfos
from aerobee.service.broker.pop.pop_offsets import PopKey, PopOffsets
from aerobee.service.broker.pop.revive_log import ReviveLog
from aerobee.service.broker.queue_facts import QueueFacts
from aerobee.service.broker.state.offsets import NO_ROOM, UNKNOWN
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.read.queue_reader import QueueRead, ReadStatus
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

_RETRY = RETRY_PREFIX.encode()
RETRY_FIRST_EVERY = 5
READS_A_QUEUE = 50  # each looks at 800 units if a filter lets nothing through


class ColdRun(NamedTuple):
    """A read that has to be brought into memory and checked before anybody may have it."""

    topic: str
    queue_id: int
    position: int
    read: QueueRead


@dataclass(slots=True)
class Popped:
    """What came of one pop."""

    now: Now
    revive_queue: int
    fetched: ColdRun | None = None
    count: int = 0
    runs: list[PoppedRun] = field(default_factory=list)
    parts: list[memoryview] = field(default_factory=list)
    rest: int = 0
    """Messages that could be popped next, about."""
    cold: ColdRun | None = None
    """To be brought into memory first: nothing else was found."""
    error: StorageError | None = None
    is_refused: bool = False
    """The store takes no checkpoint now."""
    counts: list[tuple[PoppedRun, dict[int, int]]] = field(default_factory=list)
    """Of an ordered pop: how often its messages were handed out before."""

    @property
    def pop_time(self) -> int:
        return self.now.wall_ms


class PopState:
    """What pops change."""

    def __init__(
        self, offsets: PopOffsets, orders: OrderInfos, log: ReviveLog, in_flight: InFlight
    ) -> None:
        self.offsets = offsets
        self.orders = orders
        self.log = log
        self.in_flight = in_flight


class Popping:
    def __init__(
        self,
        store: Store,
        queues: QueueFacts,
        state: PopState,
        broker_name: str,
        revive_queues: int,
        bytes_max: int,
    ) -> None:
        self._store = store
        self._queues = queues
        self._state = state
        self._broker_name = broker_name
        self._revive_queues = revive_queues
        self._bytes_max = bytes_max
        self._record = Record()
        self._turn = 0
        # Messages, since the start.
        self.handed_out = 0

    def pop(
        self, plan: PopPlan, read_queues: int, now: Now, fetched: ColdRun | None = None
    ) -> Popped:
        """Take up to as many messages as the plan says; first those that were fetched for it."""
        turn, self._turn = self._turn, self._turn + 1
        revive_queue = ORDERLY if plan.is_orderly else turn % self._revive_queues
        popped = Popped(now, revive_queue, fetched=fetched)
        sources = list(_sources(plan, read_queues, turn))
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
        if popped.count:
            popped.cold = None
            self.handed_out += popped.count
        return popped

    def has_any(self, plan: PopPlan, read_queues: int, now: Now) -> bool:
        """Whether a pop would find something, filters left aside."""
        for _, topic, queue_id in _sources(plan, read_queues, 0):
            key = (plan.group, topic, queue_id)
            queue = self._store.queue(topic.encode(), queue_id)
            if queue is None or self._is_blocked(plan, key, now.wall_ms):
                continue
            position = self._state.offsets.position(key)
            if queue.max_offset > max(position, queue.min_offset):
                return True
        return False

    def peek(self, plan: PopPlan, read_queues: int) -> tuple[list[memoryview], int]:
        """The next messages and how many are left, changing nothing. Cold ones are not shown."""
        parts: list[memoryview] = []
        rest = 0
        left = plan.count_max
        for _, topic, queue_id in _sources(plan, read_queues, 0):
            queue = self._store.queue(topic.encode(), queue_id)
            if queue is None:
                continue
            position = self._state.offsets.position((plan.group, topic, queue_id))
            start = max(position, queue.min_offset)
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
                found.choose(plan.choice.chosen, left, self._bytes_max)
        else:
            found = self._found(plan, key, queue, position, left)
            if found.is_cold:
                position = self._state.offsets.position(key)
                popped.cold = ColdRun(topic, queue.queue_id, position, found)
                popped.rest += max(0, queue.max_offset - position)
                return
        if found.status == ReadStatus.FOUND:
            self._take(plan, origin, key, found, popped)
        popped.rest += max(0, queue.max_offset - found.next_offset)

    def _position(self, plan: PopPlan, origin: str, key: PopKey, queue: ConsumeQueue) -> int:
        """Where the group is in a queue; it begins there if it is new."""
        offsets = self._state.offsets
        if offsets.take_reset(key) is not None:
            self._state.orders.forget(key)
        position = offsets.position(key)
        if position != UNKNOWN:
            return position
        position = queue.min_offset
        is_from_min = plan.is_from_min or origin == FROM_RETRY
        if not is_from_min and not self._queues.is_young(key[1], key[2]):
            position = max(queue.max_offset - 1, position)
        if not offsets.begin(key, position):
            raise RemoteProtocolError(NO_ROOM)
        return position

    def _is_blocked(self, plan: PopPlan, key: PopKey, wall_ms: int) -> bool:
        if not plan.is_orderly:
            return False
        orders = self._state.orders
        return orders.is_blocked(key, plan.attempt_id, wall_ms) or not orders.has_room(key)

    def _found(
        self, plan: PopPlan, key: PopKey, queue: ConsumeQueue, position: int, left: int
    ) -> QueueRead:
        """The next messages that the group wants; what it does not want is passed."""
        found = self._read(plan, queue, position, left)
        for _ in range(READS_A_QUEUE):
            is_over = found.status in (ReadStatus.FOUND, ReadStatus.OFFSET_OVERFLOW_ONE)
            if is_over or found.next_offset == position:
                break
            position = found.next_offset
            self._state.offsets.passed(key, position)
            found = self._read(plan, queue, position, left)
        return found

    def _read(self, plan: PopPlan, queue: ConsumeQueue, position: int, left: int) -> QueueRead:
        # What is in a retry topic was chosen once, and carries other properties now.
        chosen = None if queue.topic.startswith(_RETRY) else plan.choice.chosen
        return self._store.read(
            queue.topic,
            queue.queue_id,
            position,
            left,
            self._bytes_max,
            plan.choice.tag_codes,
            chosen,
        )

    def _take(
        self, plan: PopPlan, origin: str, key: PopKey, found: QueueRead, popped: Popped
    ) -> None:
        """Make what was found this pop's own."""
        run = PoppedRun(origin, key[2], list(self._offsets_in(found)))
        if plan.is_orderly:
            info = self._state.orders.popped(
                key,
                OrderInfo(
                    run.offsets,
                    popped.pop_time,
                    plan.invisible_ms,
                    plan.attempt_id,
                    consumed_ms=popped.pop_time,
                ),
            )
            popped.counts.append((run, info.counts))
        else:
            self._put_checkpoint(plan, key, run, found.next_offset, popped)
        popped.runs.append(run)
        popped.count += len(run.offsets)
        popped.parts += (
            found.slices if origin == FROM_TOPIC else self._renamed(plan, run, found, popped)
        )

    def _put_checkpoint(
        self, plan: PopPlan, key: PopKey, run: PoppedRun, next_offset: int, popped: Popped
    ) -> None:
        start = run.offsets[0]
        checkpoint = Checkpoint(
            key[1],
            plan.group,
            run.queue_id,
            start,
            popped.pop_time,
            plan.invisible_ms,
            self._broker_name,
            tuple(offset - start for offset in run.offsets),
        )
        stored = self._state.log.put_checkpoint(
            checkpoint, popped.revive_queue, popped.now, popped_to=next_offset
        )
        self._state.in_flight.started(checkpoint.key)
        self._state.offsets.popped(key, next_offset, stored.end_offset)

    def _offsets_in(self, found: QueueRead) -> Iterator[int]:
        record = self._record
        for view in found.slices:
            position = 0
            while position < len(view):
                outcome = record.read_from(view, position)
                assert outcome == WHOLE, outcome
                yield record.queue_offset
                position += record.size

    def _renamed(
        self, plan: PopPlan, run: PoppedRun, found: QueueRead, popped: Popped
    ) -> Iterator[memoryview]:
        for view in found.slices:
            for message in decode_records(bytes(view)):
                receipt = PopReceipt(
                    run.offsets[0],
                    popped.pop_time,
                    plan.invisible_ms,
                    popped.revive_queue,
                    run.origin,
                    self._broker_name,
                    run.queue_id,
                    message.queue_offset,
                )
                yield memoryview(_with_receipt(replace(message, topic=plan.topic), receipt))


def _with_receipt(message: StoredMessage, receipt: PopReceipt) -> bytes:
    text = encode_pop_receipt(receipt)
    try:
        return encode_record(
            replace(message, properties={**message.properties, POP_CHECKPOINT: text})
        )
    except LocalProtocolError:
        # No room among its properties: its client puts the receipt together by itself.
        return encode_record(message)


def _sources(plan: PopPlan, read_queues: int, turn: int) -> Iterator[tuple[str, str, int]]:
    """Origin, topic and queue, in the order in which they are looked at."""
    retry = (FROM_RETRY, pop_retry_topic(plan.group, plan.topic), 0)
    is_retry_first = turn % RETRY_FIRST_EVERY == RETRY_FIRST_EVERY - 1
    if is_retry_first and not plan.is_orderly:
        yield retry
    if plan.queue_id >= 0:
        yield FROM_TOPIC, plan.topic, plan.queue_id
    else:
        for step in range(read_queues):
            yield FROM_TOPIC, plan.topic, (turn + step) % read_queues
    if not is_retry_first and not plan.is_orderly:
        yield retry
