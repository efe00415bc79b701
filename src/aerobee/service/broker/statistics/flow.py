"""Flow counts messages and bytes of one kind: stored in a topic, or handed out to a group.

The code that counts keeps the flow and adds to its two numbers, which only grow. The increase is
put into the windows by `note`, at the end of every slot.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.service.broker.statistics.windows import Past, Windows


class Flow:
    """F1. The windows have `_noted_messages` and `_noted_bytes` in all."""

    __slots__ = (
        "_noted_bytes",
        "_noted_messages",
        "_windows",
        "bytes",
        "fast_answers",
        "messages",
    )

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self.fast_answers = 0
        """Requests that fast paths answered, since the start."""
        self._noted_messages = 0
        self._noted_bytes = 0
        self._windows: tuple[Windows, Windows] | None = None  # None: nothing counted yet

    def add(self, messages: int, size: int) -> None:
        self.messages += messages
        self.bytes += size

    def add_fast(self, messages: int, size: int) -> None:
        """Count an answer of a fast path."""
        self.messages += messages
        self.bytes += size
        self.fast_answers += 1

    def reach(self, messages: int, size: int) -> None:
        """Set the totals."""
        self.messages = messages
        self.bytes = size

    def note(self, slot: int) -> None:
        """Put the increase into this slot of the windows."""
        messages = self.messages - self._noted_messages
        size = self.bytes - self._noted_bytes
        if messages or size:
            if self._windows is None:
                self._windows = (Windows(), Windows())
            self._windows[0].add(slot, messages)
            self._windows[1].add(slot, size)
            self._noted_messages += messages
            self._noted_bytes += size

    def past(self, now_ms: int, begun_ms: int) -> tuple[Past, Past]:
        """The windows of messages, and of bytes."""
        messages, size = self._windows or (Windows(), Windows())
        return messages.past(now_ms, begun_ms), size.past(now_ms, begun_ms)


FlowOf: TypeAlias = Callable[[str, str], Flow]
"""(group, topic) → the flow that counts its messages."""
