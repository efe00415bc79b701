"""FastDesk serves in place the two requests that come for every message: sends, acknowledgements.

Law: a request that is taken here is stored and answered as `desk.Desk.ask` would have it.

This class serves nothing: the broker in the same process has one that does
(`service.broker.fast_inner_desk`), compiled like this, so that a send passes no function of Python
on its way into the log.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.revive_records import CheckpointKey
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.service.request import Answer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

Told: TypeAlias = Callable[[Answer], None]


def is_compiled() -> bool:
    return cython.compiled


class FastDesk:
    """F1. `draft` is what `store` stores."""

    __slots__ = ("draft",)

    def __init__(self) -> None:
        self.draft = MessageDraft()

    def is_open(self, now: Now) -> bool:
        """Whether nobody has to be asked who asks, or how often, and the broker may take
        requests."""
        return False

    def store(self, channel: ChannelId, now: Now) -> int:
        """Store the draft, a normal message of a client. Its queue offset; -1: nothing was
        stored."""
        return -1

    def ack_bounds(self, topic: str, queue_id: int, revive_queue: int) -> tuple[int, int] | None:
        """The least and the largest offset of a queue that can be acknowledged; None: the general
        path says why none can."""
        return None

    def acknowledge(
        self,
        key: CheckpointKey,
        revive_queue: int,
        revive_time: int,
        offsets: list[int],
        told: Told,
    ) -> None:
        """Acknowledge messages of one pop that was not ordered, within the bounds of their queue;
        `told` gets the answer to each of them when the round of reads is over, or later."""
