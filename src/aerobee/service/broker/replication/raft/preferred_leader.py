"""PreferredLeader hands leadership to the member that a person prefers, once that can take over.

A member is preferred to all that are named after it, and to all that are not named. It gets
leadership when it is a voter, answers, and has nearly everything: the rest is sent before the
election, while sends wait. Without a preference, as at a planned stop, the one with the longest log
takes over. So it does if the disk of a leader is full.
"""

from collections.abc import Sequence

from aerobee.errors import DiskFull, StorageError
from aerobee.raft.node import Node

LOOK_MS = 5_000
"""Between two tries: a member that is preferred and cannot win must not stop the group for long."""
LAG_BYTES_MAX = 1 << 20
FULL_FROM_BEGIN_MS = 5_000
"""A store looks at its disk now and then: one that is full so soon was full when it began."""
FULL_PAUSE_MS = 60_000


class PreferredLeader:
    def __init__(self, preferred: Sequence[int], now_ms: int) -> None:
        """`preferred`: members, the most preferred first."""
        self._preferred = preferred
        self._looked_ms = now_ms

    def is_due(self, now_ms: int) -> bool:
        return bool(self._preferred) and now_ms - self._looked_ms >= LOOK_MS

    def find_target(self, node: Node, now_ms: int) -> int | None:
        """The member that should lead in the place of this one; None: there is none now."""
        self._looked_ms = now_ms
        leading = node.leading
        if leading is None or not leading.has_committed():
            return None
        able = _able(node, now_ms)
        for target in self._preferred:
            if target == node.node:
                return None
            if target in able:
                return target
        return None


class Relief:
    """When a leader whose disk is full has another one lead: at once; but if it was full from its
    begin, others are likely to be full, too, and it tries only now and then."""

    def __init__(self, now_ms: int) -> None:
        self._begun_ms = self._tried_ms = now_ms
        self._is_old = False

    def is_due(self, hindrance: StorageError | None, now_ms: int) -> bool:
        """`hindrance`: why its store takes nothing."""
        if not isinstance(hindrance, DiskFull):
            return False
        self._is_old |= now_ms - self._begun_ms < FULL_FROM_BEGIN_MS
        pause_ms = FULL_PAUSE_MS if self._is_old else LOOK_MS
        is_first = self._tried_ms == self._begun_ms and not self._is_old
        if not is_first and now_ms - self._tried_ms < pause_ms:
            return False
        self._tried_ms = now_ms
        return True


def find_successor(node: Node, now_ms: int) -> int | None:
    """The member that can take over from a leader soonest; None: there is none now."""
    able = _able(node, now_ms)
    return max(able, key=lambda one: (able[one], -one), default=None)


def _able(node: Node, now_ms: int) -> dict[int, int]:
    """Members that can lead, and how much of the log is on their disks."""
    progress = node.leading.progress if node.leading is not None else {}
    return {
        other: one.synced
        for other, one in progress.items()
        if other in node.members.voters
        and one.is_agreed
        and now_ms - one.echo_ms <= node.election_timeout_ms
        and node.log.end - one.synced <= LAG_BYTES_MAX
    }
