"""Queue choice: the rules that pick the queue of a message.

    no key, no queue    one queue after the other; not those of the broker that failed just now,
                        unless there are no others; with latency faults, slow brokers come last
    a key               always the same queue, as long as the queues are the same: Java's hash of
                        the key, so that Java's SelectMessageQueueByHash chooses the same
    a queue             that one, if it can be written to
    a priority          the queue of that number on the broker whose turn it is, or its last one:
                        the broker would choose the same

The first queue is handed in, at random, so that many clients do not begin with the same.
"""

from collections.abc import Callable, Sequence

from aerobee.client.core.send.latency_faults import LatencyFaults
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.primitives.java_hash import tag_code

Fits = Callable[[MessageQueue], bool]


class QueueRound:
    """Picks one queue after the other. Q1. Never fails on a list that is not empty."""

    __slots__ = ("_turn",)

    def __init__(self, start: int) -> None:
        self._turn = start

    def take(self, queues: Sequence[MessageQueue], *, avoid: str = "") -> MessageQueue:
        """The next queue, of a broker other than `avoid` if there is one."""
        return self._first(queues, lambda queue: queue.broker_name != avoid) or self._next(queues)

    def take_fast(
        self,
        queues: Sequence[MessageQueue],
        faults: LatencyFaults,
        now_ms: int,
        *,
        avoid: str = "",
    ) -> MessageQueue:
        """The next queue of a broker that does not rest; else of one that can be reached."""

        def is_available(queue: MessageQueue) -> bool:
            name = queue.broker_name
            return name != avoid and faults.is_available(name, now_ms)

        def is_reachable(queue: MessageQueue) -> bool:
            return queue.broker_name != avoid and faults.is_reachable(queue.broker_name)

        return (
            self._first(queues, is_available)
            or self._first(queues, is_reachable)
            or self._next(queues)
        )

    def _first(self, queues: Sequence[MessageQueue], fits: Fits) -> MessageQueue | None:
        for _ in queues:
            queue = self._next(queues)
            if fits(queue):
                return queue
        return None

    def _next(self, queues: Sequence[MessageQueue]) -> MessageQueue:
        self._turn += 1
        return queues[self._turn % len(queues)]


def queue_for_key(queues: Sequence[MessageQueue], key: str) -> MessageQueue:
    """The queue of a key: the same for every client that sees the same queues."""
    # Java takes the remainder of the signed hash, and then its absolute value.
    return queues[abs(tag_code(key.encode())) % len(queues)]


def queue_for_priority(
    queues: Sequence[MessageQueue], broker_name: str, priority: int
) -> MessageQueue:
    """The queue of a priority on a broker; the last one for priorities beyond it."""
    own = sorted(queue for queue in queues if queue.broker_name == broker_name)
    return own[min(priority, len(own) - 1)]


def find_queue(queues: Sequence[MessageQueue], wanted: MessageQueue) -> MessageQueue | None:
    """The writable queue of this broker and id. The topic's name is not compared."""
    for queue in queues:
        if queue.queue_id == wanted.queue_id and queue.broker_name == wanted.broker_name:
            return queue
    return None
