"""CauseFinding holds a cause, its explanation in words, and the command to run next.

F1. A cause is a fixed word for programs; the text is for people.
F2. The next command is one that exists, with its names filled in.
"""

from dataclasses import dataclass
from enum import Enum


class Cause(Enum):
    # Of a message, whatever the group.
    NOT_FOUND = "not found"
    EXPIRED = "expired"
    NO_ROUTE = "no route"
    HALF = "half"
    ROLLED_BACK = "rolled back"
    DELAYED = "delayed"
    # Of a message and a group.
    CONSUMED = "consumed"
    FILTERED = "filtered"
    IN_HAND = "in hand"
    NOT_REACHED = "not reached"
    IN_RETRY = "in retry"
    DEAD_LETTER = "dead letter"
    BROADCAST = "broadcast"
    # Of a group, with or without a message.
    NO_GROUP = "no group"
    DISABLED = "disabled"
    FORBIDDEN = "forbidden"
    NOT_READABLE = "not readable"
    NO_MEMBERS = "no members"
    NOT_SUBSCRIBED = "not subscribed"
    MISMATCH = "mismatch"
    UNASSIGNED = "unassigned"
    PAUSED = "paused"
    STUCK = "stuck"
    SILENT = "silent"
    BEHIND = "behind"
    DEAD_LETTERS = "dead letters"
    # Of a master and its slaves.
    NO_MASTER = "no master"
    NO_ANSWER = "no answer"
    TWO_MASTERS = "two masters"
    TOO_FEW_COPIES = "too few copies"
    NO_PROMISE = "no promise"
    DIVERGED = "diverged"
    NOT_FOLLOWING = "not following"
    SLAVE_BEHIND = "slave behind"
    NOT_REGISTERED = "not registered"
    # Of a group, or of a master and its slaves.
    WELL = "well"


@dataclass(frozen=True, slots=True)
class CauseFinding:
    cause: Cause
    text: str
    next: str
    """A command."""
    group: str = ""
    """Empty: it holds for all."""
