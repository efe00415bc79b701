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


@dataclass(frozen=True, slots=True)
class OpenedProducerHeader:
    epoch: Int64
