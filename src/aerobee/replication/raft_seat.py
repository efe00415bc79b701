"""RaftSeat: the parts of a group member that outlive the lives of its broker.

A change of role, and a cut of the log, are another life of a broker (`ports.service.Rebuild`): the
store is opened anew, and everything on it is built anew. The node lives on, because an election
that it has won would be in vain otherwise; so does the work that the last life has left to the next
one.
"""

from collections.abc import Callable

from aerobee.errors import RaftBroken
from aerobee.ports.entropy import Entropy
from aerobee.raft.node import Node
from aerobee.raft.ready import Ready
from aerobee.raft.saved_state import SavedState
from aerobee.replication.departure import Departure
from aerobee.replication.group_config import RaftGroupConfig
from aerobee.replication.raft_log import RaftLog


class RaftSeat:
    """One for a broker process. Se1. `log` is that of the present life."""

    def __init__(self, config: RaftGroupConfig, group: str, entropy: Entropy) -> None:
        """`group` is the name by which members know each other."""
        self.config = config
        self.group = group
        self._entropy = entropy
        self._node: Node | None = None
        self._log: RaftLog | None = None
        self.departure = Departure(
            config.forwarding_quiet_ms, config.forwarding_time_ms, 2 * config.election_timeout_ms
        )
        """The stop of this process, once it is to stop."""
        self.hand_over: Callable[[], bool] = lambda: False
        """Has another member lead, if this one does; whether one is going to. Of the present
        life."""
        self.owed: Ready | None = None
        """Work of the node that the next life does first."""

    @property
    def node(self) -> Node:
        assert self._node is not None  # a life has begun
        return self._node

    @property
    def is_new(self) -> bool:
        """Whether no life has begun yet."""
        return self._node is None

    def begin_life(self, log: RaftLog, saved: SavedState | None, now_ms: int) -> None:
        """Take the log of this life. `saved`: the state on the disk, for the first life.
        RaftBroken: the log is not the one that the node knows."""
        self._log = log
        bounds = log.bounds()
        if self._node is None:
            assert saved is not None
            core, entropy = self.config.core(), self._entropy
            self._node = Node(
                self.config.node, saved, bounds, core, entropy, self._boundary, now_ms
            )
        elif bounds.end not in (self._node.log.end, 0):
            raise RaftBroken(
                f"the log ends at {bounds.end}, and the node has it up to {self._node.log.end}"
            )

    def _boundary(self, start: int, limit: int) -> int:
        assert self._log is not None
        return self._log.boundary(start, limit)
