"""`ProcessQueue` holds the messages of one queue that were pulled and are not yet settled.

P1. Messages are put in the order of their offsets, and settled in any.
P2. The offset that may be committed is the smallest that is not settled; with no message in hand,
    the offset of the next pull. It only grows: a member that takes the queue over begins there, and
    gets every message that was not settled again, without a gap.
P3. More is pulled only below all three limits: messages, bytes, and the span from the oldest
    unsettled offset to the newest, which would all come again if this member died.
"""

from collections import deque
from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.protocol.message.received_message import ReceivedMessage

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class FlowLimits:
    """Limits of the messages of one queue that may be in hand."""

    __slots__ = ("bytes_max", "count_max", "span_max")

    def __init__(
        self, count_max: int = 1000, bytes_max: int = 100 * 1024 * 1024, span_max: int = 2000
    ) -> None:
        if min(count_max, bytes_max, span_max) < 1:
            raise Misuse("a flow limit is at least 1: below, nothing would ever be pulled")
        self.count_max = count_max
        self.bytes_max = bytes_max
        self.span_max = span_max


class ProcessQueue:
    """The messages in hand of one queue, since it was taken over."""

    __slots__ = (
        "_committed",
        "_limits",
        "_line",
        "count",
        "newest",
        "next_offset",
        "size",
    )

    def __init__(self, start: int, limits: FlowLimits) -> None:
        """`start`: the offset of the first pull, which was last committed."""
        self._limits = limits
        # Oldest first; the oldest is never one that is settled.
        self._line: deque[ReceivedMessage] = deque()
        self._committed = start
        self.next_offset = start
        self.newest = start
        self.count = 0
        self.size = 0

    def put(self, messages: list[ReceivedMessage], next_offset: int) -> None:
        """Add the messages of a pull, and the offset of the next one."""
        for message in messages:
            self._line.append(message)
            self.size += message.size
            self.newest = message.offset
        self.count += len(messages)
        self.next_offset = next_offset

    def settle(self, message: ReceivedMessage) -> bool:
        """Settle a message. False if it was already."""
        if message.is_settled:
            return False
        message.is_settled = True
        self.count -= 1
        self.size -= message.size
        self._let_go()
        return True

    def settle_all(self, messages: list[ReceivedMessage]) -> list[ReceivedMessage]:
        """Settle messages. Returns those that were not already."""
        settled: list[ReceivedMessage] = []
        for message in messages:
            if not message.is_settled:
                message.is_settled = True
                self.count -= 1
                self.size -= message.size
                settled.append(message)
        self._let_go()
        return settled

    def _let_go(self) -> None:
        """Drop the oldest messages, as long as they are settled."""
        line = self._line
        while line:
            head = line[0]
            if not head.is_settled:
                break
            line.popleft()

    def oldest(self) -> int:
        """The smallest offset that is not settled; of the next pull if none is in hand."""
        if not self._line:
            return self.next_offset
        head = self._line[0]
        return head.offset

    def commit_offset(self) -> int:
        """The offset that may be committed now."""
        oldest = self.oldest()
        if oldest > self._committed:
            self._committed = oldest
        return self._committed

    def is_full(self) -> bool:
        """Whether a limit is reached, so that no pull may follow now."""
        limits = self._limits
        return (
            self.count >= limits.count_max
            or self.size >= limits.bytes_max
            or (self.count > 0 and self.newest - self.oldest() >= limits.span_max)
        )

    def unsettled(self) -> list[ReceivedMessage]:
        """Unsettled messages, oldest first."""
        return [message for message in self._line if not message.is_settled]
