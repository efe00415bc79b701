"""Request stamps: a recorded request of our own clients is not taken a second time.

RocketMQ's signature has no time in it. Our clients sign one field more:

    RequestStamp: <request code>.<wall time, ms>.<session>.<count>

A session is a random number for each connection of a client, and its count rises with each request.
So a stamp is right if it is of the same code, of now, of a session of this connection, and later
than the last one. A server remembers a session for as long as its last stamp would be of now, so a
request that was recorded is refused on every other connection, and after that by its time. Other
clients have no stamp, and are taken without.
"""

from typing import TYPE_CHECKING

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

AGE_MS_MAX = 300_000
SESSIONS_MAX = 100_000
_PARTS = 4
_DIGITS_MAX = 18


def is_compiled() -> bool:
    return cython.compiled


class StampSession:
    """A session that is in use: the count and the time of its last stamp."""

    __slots__ = ("channel", "count", "number", "wall_ms")

    def __init__(self, number: int, channel: ChannelId) -> None:
        self.number = number
        self.channel = channel
        self.count = 0
        self.wall_ms = 0


class RequestStamps:
    """S1. A session is of one connection, for as long as any of its stamps would be of now."""

    def __init__(self) -> None:
        self._sessions: dict[int, StampSession] = {}

    def find_fault(self, text: str, code: int, channel: ChannelId, now: Now) -> str | None:
        """What is wrong with the stamp of a request whose signature is right; None: nothing, and it
        will not be taken again."""
        parts = text.split(".")
        if len(parts) != _PARTS or not all(
            part.isascii() and part.isdigit() and len(part) <= _DIGITS_MAX for part in parts
        ):
            return "the request stamp cannot be read"
        said_code, wall_ms, number, count = map(int, parts)
        if said_code != code:
            return "the request stamp is of another request"
        if abs(now.wall_ms - wall_ms) > AGE_MS_MAX:
            return "the request stamp is not of now: are the clocks of client and server right?"
        session = self._sessions.get(number)
        if session is None:
            if len(self._sessions) >= SESSIONS_MAX:
                self._forget_old(now.wall_ms)
            if len(self._sessions) >= SESSIONS_MAX:
                return f"{SESSIONS_MAX} sessions of clients are open: try again later"
            session = self._sessions[number] = StampSession(number, channel)
        if session.channel != channel:
            return "the request stamp was used before"
        if count <= session.count:
            return "the request stamp was used before"
        session.count = count
        session.wall_ms = max(session.wall_ms, wall_ms)
        return None

    def session_of(self, text: str) -> StampSession | None:
        """The session that a stamp without a fault is of."""
        return self._sessions.get(int(text.split(".")[2]))

    def _forget_old(self, wall_ms: int) -> None:
        old = [
            number
            for number, session in self._sessions.items()
            if wall_ms - session.wall_ms > AGE_MS_MAX
        ]
        for number in old:
            del self._sessions[number]
