"""The fields of OPEN_PRODUCER and FINISH_ROUND, which are ours, and of their answers.

Those of SEND_ONCE are SEND_MESSAGE_V2's, by letter, and one more (`producer_mark`).
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64


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
    finish: bool | None = None
    """Marks are many: whoever is through is to say so, so that they can be let go."""


@dataclass(frozen=True, slots=True)
class NoRoomHeader:
    """Header of the answer that refuses OPEN_PRODUCER."""

    wait: bool = False
    """There is room once others of the round are through."""


@dataclass(frozen=True, slots=True)
class FinishRoundHeader:
    """Header of FINISH_ROUND: all messages of the round for a topic are stored."""

    write_id: str
    topic: str
    round_id: Int64
    task: Int32 | None = None
    """Of this task only, which says so itself; none: of all."""
    epoch: Int64 = -1
    """That the task has sent with."""


@dataclass(frozen=True, slots=True)
class FinishedRoundHeader:
    epoch: Int64 | None = None
    """That the task goes on with, if it has more topics to speak of."""
