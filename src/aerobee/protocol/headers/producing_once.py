"""The fields of OPEN_PRODUCER and of its answer, which are ours.

Those of SEND_ONCE are SEND_MESSAGE_V2's, by letter, and one more (`producer_mark`).
"""

from dataclasses import dataclass

from aerobee.protocol.declared_header import Int64


@dataclass(frozen=True, slots=True)
class OpenProducerHeader:
    producer_id: str
    topic: str
    epoch: Int64 = -1
    """The one to take; none: one that is greater than any before."""
    round_id: Int64 | None = None
    """Of work that goes in rounds: which one this is. The epoch given out is one of the round's."""
    plan: str | None = None
    """How this round's messages go to queues; whoever opened it first has said."""


@dataclass(frozen=True, slots=True)
class OpenedProducerHeader:
    epoch: Int64
    plan: str | None = None
    """What holds in this round: the plan that was given, or the first one's."""
