"""Rebalancing: the queues that a member loses and gains when a group shares its queues out again.

R1. A queue is kept, lost or gained, and only one of these.
R2. If the queues or members of a topic are not known, its owned queues are kept.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aerobee.client.core.consume.allocation import Strategy, in_order
from aerobee.model.message_queue import MessageQueue


@dataclass(frozen=True, slots=True)
class TopicShare:
    """Queues and members of one topic when its queues are shared out."""

    queues: tuple[MessageQueue, ...]
    members: tuple[str, ...] | None
    """None: nobody shares, every member gets all."""


@dataclass(frozen=True, slots=True)
class QueueChange:
    lost: frozenset[MessageQueue]
    gained: frozenset[MessageQueue]

    @property
    def is_none(self) -> bool:
        return not self.lost and not self.gained


def wanted_queues(
    member: str,
    shares: Mapping[str, TopicShare | None],
    owned: Iterable[MessageQueue],
    strategy: Strategy,
) -> frozenset[MessageQueue]:
    """The queues that a member should own now. `shares` by topic; None: not known."""
    wanted = {queue for queue in owned if shares.get(queue.topic, _GONE) is None}
    for share in shares.values():
        if share is None:
            continue
        if share.members is None:
            wanted.update(share.queues)
        else:
            queues, members = in_order(share.queues, share.members)
            wanted.update(strategy.share(member, queues, members))
    return frozenset(wanted)


def change(owned: Iterable[MessageQueue], wanted: frozenset[MessageQueue]) -> QueueChange:
    have = frozenset(owned)
    return QueueChange(lost=have - wanted, gained=wanted - have)


_GONE = TopicShare((), None)
"""Of a topic that is subscribed to no longer: nothing of it is kept."""
