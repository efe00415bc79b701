"""RaftMember runs a Raft node on the store of one life of a broker.

    messages, time, appends, syncs ──▶ node ──▶ save ─▶ append ─▶ send ─▶ commit
                                         └────▶ another life: as leader, as follower, with less log

M1. Work is done in the order of `raft.ready`. While a state is being saved, messages wait, and time
    stands still for the node.
M2. The end of the log is told to the node before anything else is: what was appended while it led
    belongs to its term, and nothing is appended after.
M3. A follower whose disk has no room takes no records, and says so (`shortage`); it goes on when
    there is room. Whether there is is asked before the node counts them.
M4. Nor does a member without room for the record of a term stand for election. One that is elected
    all the same, or cannot write down a change of members, gives up its term.
M5. Once another life is wanted nothing more is given to the node: messages are lost, which every
    message may be.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from aerobee.errors import DiskFull, NothingTaken
from aerobee.ports.clock import Now
from aerobee.raft.messages import Message, Records, TimeoutNow
from aerobee.raft.node import Node, Role
from aerobee.raft.ready import Control, Ready
from aerobee.raft.saved_state import SavedState
from aerobee.replication.raft_log import RaftLog
from aerobee.replication.raft_seat import RaftSeat

INBOX_MAX = 256

_log = logging.getLogger(__name__)

Deliver = Callable[[int, Message], None]
"""Sends a message to a node; of Records, the bytes of the log go with it."""
SaveState = Callable[[SavedState], None]
"""Begins to save a state; `RaftMember.state_saved` is called when it is on the disk."""


class NextLife(NamedTuple):
    """The life that the node needs next."""

    reason: str
    leads: bool
    cut_at: int | None = None
    is_emptied: bool = False
    """The store begins anew, without a record."""


class _Arrived(NamedTuple):
    sender: int
    message: Message
    body: bytes


class RaftMember:
    def __init__(
        self,
        seat: RaftSeat,
        log: RaftLog,
        leads: bool,
        save: SaveState,
        deliver: Deliver,
    ) -> None:
        """`leads`: whether this life is that of the leader."""
        self._seat = seat
        self._log = log
        self._leads = leads
        self._save = save
        self._deliver = deliver
        self._saving: Ready | None = None
        self._is_saved = False
        self._arrived: _Arrived | None = None
        self._inbox: deque[_Arrived] = deque(maxlen=INBOX_MAX)
        self.next_life: NextLife | None = None
        self.shortage: NothingTaken | None = None
        """Why a follower copies nothing; None: it does."""
        self._held_end = 0

    @property
    def node(self) -> Node:
        return self._seat.node

    @property
    def takes_records(self) -> bool:
        """Whether records of clients may be appended now. None may be while the record that begins
        an epoch waits for its state to be saved: it has its place already."""
        is_placed = self._saving is not None and self._saving.control is not None
        is_free = self.next_life is None and not is_placed
        return self._leads and is_free and self.node.may_append

    # Events.

    def begin(self, now: Now) -> None:
        """Do the work that the last life has left."""
        owed, self._seat.owed = self._seat.owed, None
        if self._leads:
            self.node.resume(now.monotonic_ms)
        if owed is not None:
            self._do(owed._replace(cut=None, reset=None), now)
        self._work(now)

    def step(self, sender: int, message: Message, body: bytes, now: Now) -> None:
        """Take a message; `body` has the records of Records."""
        arrived = _Arrived(sender, message, body)
        if self._saving is not None:
            self._inbox.append(arrived)
        elif self.next_life is None:
            self._take(arrived, now)

    def pump(self, now: Now) -> None:
        """Something was appended or synced, or time has passed: go on."""
        if self._is_saved:
            self._is_saved = False
            ready, self._saving = self._saving, None
            assert ready is not None
            self._finish(ready, now)
            self._work(now)
            while self._inbox and self._saving is None and self.next_life is None:
                self._take(self._inbox.popleft(), now)
        if self._saving is not None or self.next_life is not None:
            return
        self._note_log()
        if self.shortage is not None:
            self._hold(self._log.find_shortage(self._held_end))
        if now.monotonic_ms >= self.node.deadline_ms:
            self._bar()
            self.node.tick(now.monotonic_ms)
        self._work(now)

    def state_saved(self) -> None:
        """The state is on the disk; `pump` goes on with it."""
        self._is_saved = True

    def leader_ended(self, leader: int, now: Now) -> None:
        """The process of this leader has ended."""
        if self._saving is None and self.next_life is None:
            self.node.leader_ended(leader, now.monotonic_ms)
            self._work(now)

    def order(self, command: Callable[[Node], str], now: Now) -> str:
        """Give the node a command of a person; the reason of a refusal."""
        if self._saving is not None or self.next_life is not None:
            return "this member is busy with an election or a change of members: try again"
        self._note_log()
        refusal = command(self.node)
        self._work(now)
        return refusal

    def rest_ms(self, now: Now) -> int:
        """The time for which the node needs nothing."""
        if self._is_saved:
            return -1
        if self._saving is not None or self.next_life is not None:
            return 1_000
        return max(0, self.node.deadline_ms - now.monotonic_ms)

    # Work.

    def _note_log(self) -> None:
        """Tell the node of the log what it does not know yet."""
        node, log = self.node, self._log
        if self._leads and node.role is Role.LEADER and log.end > node.log.end:
            node.appended(log.end)
        if log.synced > node.log.synced:
            node.synced(log.synced)
        if log.start > node.log.start:
            node.log_starts_at(log.start)

    def _take(self, arrived: _Arrived, now: Now) -> None:
        self._note_log()
        message = arrived.message
        if isinstance(message, Records) and message.end > message.start and not self._leads:
            self._held_end = message.end
            self._hold(self._log.find_shortage(message.end))
        elif isinstance(message, TimeoutNow):
            self._bar()
        self._arrived = arrived
        self.node.step(arrived.sender, arrived.message, now.monotonic_ms)
        self._work(now)

    def _hold(self, shortage: NothingTaken | None) -> None:
        """Take no records for this reason; None: take them."""
        if shortage is not None and self.shortage is None:
            _log.error("this member copies nothing for now: %s", shortage)
        elif shortage is None and self.shortage is not None:
            _log.warning("there is room again: this member goes on copying")
        self.shortage = shortage
        self.node.is_full = shortage is not None

    def _bar(self) -> None:
        """An election is near: this member stands only if it could begin its term."""
        if self._leads:
            return
        is_barred = not self._log.has_place_for_control(self.node.members)
        if is_barred and not self.node.is_barred:
            _log.error("this member stands for no election: there is no room to begin a term")
        self.node.is_barred = is_barred

    def _work(self, now: Now) -> None:
        while self._saving is None and self.next_life is None:
            ready = self.node.ready()
            if ready is None:
                break
            self._do(ready, now)
        self._look_at_role()

    def _do(self, ready: Ready, now: Now) -> None:
        cut = ready.cut if ready.reset is None else ready.reset
        if cut is not None and (ready.reset is not None or cut < self._log.end):
            self._seat.owed = ready
            is_emptied = ready.reset is not None or cut <= self._log.start
            reason = f"the leader's log parts from this one at {cut}"
            at = None if is_emptied else cut
            self.next_life = NextLife(reason, leads=False, cut_at=at, is_emptied=is_emptied)
        elif ready.save is not None:
            self._saving = ready
            self._save(ready.save)
        else:
            self._finish(ready, now)

    def _finish(self, ready: Ready, now: Now) -> None:
        log = self._log
        if ready.has_records:
            arrived = self._arrived
            assert arrived is not None
            assert isinstance(arrived.message, Records)
            log.append_records(arrived.message, memoryview(arrived.body))
        self._arrived = None
        if ready.control is not None:
            if not self._leads:
                self._seat.owed = ready._replace(save=None, has_records=False)
                self.next_life = NextLife(f"it leads in term {ready.control.term}", leads=True)
                return
            self._append_control(ready.control, now)
        for to, message in ready.sends:
            self._deliver(to, message)
        log.note_commit(ready.commit)

    def _append_control(self, control: Control, now: Now) -> None:
        try:
            self.node.appended(self._log.append_control(control, now.wall_ms))
        except DiskFull as error:
            _log.error("this member gives up term %d: %s", control.term, error)
            self.node.resign()

    def _look_at_role(self) -> None:
        """A leader that leads no more becomes a follower, when its term is saved."""
        is_free = self._saving is None and self.next_life is None
        if is_free and self._leads and self.node.role is not Role.LEADER:
            self.next_life = NextLife("it does not lead any more", leads=False)
