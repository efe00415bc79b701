"""A seeded life of a store on a pretended disk, and everything that it promised on the way.

Messages singly and in batches to several queues, refused ones among them, and some that no queue
shows (of transactions, and inner batches); steps of the clock, short and long; disk jobs one at a
time, in any order of the lanes; one clean stop and start. Files are so small that all kinds of them
roll. After every action and before every disk call the story calls
`visit`: that is where a crash is staged.

What was promised at any moment:

    appended_to   log end after the last append that returned: a killed process loses nothing of it
    durable_to    a power cut loses nothing below: what a ticket or `flushed_offset` said, and in
                  SYNC mode what any reader saw
"""

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from aerobee.app.chaos.log_check import Queue, Sent, SentOutcome
from aerobee.errors import MessageIllegal, StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import SimFaults
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.store_kit import (
    INNER_BATCH,
    PREPARED,
    ROLLED_BACK,
    ROOT,
    SMALL,
    draft,
    properties,
)

QUEUES: tuple[Queue, ...] = ((b"Orders", 0), (b"Orders", 1), (b"Refunds", 0))

_STEPS_MS = (1, 1, 20, 200, 600, 1100, 5000)
_BODY_BYTES = (0, 10, 40, 40, 200, 700, 1500)


class _Ticket(NamedTuple):
    """An append that waits: which messages, and where they end in the log."""

    first: int
    messages: int
    end: int


class LawBroken(BaseException):
    """A check failed inside a disk call: the store must not take it for a failure of the disk."""


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Around whatever runs on a watched disk: what a check found comes out as it was."""
    try:
        yield
    except LawBroken as broken:
        raise AssertionError(str(broken)) from broken


class Watch(SimFaults):
    """Calls somebody before every disk call. See `watched`."""

    def __init__(self, before_call: Callable[[], None]) -> None:
        super().__init__()
        self._before_call = before_call

    def enter(self, name: str, path: str, *, is_sync: bool = False) -> None:
        if not self.is_off:
            try:
                self._before_call()
            except AssertionError as error:
                raise LawBroken(str(error)) from error
        super().enter(name, path, is_sync=is_sync)


class Story:
    """One run. `run` tells it from the first open to the last action."""

    def __init__(
        self,
        seed: int,
        mode: FlushMode,
        visit: "Callable[[Story], None]",
        *,
        defects: Defects = NO_DEFECTS,
    ) -> None:
        self.random = random.Random(seed)
        self.config = replace(SMALL, flush_mode=mode)
        self.clock = SimClock()
        self.disk = SimDisk()
        self.disk.faults = Watch(self._visit)
        self.worker = SimDiskWorker()
        self.sent: list[Sent] = []
        self.log = b""  # every byte appended so far, fillers too
        self.durable_to = 0
        self.moments = 0
        self._inner_batches = 0
        self._visit_story = visit
        self._defects = defects
        self._store: Store | None = None

    @property
    def appended_to(self) -> int:
        return len(self.log)

    @property
    def store(self) -> Store:
        assert self._store is not None
        return self._store

    def run(self, actions: int) -> None:
        with watched():
            self._run(actions)

    def _run(self, actions: int) -> None:
        self._open()
        stop_at = self.random.randrange(actions // 2, actions)
        for index in range(actions):
            if index == stop_at:
                self._restart()
            self._act()
            self.disk.observe()
            self._visit()

    def _visit(self) -> None:
        self.moments += 1
        self._visit_story(self)

    # Actions.

    def _act(self) -> None:
        dice = self.random.random()
        if dice < 0.40:
            self._send_one()
        elif dice < 0.45:
            self._send_hidden()
        elif dice < 0.55:
            self._send_batch()
        elif dice < 0.58:
            self._send_too_much()
        elif dice < 0.78:
            self._step(self.random.choice(_STEPS_MS))
        else:
            self.worker.run_next(self.random.choice((None, Lane.SYNC, Lane.BACKGROUND)))

    def _open(self) -> None:
        self.worker = SimDiskWorker()
        self._store = Store.open(self.disk, ROOT, self.config, self.worker, defects=self._defects)

    def _restart(self) -> None:
        store, self._store = self.store, None
        store.close()
        self._acknowledge_all()
        self.durable_to = self.appended_to
        self._open()

    def _step(self, ms: int) -> None:
        result = self.store.step(self.clock.advance(ms))
        assert not result.failed
        for ticket in result.safe:
            assert isinstance(ticket, _Ticket)
            self._acknowledge(ticket.first, ticket.messages)
            self.durable_to = max(self.durable_to, ticket.end)
        self.durable_to = max(self.durable_to, self.store.flushed_offset)
        if self.config.flush_mode is FlushMode.SYNC:
            self.durable_to = max(self.durable_to, self._seen_to())

    def _seen_to(self) -> int:
        """Where the newest message ends that a reader can see."""
        ends = [0]
        for queue in self.store.queues():
            unit = queue.unit(queue.max_offset - 1)
            if unit is not None:
                ends.append(unit[0] + unit[1])
        return max(ends)

    # Sending.

    def _send_one(self) -> None:
        number = len(self.sent)
        queue = self.random.choice(QUEUES)
        body = self._body(number)
        text = properties(UNIQ_KEY=f"{number}", TAGS=f"t{number % 3}", KEYS=f"k{number % 7}")
        self._append(draft(*queue, body, text), [(number, queue, body)])

    def _send_batch(self) -> None:
        queue = self.random.choice(QUEUES)
        count = self.random.randrange(2, 6)
        numbers = range(len(self.sent), len(self.sent) + count)
        bodies = [self._body(number, 40) for number in numbers]
        named = [{"UNIQ_KEY": f"{number}", "KEYS": "batch"} for number in numbers]
        made = draft(*queue, encode_batch(list(map(BatchMessage, bodies, named))))
        made.is_batch = True
        self._append(made, list(zip(numbers, [queue] * count, bodies, strict=True)))

    def _send_hidden(self) -> None:
        """A record that is in the log and in no queue that can be read: to readers, refused."""
        number = len(self.sent)
        sys_flag = self.random.choice((PREPARED, ROLLED_BACK, INNER_BATCH))
        queue = (b"Inner", 2) if sys_flag == INNER_BATCH else QUEUES[1]
        body = self._body(number, 40)
        text = properties(INNER_BASE=f"{2 * self._inner_batches}", INNER_NUM="2", KEYS="hidden")
        with contextlib.suppress(StoreBusy):
            now_ms = self.clock.advance(1).wall_ms
            self.store.append(draft(*queue, body, text, sys_flag=sys_flag), now_ms)
            self._inner_batches += sys_flag == INNER_BATCH
            self._take_log(self.store.end_offset)
        self._note(number, queue, body, SentOutcome.REFUSED)

    def _send_too_much(self) -> None:
        """More than fits into a log file: it must be refused, and never be found."""
        number = len(self.sent)
        body = b"%d " % number + b"x" * self.config.log_file_bytes
        text = properties(UNIQ_KEY=f"{number}")
        try:
            self.store.append(draft(*QUEUES[0], body, text), self.clock.now().wall_ms)
        except (MessageIllegal, StoreBusy):
            self._note(number, QUEUES[0], body, SentOutcome.REFUSED)
        else:
            raise AssertionError("a message that fits in no file was taken")

    def _body(self, number: int, bytes_max: int = 1500) -> bytes:
        size = min(self.random.choice(_BODY_BYTES), bytes_max)
        return b"%d " % number + self.random.randbytes(size)

    def _append(self, message: MessageDraft, parts: list[tuple[int, Queue, bytes]]) -> None:
        store = self.store
        first = len(self.sent)
        try:
            store.append(message, self.clock.advance(1).wall_ms)
        except StoreBusy:
            for number, queue, body in parts:
                self._note(number, queue, body, SentOutcome.REFUSED)
            return
        is_sync = self.config.flush_mode is FlushMode.SYNC
        for number, queue, body in parts:
            self._note(
                number, queue, body, SentOutcome.UNKNOWN if is_sync else SentOutcome.ACKNOWLEDGED
            )
        self._take_log(store.end_offset)
        if is_sync:
            store.wait_for(store.end_offset, _Ticket(first, len(parts), store.end_offset))

    def _note(self, number: int, queue: Queue, body: bytes, outcome: SentOutcome) -> None:
        assert number == len(self.sent)
        self.sent.append(Sent(b"%d" % number, queue, body, outcome, self.moments, self.moments))

    def _acknowledge(self, first: int, count: int) -> None:
        for index in range(first, first + count):
            self.sent[index] = self.sent[index]._replace(
                outcome=SentOutcome.ACKNOWLEDGED, ended=self.moments
            )

    def _acknowledge_all(self) -> None:
        """A clean stop: everything that was taken is on the disk."""
        for index, one in enumerate(self.sent):
            if one.outcome is SentOutcome.UNKNOWN:
                self._acknowledge(index, 1)

    def _take_log(self, end_offset: int) -> None:
        """Remember the bytes that the last append put into the log."""
        memory = self.disk.kill()
        size = self.config.log_file_bytes
        while len(self.log) < end_offset:
            start = len(self.log)
            file = memory.read(f"{ROOT}/commitlog/{start - start % size:020d}")
            self.log += file[start % size : min(size, start % size + end_offset - start)]
