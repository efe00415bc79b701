"""The protocol of a fast path: the three answers of its `take`, and the limit of its grants.

A fast path handles frames in place, inside the read that brought them, without making a command.
A grant is a decision that a fast path remembers for one header template of one connection.
"""

from typing import Protocol

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

NONE = 0
"""No frame was taken; the current frame is for another path."""
SOME = 1
"""Frames were taken; the current frame is for another path."""
ALL = 2
"""All complete frames were taken."""

GRANTS_MAX = 8
"""Limit per connection: as many topics and groups as one client commonly consumes."""


class FastPath(Protocol):
    """Handles frames in place."""

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> int:
        """Handle frames from the current one on: NONE, SOME, or ALL that there are."""

    def recheck(self) -> None:
        """Check every grant again before its next use: something it depends on may have changed."""


class NoFastPath:
    """The fast path of requests that this broker does not serve: it takes none."""

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> int:
        return NONE

    def recheck(self) -> None:
        pass
