"""Follower: the part of a node that follows: it fetches a leader's log and reports what is on its
disk.

F1. Records are appended only at the end of the log, and only if the byte before them has the same
    term here and there: then everything before it is the same.
F2. The log is cut only by an answer to a fetch that described the log as it still is.
F3. What is committed is believed only up to where the logs are known to be the same.
F4. A host without room for records hears its leader all the same: it answers, and fetches again
    from the end of its log when there is room.
F5. A message without records is answered for the lease, and for reads that wait for it, now and
    then (`answer_interval_ms`): one that tells what is committed follows every commit.
"""

from aerobee.errors import RaftBroken
from aerobee.raft.config import RaftConfig
from aerobee.raft.epochs import Epoch
from aerobee.raft.log_state import LogState
from aerobee.raft.messages import Diverging, Fetch, Records, Reset
from aerobee.raft.progress import NEVER


class Follower:
    """One leader, followed in one term."""

    __slots__ = (
        "_config",
        "_echo_ms",
        "_is_rewind_due",
        "_log",
        "_rewound_ms",
        "_told_ms",
        "is_fetch_due",
        "leader",
    )

    def __init__(self, leader: int, log: LogState, config: RaftConfig) -> None:
        self.leader = leader
        self._log = log
        self._config = config
        self._echo_ms = NEVER
        # The stamp that the leader was told last.
        self._told_ms = NEVER
        self._rewound_ms = NEVER
        self._is_rewind_due = True
        self.is_fetch_due = True
        """Whether the leader is to be told something."""

    def on_records(self, records: Records, now_ms: int, *, is_full: bool = False) -> bool:
        """Whether the records are to be appended. The table of epochs changes if they begin one.
        `is_full`: there is no room for any; the leader is told how far the log is."""
        log = self._log
        self._echo_ms = max(self._echo_ms, records.stamp)
        if records.start != log.end or records.previous_term != log.last_term:
            if is_full:
                self.is_fetch_due = True
            else:
                self._ask_again(records, now_ms)
            return False
        has_records = records.end > records.start and not is_full
        if has_records:
            if records.members is not None:
                log.epochs.add(Epoch(records.start, records.epoch_term, records.members))
            elif records.epoch_term != log.last_term:
                raise RaftBroken(f"an epoch of term {records.epoch_term} that begins nowhere")
            log.end = records.end
        elif is_full or records.stamp - self._told_ms >= self._config.answer_interval_ms:
            self.is_fetch_due = True
        log.note_commit(min(records.commit, log.end))
        return has_records

    def _ask_again(self, records: Records, now_ms: int) -> None:
        """The records do not fit: some before them were lost, or they are an old message."""
        is_heartbeat = records.start == records.end
        is_old = not is_heartbeat and records.end <= self._log.end
        pause_ms = self._config.heartbeat_ms // 2
        if not is_old and now_ms - self._rewound_ms >= pause_ms:
            self._is_rewind_due = self.is_fetch_due = True
        # A heartbeat is answered in any case, for the lease; of records that do not fit one report
        # is enough, however many come.
        if is_heartbeat:
            self.is_fetch_due = True

    def find_cut(self, diverging: Diverging) -> int | None:
        """Where the log is to be cut; None: the answer is not about the log as it is now."""
        log = self._log
        if (diverging.end, diverging.last_term) != (log.end, log.last_term):
            return None
        own = log.epochs.end_of(diverging.epoch_term, log.end)
        if own is None:
            raise RaftBroken(
                f"the leader has no record of the term {log.epochs.entries[0].term} before this log"
            )
        self._is_rewind_due = self.is_fetch_due = True
        if own.term != diverging.epoch_term:
            return own.end
        return min(own.end, diverging.epoch_end)

    def find_reset(self, reset: Reset) -> Epoch | None:
        """The first epoch of the new log; None: the answer is not about the log as it is now."""
        log = self._log
        if (reset.end, reset.last_term) != (log.end, log.last_term):
            return None
        self._is_rewind_due = self.is_fetch_due = True
        return Epoch(reset.start, reset.start_term, reset.members)

    def fetch(self, term: int, now_ms: int) -> Fetch:
        """The report that is due."""
        log = self._log
        is_rewind = self._is_rewind_due
        if is_rewind:
            self._rewound_ms = now_ms
        self._is_rewind_due = self.is_fetch_due = False
        self._told_ms = self._echo_ms
        return Fetch(term, log.end, log.last_term, log.synced, self._echo_ms, is_rewind)
