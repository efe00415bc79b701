"""Leader: the part of a node that leads: it sends its log to the members, counts what is on their
disks, and decides what is committed.

A follower fetches: it says how its log ends, and the leader compares that with its own epochs. If
the logs agree, records follow without further asking, a window ahead; if not, the follower is told
where they may part, and fetches again.

Ld1. Committed is what is on the disks of a majority of voters, once that reaches into the leader's
     own term: records of earlier terms are committed by those behind them, never by their count.
Ld2. Only a fetch whose log is a prefix of the leader's counts, and of that only the synced part.
Ld3. One change of members at a time: the next is made when the last is committed, and none before
     the first record of the term is.
"""

from collections.abc import Callable

from aerobee.errors import RaftBroken
from aerobee.raft.config import RaftConfig
from aerobee.raft.lease import Lease
from aerobee.raft.log_state import LogState
from aerobee.raft.membership import Change, Members, Promote, changed
from aerobee.raft.messages import Diverging, Fetch, Records, Reset, TimeoutNow
from aerobee.raft.progress import NEVER, Progress
from aerobee.raft.quorum import reached_by
from aerobee.raft.ready import Send
from aerobee.raft.transfer import Transfer

Boundary = Callable[[int, int], int]
"""(start, limit) → the last end of a record up to the limit; if the first record is larger, its
end."""


class Leader:
    """One term of one leader. The first record of the term is at `term_start`."""

    def __init__(
        self,
        node: int,
        term: int,
        log: LogState,
        config: RaftConfig,
        boundary: Boundary,
        now_ms: int,
    ) -> None:
        self._node = node
        self._term = term
        self._log = log
        self._config = config
        self._boundary = boundary
        self._heartbeat_due_ms = now_ms
        self._heartbeat_ms = NEVER
        self._term_start = log.end
        self.lease = Lease(config, now_ms)
        self.transfer: Transfer | None = None
        self.progress: dict[int, Progress] = {}
        self.follow_members()

    # Members.

    def follow_members(self) -> None:
        """The members in the log have changed."""
        members = self._log.epochs.members
        for node in list(self.progress):
            if node not in members.nodes:
                del self.progress[node]
        for node in members.nodes:
            if node != self._node and node not in self.progress:
                self.progress[node] = Progress(self._log.end)

    def next_members(self, change: Change) -> Members | str:
        """The members after a change, or the reason why it cannot be made now."""
        log = self._log
        if log.commit <= log.epochs.last_start:
            # A term begins with a record, too: nothing is changed before that is committed.
            return "the start of the term, or the last change of members, is not committed yet"
        members = changed(log.epochs.members, change)
        if isinstance(change, Promote) and not isinstance(members, str):
            learner = self.progress.get(change.node)
            lag = log.end - learner.synced if learner and learner.is_agreed else log.end
            if lag > self._config.promotion_lag_bytes:
                return f"node {change.node} is {lag} bytes behind"
        return members

    def is_removed(self) -> bool:
        """Whether the group has committed to go on without this leader."""
        log = self._log
        return self._node not in log.epochs.members.voters and log.commit > log.epochs.last_start

    # Fetches.

    def on_fetch(self, sender: int, fetch: Fetch, now_ms: int, sends: list[Send]) -> None:
        progress = self.progress.get(sender)
        if progress is None:
            return  # no member any more
        if progress.echo_ms < fetch.echo <= now_ms:
            progress.echo_ms = fetch.echo
            self._confirm(now_ms)
        log = self._log
        agreed = log.epochs.end_of(fetch.last_term, log.end)
        if agreed is None or fetch.end < log.start:
            progress.disagree()
            first_term = log.epochs.term_before(log.start)
            members = log.epochs.members_before(log.start)
            reset = Reset(self._term, fetch.end, fetch.last_term, log.start, first_term, members)
            sends.append(Send(sender, reset))
        elif agreed.term != fetch.last_term or agreed.end < fetch.end:
            if fetch.last_term == self._term:
                raise RaftBroken(
                    f"node {sender} has {fetch.end} bytes of term {self._term}, and its leader"
                    f" {log.end}",
                    hint="another node has led in the same term, or this log was cut",
                )
            progress.disagree()
            diverging = Diverging(self._term, fetch.end, fetch.last_term, agreed.term, agreed.end)
            sends.append(Send(sender, diverging))
        elif progress.agree(fetch.end, fetch.synced, fetch.is_rewind):
            self.count_copies()

    def count_copies(self) -> None:
        """Commit what is on enough disks."""
        log = self._log
        members = log.epochs.members
        copied = reached_by(map(self._synced_of, members.voters), members.quorum)
        if copied > self._term_start:
            log.note_commit(copied)

    def _synced_of(self, node: int) -> int:
        return self._log.synced if node == self._node else self.progress[node].synced

    def _confirm(self, now_ms: int) -> None:
        members = self._log.epochs.members
        heard = [
            now_ms if node == self._node else self.progress[node].echo_ms for node in members.voters
        ]
        self.lease.confirm(reached_by(heard, members.quorum))

    # Reads.

    def has_committed(self) -> bool:
        """Whether something of its own term is committed: before, it does not know how much of the
        earlier terms is."""
        return self._log.commit > self._term_start

    def is_confirmed_since(self, asked_ms: int, now_ms: int) -> bool:
        """Whether it was still the leader after this time, and knows what is committed."""
        self._confirm_alone(now_ms)
        return self.has_committed() and self.lease.confirmed_ms > asked_ms

    def read_offset(self, now_ms: int) -> int | None:
        """Everything that was committed when this was asked is below; None: nobody knows."""
        self._confirm_alone(now_ms)
        if not self.has_committed() or not self.lease.is_held(now_ms):
            return None
        return self._log.commit

    def _confirm_alone(self, now_ms: int) -> None:
        """The only voter of a group is a majority at all times."""
        if self._log.epochs.members.voters == {self._node}:
            self.lease.confirm(now_ms)

    # Time and sending.

    def is_lost(self, now_ms: int) -> bool:
        """Whether no majority has answered for too long."""
        self._confirm_alone(now_ms)
        return self.lease.is_lost(now_ms)

    def deadline_ms(self) -> int:
        """When something is to be done without a message."""
        deadline_ms = min(self._heartbeat_due_ms, self.lease.lost_ms())
        if self.transfer is not None:
            deadline_ms = min(deadline_ms, self.transfer.deadline_ms)
        return deadline_ms

    def on_tick(self, now_ms: int) -> None:
        if self.transfer is not None and now_ms >= self.transfer.deadline_ms:
            # Its lease is gone: reads wait to be confirmed one by one.
            self.transfer = None
            self._heartbeat_due_ms = now_ms

    def confirm_soon(self, now_ms: int) -> None:
        """A read waits until a majority has confirmed this leader: ask for that, at most so often.
        A stamp of this very millisecond would not be after the read."""
        due_ms = max(now_ms + 1, self._heartbeat_ms + self._config.answer_interval_ms)
        self._heartbeat_due_ms = min(self._heartbeat_due_ms, due_ms)

    def pump(self, now_ms: int, sends: list[Send]) -> None:
        """Send every member what it lacks, and a heartbeat to those that lack nothing."""
        is_due = now_ms >= self._heartbeat_due_ms
        if is_due:
            self._heartbeat_ms = now_ms
            self._heartbeat_due_ms = now_ms + self._config.heartbeat_ms
        transfer = self.transfer
        for node, progress in self.progress.items():
            self._pump_records(node, progress, now_ms, sends)
            has_news = progress.is_agreed and progress.commit_sent < self._log.commit
            if has_news or (is_due and progress.sent_ms < now_ms):
                self._send(node, progress, self._heartbeat(progress, now_ms), sends)
        if transfer is not None and (is_due or not transfer.is_sent):
            target = self.progress.get(transfer.target)
            if target is not None and target.synced >= self._log.end:
                transfer.is_sent = True
                self.lease.give_up()
                sends.append(Send(transfer.target, TimeoutNow(self._term)))

    def _pump_records(self, node: int, progress: Progress, now_ms: int, sends: list[Send]) -> None:
        log, config = self._log, self._config
        while progress.is_agreed and progress.next < log.end:
            start = progress.next
            room = progress.synced + config.window_bytes - start
            if room <= 0 or start < log.start:
                return
            epoch = log.epochs.begun_at(start)
            end = next_start = log.epochs.next_start(start) or log.end
            limit = start + min(room, config.batch_bytes)
            if limit < next_start:
                end = self._boundary(start, limit)
            records = Records(
                self._term,
                start,
                end,
                log.epochs.term_before(start),
                log.epochs.term_before(end),
                epoch.members if epoch is not None else None,
                log.commit,
                now_ms,
            )
            progress.next = end
            self._send(node, progress, records, sends)

    def _heartbeat(self, progress: Progress, now_ms: int) -> Records:
        log = self._log
        # An end that is not known yet makes the follower fetch, which is what is wanted then.
        start = max(progress.next, log.start) if progress.is_agreed else log.end
        term = log.epochs.term_before(start)
        return Records(self._term, start, start, term, term, None, log.commit, now_ms)

    def _send(self, node: int, progress: Progress, records: Records, sends: list[Send]) -> None:
        progress.sent_ms = records.stamp
        progress.commit_sent = records.commit
        sends.append(Send(node, records))
