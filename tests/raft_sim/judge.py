"""Judge: the laws of Raft, checked at every event of a simulated group.

The judge knows everything at once: every log and disk, every record that anybody has committed and
every answer that a client has had. It compares records, not what the core says of them.
"""

from bisect import bisect_left
from typing import TYPE_CHECKING

from aerobee.raft.messages import Message, PreVote, PreVoteAnswer, Vote, VoteAnswer
from aerobee.raft.ready import Control
from tests.raft_sim.disk_log import TERM_UNIT, Chunk

if TYPE_CHECKING:
    from tests.raft_sim.host import Host


class Breach(AssertionError):
    """A law was broken."""


class Judge:
    def __init__(self) -> None:
        self.hosts: dict[int, Host] = {}
        # What is committed: the one log of the group.
        self.values: list[int] = []
        self.ends: list[int] = []
        # For each term: how many records were committed when its leader last committed some.
        self.counts: dict[int, int] = {}
        self.acked: set[int] = set()
        self.acked_end = 0
        self.leaders: dict[int, int] = {}
        self.votes: dict[tuple[int, int], int] = {}
        self.saved_terms: dict[int, tuple[int, int | None]] = {}
        self.reads = 0

    @property
    def end(self) -> int:
        return self.ends[-1] if self.ends else 0

    def committed_to(self, offset: int) -> Chunk:
        count = bisect_left(self.ends, offset) + 1 if offset else 0
        return Chunk(self.ends[:count], self.values[:count])

    # Elections.

    def on_leader(self, host: "Host", term: int) -> None:
        other = self.leaders.setdefault(term, host.number)
        if other != host.number:
            raise Breach(f"election safety: nodes {other} and {host.number} lead in term {term}")
        # Records of a later term are none of its business: its votes may have come late.
        count = max((count for by, count in self.counts.items() if by < term), default=0)
        if host.log.values[:count] != self.values[:count]:
            raise Breach(f"leader completeness: node {host.number} of term {term} lacks records")

    def on_send(self, host: "Host", to: int, message: Message) -> None:
        if isinstance(message, PreVote | PreVoteAnswer):
            return
        saved = host.saved
        if message.term > saved.term:
            raise Breach(f"term not durable: node {host.number} speaks of {message.term}")
        if isinstance(message, Vote):
            self._vote(host, message.term, host.number)
        elif isinstance(message, VoteAnswer) and message.is_granted:
            self._vote(host, message.term, to)

    def _vote(self, host: "Host", term: int, candidate: int) -> None:
        before = self.votes.setdefault((host.number, term), candidate)
        if before != candidate:
            raise Breach(
                f"one vote a term: node {host.number} votes for {before} and {candidate} in {term}"
            )
        if (host.saved.term, host.saved.vote) != (term, candidate):
            raise Breach(f"vote not durable: node {host.number} for {candidate} in {term}")

    def on_saved(self, host: "Host") -> None:
        term, vote = self.saved_terms.get(host.number, (0, None))
        saved = host.saved
        if saved.term < term or (saved.term == term and vote not in (None, saved.vote)):
            raise Breach(f"forward only: node {host.number} saves {saved.term}, {saved.vote}")
        self.saved_terms[host.number] = (saved.term, saved.vote)

    # Logs.

    def on_append(self, host: "Host") -> None:
        """Log matching: the same term at the same offset, the same records up to there."""
        log = host.log
        value, end, count = log.values[-1], log.end, len(log.values)
        term = host.core.log.epochs.term_before(end)
        if term != value // TERM_UNIT:
            raise Breach(f"epochs: node {host.number} believes {value} to be of term {term}")
        for other in self.hosts.values():
            if other is host:
                continue
            index = bisect_left(other.log.ends, end)
            if index == len(other.log.ends) or other.log.ends[index] != end:
                continue
            is_same_term = other.log.values[index] // TERM_UNIT == value // TERM_UNIT
            if is_same_term and other.log.values[: index + 1] != log.values[:count]:
                raise Breach(
                    f"log matching: nodes {host.number} and {other.number} have term"
                    f" {value // TERM_UNIT} at {end} behind different logs"
                )

    def check_epochs(self, host: "Host") -> None:
        """The table of epochs says of every record the term that wrote it."""
        epochs, log = host.core.log.epochs, host.log
        for end, value in zip(log.ends, log.values, strict=True):
            if end > log.start and epochs.term_before(end) != value // TERM_UNIT:
                raise Breach(
                    f"epochs: node {host.number} believes {value} at {end} to be of term"
                    f" {epochs.term_before(end)}"
                )

    def on_cut(self, host: "Host", offset: int) -> None:
        count = host.log.count_to(offset)
        values = host.log.values
        if count < min(len(self.values), len(values)) and values[count] == self.values[count]:
            raise Breach(f"committed cut: node {host.number} cuts {values[count]} at {offset}")

    def on_control(self, host: "Host", control: Control) -> None:
        """Members change one voter at a time, and only from members that are committed."""
        entries = host.core.log.epochs.entries
        before = entries[-2]
        if before.members == control.members:
            return
        if len(before.members.voters ^ control.members.voters) > 1:
            raise Breach(f"one change: {before.members} to {control.members}")
        is_first_of_all = len(entries) == 2
        if not is_first_of_all and host.core.log.commit <= before.start:
            raise Breach(f"one change at a time: {control.members} before {before.members}")
        if before.term != control.term:
            raise Breach(f"a change of members before the term {control.term} has begun")

    # Commits and answers.

    def on_commit(self, host: "Host", commit: int) -> None:
        log = host.log
        if commit > log.end:
            raise Breach(f"node {host.number} has {log.end} bytes and commits {commit}")
        count = log.count_to(commit)
        known = min(count, len(self.values))
        if log.values[:known] != self.values[:known]:
            raise Breach(f"state machine safety: node {host.number} shows another log")
        is_leading = host.core.leading is not None
        if count > known:
            # A leader that was removed steps down with the commit that removes it.
            if self.leaders.get(host.core.term) != host.number:
                raise Breach(f"node {host.number} follows, and knows of commits before anybody")
            self.values += log.values[known:count]
            self.ends += log.ends[known:count]
            self.counts[host.core.term] = count
        if is_leading:
            self._check_copies(host, commit, count)

    def _check_copies(self, host: "Host", commit: int, count: int) -> None:
        """Committed is what is on the disks of a majority."""
        members = host.core.members
        copies = 0
        for voter in members.voters:
            log = self.hosts[voter].log
            is_same = log.values[count - 1 : count] == self.values[count - 1 : count]
            if is_same and log.synced >= commit:
                copies += 1
        if copies < members.quorum:
            raise Breach(
                f"commit: node {host.number} commits {commit} with {copies} copies on disks of"
                f" {members}"
            )

    def on_ack(self, value: int, end: int) -> None:
        if end > self.end:
            raise Breach(f"record {value} acknowledged before it is committed")
        self.acked.add(value)
        self.acked_end = max(self.acked_end, end)

    def on_read(self, host: "Host", offset: int, acked_end: int) -> None:
        self.reads += 1
        if offset < acked_end:
            raise Breach(
                f"stale read: node {host.number} of term {host.core.term} shows {offset}, and"
                f" {acked_end} was acknowledged before"
            )

    def on_fetch(self, host: "Host", sender: int) -> None:
        """A leader never believes more of a follower than is on its disk."""
        leading, other = host.core.leading, self.hosts[sender]
        if leading is None or other.saved.term != host.core.term:
            return
        progress = leading.progress.get(sender)
        if progress is not None and progress.synced > other.log.synced:
            raise Breach(f"node {sender} has synced {other.log.synced}, not {progress.synced}")

    def check_window(self, host: "Host", to: int, record_bytes_max: int) -> None:
        leading = host.core.leading
        if leading is None or to not in leading.progress:
            return
        progress = leading.progress[to]
        window = host.config.window_bytes + record_bytes_max
        if progress.next - progress.synced > window:
            raise Breach(f"{progress.next - progress.synced} bytes under way to node {to}")
