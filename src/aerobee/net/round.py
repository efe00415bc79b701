"""One turn of the loop, as far as it reads: what its reads share.

Many connections are read in one turn. The clock is read once for all of them, and what follows from
what they brought (visible messages, wake-ups) is done once, when the turn is over.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from aerobee.ports.clock import Now
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class Round:
    """R1. While `is_begun`, `now` and `monotonic_ms` are of this turn."""

    __slots__ = (
        "_begin",
        "begun_bytes",
        "is_begun",
        "monotonic_ms",
        "now",
        "output",
        "reader",
        "strange_bytes",
    )

    def __init__(self, begin: Callable[[], Now]) -> None:
        """`begin` is called at the first read of a turn, sees to its end and tells the time."""
        self._begin = begin
        self.is_begun = False
        self.now = Now(0, 0)
        self.monotonic_ms = 0
        # Where the answers of one read gather, and whose read it is: one after the other uses it.
        self.output = ReplyBuffer()
        self.reader: object = None
        # Of frames that have not come whole, of all connections: no matter of one turn alone.
        self.begun_bytes = 0
        # The same of those whose peers have not shown who they are.
        self.strange_bytes = 0

    def begin(self) -> None:
        self.now = self._begin()
        self.monotonic_ms = self.now.monotonic_ms
        self.is_begun = True

    def end(self) -> None:
        self.is_begun = False
