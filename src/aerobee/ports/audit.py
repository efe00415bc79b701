"""AuditEvent: one line of an audit trail. It says who asked for what, from where, and what became
of it. No field has a secret: names of users, topics, groups and settings, never their values."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

ALLOWED = "allow"
DENIED = "deny"


class AuditEvent(NamedTuple):
    wall_ms: int
    server: str
    """Which broker or name server was asked."""
    user: str
    """Whose signature it was; of a request that was refused for its signature the name that it
    claimed; empty: nobody signed."""
    source: str
    """The address that it came from."""
    request: str
    """RocketMQ's name of the request."""
    on: tuple[str, ...]
    """Resources and whatever else the request is about: `Topic:orders`, `User:alice`."""
    decision: str
    """ALLOWED or DENIED."""
    answer: str
    """RocketMQ's name of the response code; empty: a one-way request, which has no answer."""
    reason: str = ""
    left_out: int = 0
    """Refusals of the same address before this one that were not written, because they were too
    many in a second."""


AuditSink: TypeAlias = Callable[[AuditEvent], None]
"""Takes an event, at once and whatever the disk does."""
