"""Node: one member of a Raft group, as a state machine without I/O, clock or thread.

    messages, time, appended, synced ──▶ Node ──▶ Ready: cut, save, append, send, commit

    follower ──timeout──▶ asking (PreVote) ──majority──▶ candidate (Vote) ──majority──▶ leader
       ▲ ◀────────── a leader, or a higher term ─────────────┴──────────────────────────────┘

The caller gives it a message or the time, takes `ready` after every call and does that work in its
order (`raft.ready`). `now_ms` is a clock that never goes back and goes on while the machine sleeps,
read after the message was received; a lease rests on it.

N1. A term and a vote are saved before anything that follows from them is sent.
N2. One vote a term, for a log that has everything this one may have committed.
N3. No vote while a leader was heard within an election timeout, nor for that long after a start:
    a leader's lease counts on it. But for an election that the leader has asked for, and if the
    process of that leader has ended.
N4. A learner never stands for election; nor does a node that was removed, once that is committed.
    It may vote, because its log may not have the record that makes it a voter.
N5. A node whose host has no room for the record that begins a term does not stand either, and gives
    up a term that it cannot begin, or members that it cannot write down: nothing of them was sent.
"""

from enum import Enum
from typing import NamedTuple

from aerobee.errors import Misuse, RaftBroken
from aerobee.ports.entropy import Entropy
from aerobee.raft.config import RaftConfig
from aerobee.raft.election import Candidacy
from aerobee.raft.epochs import Epoch
from aerobee.raft.follower import Follower
from aerobee.raft.leader import Boundary, Leader
from aerobee.raft.log_state import LogState
from aerobee.raft.membership import Change, Members
from aerobee.raft.messages import (
    Diverging,
    Fetch,
    Message,
    PreVote,
    PreVoteAnswer,
    Records,
    Reset,
    TimeoutNow,
    Vote,
    VoteAnswer,
)
from aerobee.raft.progress import NEVER
from aerobee.raft.ready import Control, Ready, Send
from aerobee.raft.saved_state import SavedState
from aerobee.raft.transfer import Transfer

NO_DEADLINE = 1 << 62


class Role(Enum):
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


class LogBounds(NamedTuple):
    """The log of a node at its start."""

    start: int
    end: int
    synced: int
    commit: int
    """As much as is known to be committed; `start` if nobody has noted more."""


class Node:
    def __init__(
        self,
        node: int,
        saved: SavedState,
        bounds: LogBounds,
        config: RaftConfig,
        entropy: Entropy,
        boundary: Boundary,
        now_ms: int,
    ) -> None:
        self.node = node
        self.term = saved.term
        self._vote = saved.vote
        self._config = config
        self._entropy = entropy
        self._boundary = boundary
        self._now_ms = now_ms
        self.log = LogState(*bounds, saved.epochs)
        # What lies behind the end was saved for records that a crash has taken. It must be gone
        # from the disk before others take their place.
        self._is_save_due = self.log.epochs.cut(self.log.end)
        self._following: Follower | None = None
        self._candidacy: Candidacy | None = None
        self._leading: Leader | None = None
        # It may have promised its vote to a leader just before it stopped (N3).
        self._heard_ms = now_ms if saved.term > 0 else NEVER
        self._deadline_ms = 0
        self._sends: list[Send] = []
        self._cut: int | None = None
        self._reset: int | None = None
        self._has_records = False
        self.is_full = False
        """Set by the host: it has no room for records. A follower appends none and goes on
        following; a leader is not concerned."""
        self.is_barred = False
        """Set by the host: it has no room for the record that begins a term (N5)."""
        self._control: Control | None = None
        self._commit_told = self.log.commit
        self._arm()

    # Facts.

    @property
    def role(self) -> Role:
        if self._leading is not None:
            return Role.LEADER
        return Role.FOLLOWER if self._candidacy is None else Role.CANDIDATE

    @property
    def leader(self) -> int | None:
        """The leader of the term, as far as this node knows."""
        if self._leading is not None:
            return self.node
        return self._following.leader if self._following is not None else None

    @property
    def leading(self) -> Leader | None:
        """The part that leads, if this node does; to look at, and to have it confirmed soon."""
        return self._leading

    @property
    def members(self) -> Members:
        return self.log.epochs.members

    @property
    def election_timeout_ms(self) -> int:
        return self._config.election_timeout_ms

    @property
    def may_append(self) -> bool:
        """Whether records may be appended here, to be called with their end afterwards."""
        return self._leading is not None and self._leading.transfer is None

    @property
    def deadline_ms(self) -> int:
        """When `tick` is to be called if nothing else happens."""
        return self._leading.deadline_ms() if self._leading is not None else self._deadline_ms

    def read_offset(self, now_ms: int) -> int | None:
        """Everything that any leader had committed by now is below; None: this node cannot know,
        because it does not lead or its lease is over. Read the clock just before."""
        if self._leading is None:
            return None
        return self._leading.read_offset(max(now_ms, self._now_ms))

    def is_confirmed_since(self, asked_ms: int) -> bool:
        """Whether this node still led after this time: then what it has committed now answers a
        read that was asked for at this time. It works without a lease."""
        leading = self._leading
        return leading is not None and leading.is_confirmed_since(asked_ms, self._now_ms)

    # Commands of the host.

    def appended(self, end: int) -> None:
        """The leader's log ends here now: at the end of a record."""
        if self._leading is None or end < self.log.end:
            raise Misuse(f"appended up to {end} by a {self.role.value}")
        self.log.end = end

    def synced(self, offset: int) -> None:
        """The log is on the disk up to here. A sync that began before a cut or a reset must not be
        reported after it."""
        if not self.log.note_synced(offset):
            return
        if self._leading is not None:
            self._leading.count_copies()
            self._leave_if_removed()
        elif self._following is not None:
            self._following.is_fetch_due = True

    def log_starts_at(self, offset: int) -> None:
        """Retention has removed the log below: committed, and on this disk, so that a power cut
        cannot leave a log that ends before it begins."""
        lasting = min(self.log.commit, self.log.synced)
        if offset > lasting:
            raise RaftBroken(f"a log that begins at {offset}, lasting up to {lasting}")
        self.log.start = max(offset, self.log.start)
        self._is_save_due |= self.log.epochs.forget_before(self.log.start)

    def transfer(self, target: int, now_ms: int) -> str:
        """Hand leadership to this voter; the reason why that cannot be done, or nothing."""
        self._note_time(now_ms)
        leading = self._leading
        if leading is None:
            return "this node does not lead"
        if target == self.node or target not in self.members.voters:
            return f"node {target} is no other voter"
        if leading.transfer is not None:
            return f"leadership is being handed to node {leading.transfer.target}"
        leading.transfer = Transfer(target, self._now_ms + self._config.election_timeout_ms)
        return ""

    def change_members(self, change: Change) -> str:
        """Change the members of the group; the reason why that cannot be done now, or nothing."""
        leading = self._leading
        if leading is None or leading.transfer is not None:
            return "this node does not lead, or is handing over"
        members = leading.next_members(change)
        if isinstance(members, str):
            return members
        self._begin_epoch(members)
        leading.follow_members()
        return ""

    def resume(self, now_ms: int) -> None:
        """The host was busy since the election, and could neither send nor hear: a leader has the
        time of an election timeout from now on before it is lost."""
        self._note_time(now_ms)
        if self._leading is not None:
            self._leading.lease.begin(self._now_ms)

    def resign(self) -> None:
        """The record of the last `Control` found no room: this node does not lead (N5)."""
        if self._leading is None or not self.log.epochs.cut(self.log.end):
            raise Misuse(f"a {self.role.value} without a record to append gives up its term")
        self._is_save_due = True
        self._step_down()

    def leader_ended(self, leader: int, now_ms: int) -> None:
        """The process that led as this node has ended, and its lease with it: nothing is promised
        to it any more. The other voters know it, too, or will in a moment; they stand one after
        another, so that no two split the votes."""
        self._note_time(now_ms)
        if self._following is None or self._following.leader != leader:
            return
        self._following = None
        self._heard_ms = NEVER
        if self._may_stand():
            before = sum(one < self.node for one in self.members.voters - {leader})
            wait_ms = self._config.heartbeat_ms // 10 + before * self._config.heartbeat_ms
            self._deadline_ms = min(self._deadline_ms, self._now_ms + wait_ms)

    # Time.

    def tick(self, now_ms: int) -> None:
        self._note_time(now_ms)
        leading = self._leading
        if leading is not None:
            leading.on_tick(self._now_ms)
            if leading.is_lost(self._now_ms):
                self._step_down()
        elif self._now_ms >= self._deadline_ms:
            self._ask_for_election()

    def _note_time(self, now_ms: int) -> None:
        self._now_ms = max(self._now_ms, now_ms)

    def _arm(self) -> None:
        """Wait for a leader, and if none is heard, ask for an election."""
        if not self._may_stand():
            self._deadline_ms = NO_DEADLINE
            return
        timeout_ms = self._config.election_timeout_ms
        self._deadline_ms = self._now_ms + timeout_ms + self._entropy.below(timeout_ms)

    def _may_stand(self) -> bool:
        """Whether this node may be needed as a leader: it is a voter, or it was one before changes
        that may not be committed. Its log may be the only one that has them, and then nobody else
        can be elected; it leads until they are committed, counts the others, and leaves."""
        return self.log.epochs.has_voted_since(self.node, self.log.commit)

    def _hears_leader(self) -> bool:
        """Whether a leader counts on this node's vote being given to nobody else."""
        if self._leading is not None:
            return True
        return self._now_ms - self._heard_ms < self._config.election_timeout_ms

    # Messages.

    def step(self, sender: int, message: Message, now_ms: int) -> None:
        """Take a message of another node."""
        self._note_time(now_ms)
        if isinstance(message, PreVote):
            self._on_pre_vote(sender, message)
            return
        if isinstance(message, PreVoteAnswer) and message.is_granted:
            self._on_pre_vote_granted(sender, message)
            return
        if isinstance(message, Vote) and not message.is_transfer and self._hears_leader():
            self._send(sender, VoteAnswer(self.term, False))
            return
        if message.term > self.term:
            self._enter_term(message.term)
        elif message.term < self.term:
            self._answer_stale(sender, message)
            return
        if isinstance(message, Records | Diverging | Reset):
            self._on_leader(sender, message)
        elif isinstance(message, Fetch):
            self._on_fetch(sender, message)
        elif isinstance(message, Vote):
            self._on_vote(sender, message)
        elif isinstance(message, VoteAnswer):
            self._on_vote_answer(sender, message)
        elif isinstance(message, TimeoutNow):
            self._on_timeout_now(sender)

    def _answer_stale(self, sender: int, message: Message) -> None:
        """Tell a node of an earlier term that there is a later one; else it would never know."""
        if isinstance(message, Vote):
            self._send(sender, VoteAnswer(self.term, False))
        elif isinstance(message, Records):
            log = self.log
            self._send(sender, Fetch(self.term, log.end, log.last_term, log.synced, NEVER, False))

    def _on_pre_vote(self, sender: int, message: PreVote) -> None:
        is_granted = (
            message.term > self.term
            and not self._hears_leader()
            and self.log.is_covered_by(message.end, message.last_term)
        )
        term = message.term if is_granted else self.term
        self._send(sender, PreVoteAnswer(term, is_granted))

    def _on_pre_vote_granted(self, sender: int, message: PreVoteAnswer) -> None:
        candidacy = self._candidacy
        if candidacy is None or not candidacy.is_asking or message.term != self.term + 1:
            return
        candidacy.count(sender)
        if candidacy.is_won(self.members):
            self._stand_for_election(is_transfer=False)

    def _on_vote(self, sender: int, message: Vote) -> None:
        is_granted = self._vote in (None, sender) and self.log.is_covered_by(
            message.end, message.last_term
        )
        if is_granted and self._vote is None:
            self._vote = sender
            self._is_save_due = True
            self._arm()
        self._send(sender, VoteAnswer(self.term, is_granted))

    def _on_vote_answer(self, sender: int, message: VoteAnswer) -> None:
        candidacy = self._candidacy
        if candidacy is None or candidacy.is_asking or not message.is_granted:
            return
        candidacy.count(sender)
        if candidacy.is_won(self.members):
            self._begin_term()

    def _on_timeout_now(self, sender: int) -> None:
        following = self._following
        if following is None or following.leader != sender:
            return
        if self._may_stand() and not self.is_barred:
            self._stand_for_election(is_transfer=True)

    def _on_fetch(self, sender: int, fetch: Fetch) -> None:
        if self._leading is None:
            return
        self._leading.on_fetch(sender, fetch, self._now_ms, self._sends)
        self._leave_if_removed()

    def _on_leader(self, sender: int, message: Records | Diverging | Reset) -> None:
        following = self._follow(sender)
        self._heard_ms = self._now_ms
        if isinstance(message, Records):
            count = len(self.log.epochs.entries)
            is_full = self.is_full
            self._has_records = following.on_records(message, self._now_ms, is_full=is_full)
            self._is_save_due |= len(self.log.epochs.entries) != count
        elif isinstance(message, Diverging):
            cut = following.find_cut(message)
            if cut is not None:
                self.log.cut(cut)
                self._cut = cut
                self._is_save_due = True
        else:
            first = following.find_reset(message)
            if first is not None:
                self.log.reset(first)
                self._reset = first.start
                self._is_save_due = True
        self._arm()

    # Changes of role.

    def _enter_term(self, term: int) -> None:
        """There is a later term: follow it, whoever leads it."""
        self.term = term
        self._vote = None
        self._is_save_due = True
        self._step_down()

    def _step_down(self) -> None:
        if self._leading is not None or self._candidacy is not None:
            self._arm()
        self._leading = self._candidacy = self._following = None

    def _follow(self, leader: int) -> Follower:
        if self._leading is not None:
            raise RaftBroken(f"nodes {self.node} and {leader} lead in term {self.term}")
        if self._following is None:
            self._candidacy = None
            self._following = Follower(leader, self.log, self._config)
        elif self._following.leader != leader:
            raise RaftBroken(
                f"nodes {self._following.leader} and {leader} lead in term {self.term}"
            )
        return self._following

    def _ask_for_election(self) -> None:
        self._arm()
        self._following = self._candidacy = None
        if self.is_barred:
            return
        self._candidacy = Candidacy(self.node, is_asking=True)
        if self._candidacy.is_won(self.members):
            self._stand_for_election(is_transfer=False)
            return
        log = self.log
        self._send_to_voters(PreVote(self.term + 1, log.end, log.last_term))

    def _stand_for_election(self, *, is_transfer: bool) -> None:
        self._following = None
        self.term += 1
        self._vote = self.node
        self._is_save_due = True
        self._arm()
        self._candidacy = Candidacy(self.node, is_asking=False)
        if self._candidacy.is_won(self.members):
            self._begin_term()
            return
        log = self.log
        self._send_to_voters(Vote(self.term, log.end, log.last_term, is_transfer))

    def _begin_term(self) -> None:
        """Lead, and begin with a record of the new term: only behind it is anything committed."""
        self._candidacy = None
        self._leading = Leader(
            self.node, self.term, self.log, self._config, self._boundary, self._now_ms
        )
        self._begin_epoch(self.members)

    def _begin_epoch(self, members: Members) -> None:
        epoch = Epoch(self.log.end, self.term, members)
        self.log.epochs.add(epoch)
        self._control = Control(*epoch)
        self._is_save_due = True

    def _leave_if_removed(self) -> None:
        if self._leading is not None and self._leading.is_removed():
            self._step_down()

    # Work for the host.

    def _send(self, to: int, message: Message) -> None:
        self._sends.append(Send(to, message))

    def _send_to_voters(self, message: Message) -> None:
        for voter in sorted(self.members.voters - {self.node}):
            self._send(voter, message)

    def ready(self) -> Ready | None:
        """The work that has come up since the last call; None: there is none."""
        control = self._control
        if self._leading is not None and control is None:
            self._leading.pump(self._now_ms, self._sends)
        elif self._following is not None and self._following.is_fetch_due:
            fetch = self._following.fetch(self.term, self._now_ms)
            self._send(self._following.leader, fetch)
        commit = self.log.commit
        if not (
            self._sends
            or self._is_save_due
            or self._has_records
            or control is not None
            or self._cut is not None
            or commit != self._commit_told
        ):
            return None
        save = None
        if self._is_save_due:
            save = SavedState(self.term, self._vote, self.log.epochs.saved())
        ready = Ready(self._cut, self._reset, save, self._has_records, control, self._sends, commit)
        self._cut = self._reset = self._control = None
        self._is_save_due = self._has_records = False
        self._sends = []
        self._commit_told = commit
        return ready
