"""Host: a simulated machine that runs the real core on a simulated disk.

It does the work of each `Ready` in its order. Saving and syncing take time; a crash may come at any
point of it. While a state is being saved nothing else is given to the core.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

from aerobee.ports.entropy import Entropy
from aerobee.raft.config import RaftConfig
from aerobee.raft.messages import Fetch, Message, Records
from aerobee.raft.node import LogBounds, Node
from aerobee.raft.ready import Control, Ready
from aerobee.raft.saved_state import SavedState
from tests.raft_sim.disk_log import NO_RECORDS, TERM_UNIT, Chunk, DiskLog
from tests.raft_sim.judge import Judge

RECORD_BYTES_MAX = 60


class Surroundings(Protocol):
    """Everything around the hosts: time, network, duration of disk work."""

    judge: Judge
    now: float

    def send(self, sender: int, to: int, message: Message, chunk: Chunk) -> None: ...

    def begin_save(self, host: "Host", done: Callable[[], None]) -> None:
        """Call `done` now or later, unless the host stops before."""

    def begin_sync(self, host: "Host") -> None:
        """Call `host.sync_done` later, unless the host stops before."""

    def arm(self, host: "Host") -> None:
        """Call `host.tick` when the core's deadline is over."""

    def record_size(self) -> int: ...

    def has_room(self, host: "Host") -> bool:
        """Whether its disk has room for a record of the leader's own."""

    def acknowledged(self, host: "Host") -> None:
        """A client was answered."""


class Pending:
    """Records of a client, and the end that must be committed before it is answered."""

    __slots__ = ("end", "term", "values")

    def __init__(self, end: int, term: int, values: list[int]) -> None:
        self.end = end
        self.term = term
        self.values = values


class Host:
    def __init__(
        self, number: int, saved: SavedState, config: RaftConfig, around: Surroundings
    ) -> None:
        self.number = number
        self.config = config
        self.log = DiskLog()
        self.saved = saved
        self.around = around
        self.judge = around.judge
        self.clock_rate = 1.0
        self.clock_offset = 0.0
        self.entropy: Entropy | None = None
        self.core: Node
        self.is_up = False
        self.is_paused = False
        self.life = 0
        self.timer = float("inf")
        self.is_syncing = False
        # The state that is being saved; while there is one, everything else waits.
        self.saving: SavedState | None = None
        self.inbox: deque[tuple[int, Message, Chunk]] = deque()
        self.pending: deque[Pending] = deque()
        self.questions: deque[tuple[int, int, int]] = deque()
        self._led_term = -1
        self._count = 0
        self._commit_seen = 0

    # Life.

    def now_ms(self) -> int:
        return int(self.clock_offset + self.around.now * self.clock_rate)

    def start(self) -> None:
        assert self.entropy is not None
        log = self.log
        self.is_up = True
        self.is_paused = self.is_syncing = False
        self.timer = float("inf")
        bounds = LogBounds(log.start, log.end, log.synced, log.start)
        self._commit_seen = log.start
        self._led_term = -1
        self.core = Node(
            self.number,
            self.saved,
            bounds,
            self.config,
            self.entropy,
            log.boundary,
            self.now_ms(),
        )
        self.judge.check_epochs(self)
        self._work(NO_RECORDS)

    def stop(self, *, is_saved: bool) -> None:
        """End at once. A state that was being saved is on the disk, or not."""
        if self.saving is not None and is_saved:
            self.saved = self.saving
            self.judge.on_saved(self)
        self.saving = None
        self.is_up = False
        self.life += 1
        self.inbox.clear()
        self.pending.clear()
        self.questions.clear()

    def pause(self) -> None:
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False
        self.read()  # a request that has waited is the first that it looks at
        if self.saving is None:
            self.after_save()
        self.tick()

    @property
    def is_listening(self) -> bool:
        return self.is_up and not self.is_paused and self.saving is None

    # Events.

    def deliver(self, sender: int, message: Message, chunk: Chunk) -> None:
        if not self.is_up:
            return
        if self.is_paused or self.saving is not None:
            self.inbox.append((sender, message, chunk))
            return
        self.core.step(sender, message, self.now_ms())
        if isinstance(message, Fetch):
            self.judge.on_fetch(self, sender)
        self._work(chunk)

    def _take_inbox(self) -> None:
        while self.inbox and self.is_listening:
            self.deliver(*self.inbox.popleft())

    def tick(self) -> None:
        if self.is_listening:
            self.core.tick(self.now_ms())
            self._work(NO_RECORDS)

    def note_end(self, node: int) -> None:
        """The process of another node has ended."""
        self.core.leader_ended(node, self.now_ms())
        self._work(NO_RECORDS)

    def sync_done(self, offset: int, log_life: int) -> None:
        self.is_syncing = False
        if log_life != self.log.life:
            self._begin_sync()
            return
        self.log.synced = max(self.log.synced, offset)
        # The core hears of it as soon as it listens.
        if self.is_listening:
            self.core.synced(self.log.synced)
            self._work(NO_RECORDS)

    # Clients and operators.

    def submit(self, count: int) -> bool:
        """Append so many records of a client; whether this node leads."""
        if not self.is_listening or not self.core.may_append:
            return False
        values = []
        for _ in range(count):
            values.append(self._append(self.around.record_size()))
        self.core.appended(self.log.end)
        self.pending.append(Pending(self.log.end, self.core.term, values))
        self._work(NO_RECORDS)
        return True

    def _append(self, size: int) -> int:
        self._count += 1
        value = self.core.term * TERM_UNIT + self._count
        self.log.append(value, size)
        return value

    def read(self) -> bool:
        """A read by lease; whether it was answered."""
        if not self.is_listening:
            return False
        offset = self.core.read_offset(self.now_ms())
        if offset is None:
            return False
        self.judge.on_read(self, offset, self.judge.acked_end)
        return True

    def ask(self) -> None:
        """A read that waits until a majority has confirmed the leader."""
        if self.is_listening and self.core.leading is not None:
            self.questions.append((self.core.term, self.now_ms(), self.judge.acked_end))
            self.core.leading.confirm_soon(self.now_ms())
            self.around.arm(self)

    def command(self, order: Callable[[Node], str]) -> str:
        """Let an operator ask something of the core; the reason of a refusal."""
        if not self.is_listening:
            return "not listening"
        refusal = order(self.core)
        self._work(NO_RECORDS)
        return refusal

    # The work of a Ready.

    def _work(self, chunk: Chunk) -> None:
        ready = self.core.ready()
        while ready is not None:
            if ready.cut is not None:
                self.judge.on_cut(self, ready.cut)
                self.log.cut(ready.cut)
            if ready.reset is not None:
                self.judge.on_cut(self, ready.reset)
                self.log.reset(ready.reset, self.judge.committed_to(ready.reset))
            if ready.save is not None:
                self.saving = ready.save
                self.around.begin_save(self, partial(self._save_done, ready, chunk))
                if self.saving is not None:
                    return
            else:
                self._finish(ready, chunk)
            ready = self.core.ready()
        self._settle()

    def _save_done(self, ready: Ready, chunk: Chunk) -> None:
        assert ready.save is not None
        self.saving = None
        self.saved = ready.save
        self.judge.on_saved(self)
        self._finish(ready, chunk)

    def after_save(self) -> None:
        """Go on with what waited for a save that took time, or for the end of a pause."""
        self.core.synced(self.log.synced)
        self._work(NO_RECORDS)
        self._take_inbox()

    def _finish(self, ready: Ready, chunk: Chunk) -> None:
        core, judge = self.core, self.judge
        if ready.cut is not None or ready.reset is not None:
            judge.check_epochs(self)
        if ready.has_records:
            self.log.extend(chunk)
            judge.on_append(self)
        if core.leading is not None and self._led_term != core.term:
            self._led_term = core.term
            judge.on_leader(self, core.term)
        if ready.control is not None:
            assert ready.control.start == self.log.end
            self._append_control(ready.control)
        for to, message in ready.sends:
            judge.on_send(self, to, message)
            records = NO_RECORDS
            if isinstance(message, Records) and message.end > message.start:
                records = self.log.chunk(message.start, message.end)
                judge.check_window(self, to, RECORD_BYTES_MAX)
            self.around.send(self.number, to, message, records)
        if ready.commit > self._commit_seen:
            self._commit_seen = ready.commit
            judge.on_commit(self, ready.commit)

    def _append_control(self, control: Control) -> None:
        if not self.around.has_room(self):
            self.core.resign()
            return
        self.judge.on_control(self, control)
        self._append(10)
        self.core.appended(self.log.end)
        self.judge.on_append(self)

    def _settle(self) -> None:
        """Answer clients, sync what was written, wait for the next deadline."""
        core = self.core
        pending, questions = self.pending, self.questions
        if pending:
            is_leading = core.leading is not None
            while pending and (not is_leading or pending[0].term != core.term):
                pending.popleft()  # nobody knows what became of it
            while pending and pending[0].end <= core.log.commit:
                done = pending.popleft()
                for value in done.values:
                    self.judge.on_ack(value, done.end)
                self.around.acknowledged(self)
        while questions and questions[0][0] != core.term:
            questions.popleft()
        while questions and core.is_confirmed_since(questions[0][1]):
            _, _, acked_end = questions.popleft()
            self.judge.on_read(self, core.log.commit, acked_end)
        self._begin_sync()
        self.around.arm(self)

    def _begin_sync(self) -> None:
        if not self.is_syncing and self.log.synced < self.log.end:
            self.is_syncing = True
            self.around.begin_sync(self)
