"""A life of a store on a disk of which something fails, and everything that it promised meanwhile.

Appends singly and in batches to several queues, rolls, syncs, marks, checkpoints, reads; a clean
stop and start, a killed process and its start. It is the same life every time, but for the fault:
so a test can have it suffer the n-th of anything, for every n.

    life = Life(FlushMode.SYNC, OneFault(fail_at=n))
    life.live()                    to its end, or to the first failure that ends it
    judge(life, check)             kill it, cut its power, start it again: what was promised holds

While it lives:
    a call ends well or with a named error; only `open` and `close` may pass on what the disk said
    once the store has failed nothing more is acknowledged, all who wait are told, appends are
        refused for good and nothing is read that is not known to be on the disk
    a fault that is not the disk's end passes by itself
    a store that was closed, or could not be opened, has no work left and holds no file
"""

import errno
import gc
from contextlib import suppress
from dataclasses import replace
from itertools import count, islice
from typing import NamedTuple

from aerobee.app.chaos.log_check import Found, Queue, Sent, SentOutcome, explain
from aerobee.app.chaos.log_check import check as check_log
from aerobee.errors import DiskFailed, DiskFull, StorageError, StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import DiskCall, SimFaults
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.crash.recovery_check import LOG, RecoveryCheck, Truth
from tests.fault.failing_disk import OneFault, WatchedDisk
from tests.store_kit import (
    EVERYTHING,
    ROOT,
    SMALL,
    StoreKit,
    draft,
    messages_of,
    properties,
    read_all,
)

QUEUES: tuple[Queue, ...] = ((b"Orders", 0), (b"Orders", 1), (b"Refunds", 0))
CUTS_A_LIFE = 2  # of the states that a power cut at its end can leave


class _Failed(Exception):
    """The store says that it has failed."""


class _Over(Exception):
    """It could not be opened, or was closed for the last time."""


class _Ticket:
    """An append that waits: which messages, and where they end in the log."""

    def __init__(self, first: int, end: int) -> None:
        self.first = first
        self.end = end


class Life:
    """I1: `durable_to` is what a power cut must leave, `kept_to` what a killed process must."""

    def __init__(
        self,
        mode: FlushMode,
        faults: OneFault,
        defects: Defects = NO_DEFECTS,
        *,
        is_patient: bool = True,
    ) -> None:
        """`is_patient`: after a failure it goes on for a while before it ends."""
        self.config = replace(SMALL, flush_mode=mode, disk_free_bytes_min=1)
        self.faults = faults
        self.disk: SimDisk = WatchedDisk()
        self.disk.faults = faults
        self.clock = SimClock()
        self.sent: list[Sent] = []
        self.ends: list[int] = []  # of each message's append, in the log
        self.log = b""
        self.durable_to = 0
        self.kept_to = 0
        self.is_complete = False
        self.defects = defects
        self._is_sync = mode is FlushMode.SYNC
        self._waiting: set[_Ticket] = set()
        self._worker = SimDiskWorker()
        self._store: Store | None = None
        self._has_failed = False
        self._is_patient = is_patient

    @property
    def store(self) -> Store:
        assert self._store is not None
        return self._store

    def live(self) -> None:
        """From the first open to the last close, or to what ended it."""
        try:
            self._live()
        except _Over:
            return
        except _Failed:
            self._has_failed = True
        if self._has_failed:
            with suppress(_Over):
                self._outlive_failure()
                self._close()
        else:
            self.is_complete = True

    def _live(self) -> None:
        self._open()
        self._work()
        self._close()
        self._open()
        self._check_reads()
        self._work()
        self._crash()
        self._work()
        self._close()
        self._open()
        self._close()

    # Chapters.

    def _work(self) -> None:
        self._send(QUEUES[0], 40)
        self._send(QUEUES[1], 200)
        self._step(1)
        self._send(QUEUES[2], 700)
        self._worker.run_all()
        self._send_batch(QUEUES[0])
        self._step(600)
        self._worker.run_next(Lane.SYNC)
        for queue in QUEUES:
            self._send(queue, 1300)
            self._step(1)
            self._worker.run_all((Lane.BACKGROUND, Lane.SYNC))
        self._send_batch(QUEUES[1])
        self._settle()

    def _settle(self) -> None:
        """All is done that is due; what kept a message from being taken or seen has passed."""
        for _ in range(3):
            self._step(5000)
            self._worker.run_all()
            self._step(1100)
            self._worker.run_all()
        self._step(1)
        assert self.store.appender.refusal is None
        assert not self._waiting
        assert self._check_reads() == sum(s.outcome is not SentOutcome.REFUSED for s in self.sent)

    def _open(self) -> None:
        self._worker = SimDiskWorker()
        try:
            self._store = Store.open(
                self.disk, ROOT, self.config, self._worker, defects=self.defects
            )
        except StorageError:
            pass
        except OSError as error:
            _require_path(error)
        if self._store is None:
            self._check_let_go()
            raise _Over
        end = self.store.end_offset
        assert end >= self.kept_to, f"kept: the log ends at {end}, promised was {self.kept_to}"
        self.kept_to = self.durable_to = end

    def _close(self) -> None:
        self._take_log()
        store = self.store
        try:
            store.close()
        except StorageError:
            self._has_failed = True
        except OSError as error:
            _require_path(error)
            self._has_failed = True
        self._note_loss()
        del store
        self._store = None
        self._check_let_go()
        if self._has_failed:
            raise _Over
        if f"{ROOT}/abort" not in self.disk.files():
            self._acknowledge_to(self.kept_to)
            self.durable_to = self.kept_to
            self._waiting.clear()

    def _crash(self) -> None:
        """The process is killed; another starts on what it left."""
        self._take_log()
        self._store = None
        self._waiting.clear()
        self.disk = self.disk.kill()
        self.disk.faults = self.faults
        self._open()

    def _check_let_go(self) -> None:
        assert self._worker.pending() == 0, "work is left after the end"
        if isinstance(self.disk, WatchedDisk):
            assert not self.disk.mapped(), "files are still mapped"

    # Sending.

    def _send(self, queue: Queue, size: int) -> None:
        body = self._body(len(self.sent), size)
        text = properties(UNIQ_KEY=f"{len(self.sent)}", KEYS=f"k{size}", TAGS=f"t{size}")
        self._append(queue, draft(*queue, body, text), [body])

    def _send_batch(self, queue: Queue) -> None:
        bodies = [self._body(len(self.sent) + index, 40) for index in range(3)]
        made = draft(*queue, encode_batch([BatchMessage(body, {"KEYS": "b"}) for body in bodies]))
        made.is_batch = True
        self._append(queue, made, bodies)

    def _body(self, number: int, size: int) -> bytes:
        return (b"%d " % number).ljust(size, b".")

    def _append(self, queue: Queue, message: MessageDraft, bodies: list[bytes]) -> None:
        first = len(self.sent)
        now_ms = self.clock.advance(1).monotonic_ms
        outcome = SentOutcome.UNKNOWN if self._is_sync else SentOutcome.ACKNOWLEDGED
        error: StorageError | None = None
        end = self.store.end_offset
        try:
            self.store.append(message, self.clock.now().wall_ms)
        except (StoreBusy, DiskFull, DiskFailed) as refusal:
            error = refusal.with_traceback(None)
            outcome = SentOutcome.REFUSED
            assert self.store.end_offset == end, "refused, and yet in the log"
        assert error is not None or not self._has_failed, "taken after a failure"
        end = self.store.end_offset
        for body in bodies:
            name = b"%d" % len(self.sent)
            self.sent.append(Sent(name, queue, body, outcome, now_ms, now_ms))
            self.ends.append(end)
        if error is None:
            self.kept_to = end
            if self._is_sync:
                ticket = _Ticket(first, end)
                self._waiting.add(ticket)
                self.store.wait_for(end, ticket)
        elif isinstance(error, DiskFailed) and not self._has_failed:
            self._step(1)
            raise AssertionError("refused for good, and yet it goes on")

    # Time.

    def _step(self, ms: int) -> None:
        store = self.store
        result = store.step(self.clock.advance(ms))
        for ticket in result.safe:
            assert isinstance(ticket, _Ticket)
            assert not self._has_failed, "acknowledged after a failure"
            self._waiting.remove(ticket)
            self._acknowledge_to(ticket.end)
            self.durable_to = max(self.durable_to, ticket.end)
        for ticket in result.failed:
            assert isinstance(ticket, _Ticket)
            assert store.failure is not None
            self._waiting.remove(ticket)
        if store.failure is not None and not self._has_failed:
            raise _Failed
        if not self._has_failed:
            self.durable_to = max(self.durable_to, store.flushed_offset)

    def _outlive_failure(self) -> None:
        """Nothing more is taken or acknowledged, and nothing is seen that may be lost."""
        assert not self._waiting, "somebody still waits, and nobody will come"
        self._note_loss()
        flushed = self.store.flushed_offset
        for _ in range(3 if self._is_patient else 0):
            self._send(QUEUES[0], 40)
            assert self.sent[-1].outcome is SentOutcome.REFUSED
            self._check_reads(flushed)
            self._worker.run_all()
            self._step(5000)
        assert isinstance(self.store.failure, DiskFailed)
        assert self.store.flushed_offset == flushed

    def _check_reads(self, readable_to: int | None = None) -> int:
        """What a queue shows are its first messages, none of them from beyond; how many in all."""
        count = 0
        for queue in QUEUES:
            taken = [
                number
                for number, one in enumerate(self.sent)
                if one.queue == queue and one.outcome is not SentOutcome.REFUSED
            ]
            seen = _seen(self.store, queue)
            assert seen == [self.sent[number].body for number in taken[: len(seen)]]
            count += len(seen)
            if readable_to is not None:
                assert all(self.ends[number] <= readable_to for number in taken[: len(seen)])
        found = self.store.records_by_key(b"Orders", b"k40", 0, 1 << 60, 1000)
        assert len(found) <= len(self.sent)
        return count

    # Promises.

    def _acknowledge_to(self, end: int) -> None:
        for number, one in enumerate(self.sent):
            if one.outcome is SentOutcome.UNKNOWN and self.ends[number] <= end:
                ended = self.clock.now().monotonic_ms
                self.sent[number] = one._replace(outcome=SentOutcome.ACKNOWLEDGED, ended=ended)

    def _note_loss(self) -> None:
        """A failed sync of records: the disk may never get them, whatever memory shows."""
        hit, before = self.faults.hit, self.faults.before
        if hit is not None and hit.name == "sync" and hit.path.startswith(LOG):
            is_new_file = before is not None and before == DiskCall("create", hit.path)
            if not is_new_file:
                self.kept_to = self.durable_to
        self._take_log()

    def _take_log(self) -> None:
        """Remember the log as it is in memory."""
        self.log = log_in(self.disk, self.store.end_offset)

    def end(self) -> tuple[object, ...]:
        """What follows from a life follows from this: disk, memory, and promises."""
        self.disk.observe()
        outcomes = tuple(one.outcome for one in self.sent)
        memory, disk = self.disk.files(), self.disk.power_cut().files()
        content = (frozenset(memory.items()), frozenset(disk.items()))
        return content, outcomes, self.log, self.kept_to, self.durable_to

    def sent_to(self, kept_to: int) -> list[Sent]:
        """The history, if what was acknowledged from here on may be lost."""
        return [
            one._replace(outcome=SentOutcome.UNKNOWN)
            if one.outcome is SentOutcome.ACKNOWLEDGED and end > kept_to
            else one
            for one, end in zip(self.sent, self.ends, strict=True)
        ]


def _require_path(error: OSError) -> None:
    assert error.filename, "an error of the disk says of which file"


def _seen(store: Store, queue: Queue) -> list[bytes]:
    """The bodies that a queue shows; after a failure that may end before its last unit does."""
    bodies: list[bytes] = []
    offset = 0
    while (read := store.read(*queue, offset, 1000, EVERYTHING)).count > 0:
        if read.is_cold:
            store.verify(read)
        bodies += [message.body for message in messages_of(read)]
        offset = read.next_offset
    return bodies


def judge(life: Life, check: RecoveryCheck, seed: int = 0) -> None:
    """Whatever ended the life: kill it, cut its power, and let it go on after a start."""
    life.disk.faults = SimFaults()
    life.disk.lock(f"{ROOT}/lock").release()
    truth = Truth(life.log)
    killed = life.disk.kill()
    check.check(killed.kill(), truth, life.kept_to)
    for state in islice(life.disk.crash_states(random_count=2, seed=seed), CUTS_A_LIFE):
        check.check(state, truth, life.durable_to)
    _judge_next_life(life, killed, truth, check)


def _judge_next_life(life: Life, disk: SimDisk, truth: Truth, check: RecoveryCheck) -> None:
    """What a start finds, and what it acknowledges behind that, is there after a power cut."""
    kit = StoreKit(disk, life.config, clock=life.clock, defects=life.defects)
    sent = life.sent_to(life.kept_to)
    for queue in QUEUES:
        number = len(sent)
        body = b"%d in the next life" % number
        kit.append(draft(*queue, body))
        now_ms = kit.clock.advance(1).monotonic_ms
        sent.append(Sent(b"%d" % number, queue, body, SentOutcome.ACKNOWLEDGED, now_ms, now_ms))
        kit.store.wait_for(kit.store.end_offset, number)
    assert len(kit.settle()) == len(QUEUES)
    end = kit.store.end_offset
    log = log_in(disk, end)
    cut = disk.power_cut()
    check.check(cut.kill(), Truth(log), end)
    after = StoreKit(cut, life.config, defects=life.defects)
    found = {
        queue: [
            Found(message.body.partition(b" ")[0], message.queue_offset, message.body)
            for message in read_all(after.store, *queue)
        ]
        for queue in QUEUES
    }
    anomalies = check_log(sent, found)
    assert not anomalies, explain(anomalies)


def log_in(disk: SimDisk, end: int) -> bytes:
    """The log up to an offset, as a program sees it."""
    files = disk.files()
    return b"".join(files[path] for path in sorted(files) if path.startswith(f"{LOG}/"))[:end]


class Suffered(NamedTuple):
    """How much was tried: lives with a fault, states of a disk opened after them, calls hit."""

    lives: int
    states: int
    hits: set[str]


def suffer(
    mode: FlushMode, codes: tuple[int, ...], sync_of: str = "", *, defects: Defects = NO_DEFECTS
) -> Suffered:
    """A life for every n, of which the n-th call (or sync of what matches) fails, until none does:
    with each of the codes in turn.

    AssertionError if one of them breaks a promise; it says how to see it again.
    """
    check: RecoveryCheck | None = None
    hits: set[str] = set()
    judged: set[int] = set()
    gc.collect()
    gc.freeze()
    try:
        for n in count(1):
            code = codes[n % len(codes)]
            faults = OneFault(fail_at=n, sync_of=sync_of, code=code)
            life = Life(mode, faults, defects, is_patient=n % 2 == 0)
            check = check or RecoveryCheck(life.config, defects)
            try:
                life.live()
                if faults.hit is None:
                    assert life.is_complete
                    return Suffered(n - 1, check.count, hits)
                end = hash(life.end())
                if end not in judged:
                    judge(life, check, n)
                    judged.add(end)
            except Exception as error:
                where = f"n = {n}, {mode}, {errno.errorcode[code]}, {faults.hit}"
                raise AssertionError(f"[{where}] {type(error).__name__}: {error}") from error
            hits.add(faults.hit.name)
    finally:
        gc.unfreeze()
    raise AssertionError("there is always a last call")
