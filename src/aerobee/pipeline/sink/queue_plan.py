"""QueuePlan assigns the rows of a task to queues; brokers keep it as text for a repeated attempt.

    {"queues":[["broker-a",4],["broker-b",2]],"stripe":4096,"v":1}

It holds the queues of a topic in their order, and the number of consecutive rows without a key that
go to one queue. The queue of a row depends on the plan and the rows only: queues may be added
between two attempts, and constants may change between two versions of this package.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId

STRIPE_ROWS = 4096
_VERSION = 1


@dataclass(frozen=True, slots=True)
class QueuePlan:
    brokers: tuple[tuple[str, int], ...]
    """Names, and how many queues."""
    stripe_rows: int = STRIPE_ROWS

    def text(self) -> str:
        value = {"queues": self.brokers, "stripe": self.stripe_rows, "v": _VERSION}
        return json.dumps(value, separators=(",", ":"), sort_keys=True)

    def queues(self, topic: str) -> list[MessageQueue]:
        return [
            MessageQueue(topic, name, QueueId(number))
            for name, count in self.brokers
            for number in range(count)
        ]


def plan_for(queues: Sequence[MessageQueue]) -> QueuePlan:
    """Return the plan for these queues; a broker with n queues has queues 0 to n-1."""
    counts: dict[str, int] = {}
    for queue in queues:
        counts[queue.broker_name] = max(counts.get(queue.broker_name, 0), queue.queue_id + 1)
    return QueuePlan(tuple(sorted(counts.items())))


def read_plan(text: str) -> QueuePlan:
    """Parse a plan. RemoteProtocolError: it is of a version that is not known."""
    try:
        value = json.loads(text)
        if value["v"] != _VERSION:
            raise RemoteProtocolError(
                f"the plan {text[:200]!r} is of another version",
                hint="finish the batch with the version of aerobee that began it",
            )
        brokers = tuple((str(name), int(count)) for name, count in value["queues"])
        plan = QueuePlan(brokers, int(value["stripe"]))
    except (ValueError, KeyError, TypeError):
        raise RemoteProtocolError(f"{text[:200]!r} is no plan of a sink") from None
    if not brokers or plan.stripe_rows < 1 or min(count for _, count in brokers) < 1:
        raise RemoteProtocolError(f"{text[:200]!r} is a plan without queues")
    return plan
