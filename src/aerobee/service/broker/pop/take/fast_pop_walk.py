"""FastPopWalk runs one pop of messages in memory: copies them and writes a checkpoint per queue.

It first reads everything and then changes state: a pop that does not fit (no message, old messages,
messages in the retry topic, a group that is new to a queue, a reset offset) is left to `pop_walk`,
and nothing has changed. Law: the pop takes the messages and makes the changes that `pop_walk`
would. Ordered pops are not run here.
"""

from typing import NamedTuple

from aerobee.errors import AerobeeError
from aerobee.model.names import pop_retry_topic
from aerobee.ports.clock import Now
from aerobee.protocol.consume.pop_answer import PopAnswer
from aerobee.protocol.consume.pop_receipt import FROM_TOPIC, PoppedRun
from aerobee.protocol.message.record import WHOLE, Record
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.broker.pop.take.held_pops import PopPlan
from aerobee.service.broker.pop.take.pop_offsets import PopKey
from aerobee.service.broker.pop.take.pop_walk import PopWalk
from aerobee.service.broker.pop.take.queue_order import QueueOrder
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.read.queue_reader import QueueReader


class PopTarget:
    """A plan with the keys and names of its queues, made once for many pops."""

    __slots__ = ("keys", "order", "plan", "retry_keys", "retry_topic", "topic")

    def __init__(self, plan: PopPlan, order: QueueOrder) -> None:
        self.plan = plan
        self.order = order
        self.topic = plan.topic.encode()
        queues = order.ranked(order.queues) if plan.queue_id < 0 else (plan.queue_id,)
        self.keys: list[PopKey] = [(plan.group, plan.topic, queue_id) for queue_id in queues]
        retry_topic = pop_retry_topic(plan.group, plan.topic)
        self.retry_keys: list[PopKey] = [
            (plan.group, retry_topic, queue_id) for queue_id in range(order.retry_queues)
        ]
        self.retry_topic = retry_topic.encode()


class _Run(NamedTuple):
    """Messages of one queue that were copied into the buffer."""

    key: PopKey
    run: PoppedRun
    next_offset: int
    body_start: int
    body_end: int


class FastPopWalk:
    def __init__(
        self, fast_path_readers: tuple[ConsumeQueues, QueueReader], pop_walk: PopWalk
    ) -> None:
        self._queues, self._reader = fast_path_readers
        self._pop_walk = pop_walk
        self._out = pop_walk.out
        self._offsets = pop_walk.out.offsets
        self._record = Record()
        self._bodies = ReplyBuffer()

    def run(self, target: PopTarget, opaque: int, output: ReplyBuffer, now: Now) -> bool:
        """Pop and answer; False: `pop_walk` has to run it, and nothing has changed."""
        if self._offsets.has_resets:
            return False
        pop_walk, plan = self._pop_walk, target.plan
        self._bodies.position = 0
        found = self._look(target, pop_walk.turn)
        if found is None:
            return False
        revive_queue = pop_walk.turn % pop_walk.revive_queues
        runs = self._make_own(plan, found[0], revive_queue, now)
        if not runs:
            return False
        pop_walk.turn += 1
        answer = PopAnswer(now.wall_ms, plan.invisible_ms, revive_queue, found[1], runs)
        body = self._bodies.take()
        output.append(answer.head(opaque, len(body)))
        output.append(body)
        return True

    def _look(self, target: PopTarget, turn: int) -> tuple[list[_Run], int] | None:
        """The copied messages and the number that is left; None: not for the fast path."""
        plan, offsets = target.plan, self._offsets
        runs: list[_Run] = []
        rest = 0
        left = plan.count_max
        count = len(target.keys)
        first = target.order.first(turn)
        for step in range(first, first + count):
            key = target.keys[step % count]
            queue = self._queues.find(target.topic, key[2])
            if queue is None:
                continue
            position = offsets.position(key)
            if not queue.min_offset <= position <= queue.max_offset:
                return None
            if left > 0 and position < queue.max_offset:
                run = self._copied(plan, key, queue, position, left)
                if run is None:
                    return None
                runs.append(run)
                left -= len(run.run.offsets)
                position = run.next_offset
            rest += queue.max_offset - position
        is_looked_at = left > 0 or target.order.is_retry_first(turn)
        for key in target.retry_keys:
            retry = self._queues.find(target.retry_topic, key[2])
            if retry is not None:
                position = offsets.position(key)
                if position < retry.min_offset or (is_looked_at and position != retry.max_offset):
                    return None
                rest += max(0, retry.max_offset - position)
        return (runs, rest) if runs else None

    def _copied(
        self, plan: PopPlan, key: PopKey, queue: ConsumeQueue, position: int, left: int
    ) -> _Run | None:
        """The next messages of a queue that pass the group's filter; None: they are not in
        memory."""
        bodies, reader = self._bodies, self._reader
        start = bodies.position
        choice = plan.choice
        count = reader.copy(
            queue,
            position,
            left,
            self._pop_walk.bytes_max,
            choice.tag_codes,
            bodies,
            choice.chosen,
        )
        if count == 0:
            return None
        next_offset = reader.next_offset
        if next_offset - position == count:
            offsets = list(range(position, next_offset))
        else:
            offsets = self._offsets_from(start)
        run = PoppedRun(FROM_TOPIC, queue.queue_id, offsets)
        return _Run(key, run, next_offset, start, bodies.position)

    def _offsets_from(self, position: int) -> list[int]:
        """The queue offsets of the messages copied from this position of the buffer on."""
        view = self._bodies.view()
        offsets = []
        while position < len(view):
            outcome = self._record.read_from(view, position)
            assert outcome == WHOLE, outcome
            offsets.append(self._record.queue_offset)
            position += self._record.size
        return offsets

    def _make_own(
        self, plan: PopPlan, found: list[_Run], revive_queue: int, now: Now
    ) -> list[PoppedRun]:
        """Write the checkpoints. At the first that the store refuses, this run and the following
        ones are not handed out."""
        runs = []
        for key, run, next_offset, body_start, body_end in found:
            try:
                self._out.put_checkpoint(plan, key, run, next_offset, revive_queue, now)
            except AerobeeError:
                self._bodies.position = body_start
                break
            self._pop_walk.count_out(
                plan.group, plan.topic, len(run.offsets), body_end - body_start
            )
            runs.append(run)
        return runs
