"""Checks of a store that was opened after any crash.

    whole       the log is a beginning of the log that was, cut between two records
    kept        nothing that was promised is missing
    zeroed      behind its end there are only zeros
    durable     all of that is on the disk, not only in memory
    derived     queues and index are, byte for byte, those of a rebuild from the log
    readable    every queue gives back the records of that log
    settled     opening it once more changes nothing
    usable      it takes another message, syncs it and gives it back
    behind      RocketMQ's checkpoint, as the crash left it, does not vouch for what was lost

Each law is an assertion that names the state of the disk in which it fails.
"""

from typing import NamedTuple

from aerobee.app.chaos.log_check import Queue
from aerobee.protocol.message.stored_message import decode_record
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.store_kit import EVERYTHING, INNER_BATCH, PREPARED, ROOT, draft, read_all

LOG = f"{ROOT}/commitlog"
DERIVED = (f"{ROOT}/consumequeue/", f"{ROOT}/batchconsumequeue/", f"{ROOT}/index/")

_FILLER_MAGIC = bytes.fromhex("cbd43194")
_RECORD_MAGICS = (bytes.fromhex("daa320a7"), bytes.fromhex("daa320ab"))


# Of transactions that are not committed, and inner batches.
_HIDDEN = PREPARED | INNER_BATCH


class Logged(NamedTuple):
    """One record of the log that was."""

    end: int
    stored_ms: int
    queue: Queue
    content: bytes
    is_hidden: bool
    """No queue shows it."""


class Truth:
    """The log as it was in memory when the machine stopped."""

    def __init__(self, log: bytes) -> None:
        self.log = log
        self.records: list[Logged] = []
        self.ends = {0}
        self._by_queue: dict[int, dict[Queue, bytes]] = {}
        position = 0
        while position < len(log):
            size = int.from_bytes(log[position : position + 4], "big")
            magic = log[position + 4 : position + 8]
            assert size > 0
            if magic != _FILLER_MAGIC:
                assert magic in _RECORD_MAGICS
                message = decode_record(log, position)
                queue = (message.topic.encode(), message.queue_id)
                is_hidden = message.sys_flag & _HIDDEN != 0
                content = log[position : position + size]
                stored_ms = message.store_timestamp
                self.records.append(Logged(position + size, stored_ms, queue, content, is_hidden))
            position += size
            self.ends.add(position)
        assert position == len(log)

    def queues_to(self, end: int) -> dict[Queue, bytes]:
        """By queue, the records that end at or before a log offset."""
        if end not in self._by_queue:
            queues: dict[Queue, bytes] = {}
            for record in self.records:
                if record.end <= end and not record.is_hidden:
                    queues[record.queue] = queues.get(record.queue, b"") + record.content
            self._by_queue[end] = queues
        return self._by_queue[end]


class Rebuilds:
    """The derived files of a log, made from nothing else. One rebuild serves every state that
    recovers to the same log."""

    def __init__(self, config: StorageConfig) -> None:
        self._config = config
        self._by_log: dict[bytes, dict[str, bytes]] = {}

    def of(self, log: bytes) -> dict[str, bytes]:
        if log not in self._by_log:
            disk = SimDisk()
            size = self._config.log_file_bytes
            for start in range(0, len(log), size):
                part = log[start : start + size]
                disk.replace(f"{LOG}/{start:020d}", part.ljust(size, b"\0"))
            Store.open(disk, ROOT, self._config, SimDiskWorker())
            self._by_log[log] = derived_of(disk)
        return self._by_log[log]


def derived_of(disk: SimDisk) -> dict[str, bytes]:
    return {path: data for path, data in disk.files().items() if path.startswith(DERIVED)}


def log_of(disk: SimDisk) -> bytes:
    """All bytes of the log's files, which must begin at 0 and touch."""
    files = {path: data for path, data in disk.files().items() if path.startswith(f"{LOG}/")}
    log = b""
    for path in sorted(files):
        assert int(path.rpartition("/")[2]) == len(log), f"a gap before {path}"
        log += files[path]
    return log


class RecoveryCheck:
    """The laws, for states of stores of one configuration. `count` says how many were checked."""

    def __init__(self, config: StorageConfig, defects: Defects = NO_DEFECTS) -> None:
        self._config = config
        self._defects = defects
        self._rebuilds = Rebuilds(config)
        self.count = 0

    def check(self, state: SimDisk, truth: Truth, kept_to: int) -> None:
        """Open the state and judge what comes out of it."""
        self.count += 1
        try:
            self._check(state, truth, kept_to)
        except Exception as error:
            raise AssertionError(f"[{state.origin}] {type(error).__name__}: {error}") from error

    def _check(self, state: SimDisk, truth: Truth, kept_to: int) -> None:
        checkpoint = state.files().get(f"{ROOT}/checkpoint", b"")
        store = self._open(state)
        end = store.end_offset
        assert end >= kept_to, f"kept: the log ends at {end}, promised was {kept_to}"
        assert end in truth.ends, f"whole: the log ends at {end}, which is inside a record"
        log = log_of(state)
        assert log[:end] == truth.log[:end], "whole: the log is not what was appended"
        assert not log[end:].strip(b"\0"), f"zeroed: bytes behind the end {end}"
        assert log_of(state.power_cut()) == log, "durable: the log is not on the disk"
        derived = derived_of(state)
        _require_same(derived, self._rebuilds.of(log[:end]), "derived: not what a rebuild makes")
        self._check_reads(store, truth.queues_to(end))
        flushed_ms = int.from_bytes(checkpoint[:8], "big")
        lost = [record for record in truth.records if record.end > end]
        if lost:
            stored_ms = lost[0].stored_ms
            assert stored_ms >= flushed_ms, f"behind: {flushed_ms}, lost is one of {stored_ms}"
        again = state.kill()
        self._open(again)
        assert log_of(again) == log, "settled: opening again changed the log"
        _require_same(derived_of(again), derived, "settled: opening again changed")
        self._use(store)

    def _open(self, state: SimDisk) -> Store:
        return Store.open(state, ROOT, self._config, SimDiskWorker(), defects=self._defects)

    def _check_reads(self, store: Store, expected: dict[Queue, bytes]) -> None:
        queues = {(queue.topic, queue.queue_id) for queue in store.queues() if queue.max_offset}
        assert queues == expected.keys(), f"readable: queues {queues}"
        for queue, content in expected.items():
            read = store.read(*queue, 0, 1000, EVERYTHING)
            assert b"".join(read.slices) == content, f"readable: {queue}"

    def _use(self, store: Store) -> None:
        """A message more, into a queue that may be new to it."""
        end = store.end_offset
        store.append(draft(b"Orders", 1, b"one more"), 1 << 45)
        store.sync()
        store.dispatch()
        assert store.flushed_offset == store.end_offset > end
        newest = read_all(store, b"Orders", 1)[-1]
        assert newest.body == b"one more", "usable: the new message is not there"


def _require_same(files: dict[str, bytes], expected: dict[str, bytes], law: str) -> None:
    if files != expected:
        names = sorted(
            path for path in files.keys() | expected.keys() if files.get(path) != expected.get(path)
        )
        raise AssertionError(f"{law}: {', '.join(names)}")
