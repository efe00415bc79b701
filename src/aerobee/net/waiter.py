"""Waiter is a caller that waits for an answer on a connection: a future and a deadline.

Those whose answers come by the hundred thousand make a kind of their own, which reads the answer
from the bytes that came; everybody else gets the whole command.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from aerobee.protocol.remoting.frame import FrameReader

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class Waiter:
    """W1. Once `answer` is done, nothing of it changes: its asker may have given up."""

    __slots__ = ("answer", "deadline", "is_fast")

    def __init__(self, answer: "asyncio.Future[Any]", deadline: float, is_fast: bool) -> None:
        """`deadline` is on the loop's clock; `is_fast`, whether `take` is to be tried first."""
        self.answer = answer
        self.deadline = deadline
        self.is_fast = is_fast

    def take(self, frames: FrameReader) -> bool:
        """End the wait by the current frame. False: it is to be decoded first."""
        return False

    def end(self, command: Any) -> None:
        """End the wait by an answer that was decoded: a RemotingCommand."""
        if not self.answer.done():
            command.body = bytes(command.body)  # the chunk is not to live as long as an answer
            self.answer.set_result(command)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)
