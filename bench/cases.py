"""The measured cases. Each runs in a process of its own: `python -m bench.cases CASE ROOT …`.

The process imports the compiled package or the pure one, as its PYTHONPATH says, and prints one
JSON object. Times are of the thread that owns the store; the disk threads work beside it, as they
do in a broker.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.send.send_header import SendHeader, is_compiled
from aerobee.storage.config import FlushMode, StorageConfig
from aerobee.storage.store import Store
from aerobee.system.clock import SystemClock
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from bench import traffic

Figure = dict[str, float]


class Session:
    """An open store on a real disk."""

    def __init__(self, root: str, config: StorageConfig | None = None) -> None:
        self.worker = ThreadDiskWorker()
        self.clock = SystemClock()
        self.store = Store.open(
            MappedDisk(), root, config if config is not None else StorageConfig(), self.worker
        )

    def close(self) -> None:
        self.store.close()
        self.worker.close()


def send(session: Session, reads: Iterable[bytes]) -> int:
    """Decode, append and dispatch a stream; how many messages it held."""
    store = session.store
    append = store.appender.append
    appender = store.appender
    now = session.clock.now
    frames = FrameReader()
    header = SendHeader()
    draft = MessageDraft()
    count = 0
    for read in reads:
        frames.receive(read)
        wall_ms = now().wall_ms
        while frames.advance():
            if not header.read(frames, draft):
                raise AssertionError("the header took the slow way")
            append(draft, wall_ms)
            count += appender.count
        store.step(now())
    return count


def _read(store: Store, queue_id: int, offset: int, end: int) -> int:
    """How many messages the reads of a consumer bring, of that part of a queue."""
    total = 0
    while offset < end:
        read = store.read(traffic.TOPIC, queue_id, offset, 32, 256 * 1024)
        total += read.count
        offset = read.next_offset
    return total


def _timed(work: Callable[[], int]) -> Figure:
    wall = time.perf_counter()
    cpu = time.thread_time()
    count = work()
    return {
        "count": count,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.thread_time() - cpu,
    }


def case_send(root: str, count: int, body_size: int, *, batches: bool) -> Figure:
    session = Session(root)
    first = session.store.end_offset  # any number not used before
    make = traffic.reads_of_batches if batches else traffic.reads_of_singles
    reads = make(first + count, count, body_size)
    # Right before: a store that nobody steps for a second is behind with its syncs.
    send(session, make(first, count // 10, body_size))
    figure = _timed(lambda: send(session, reads))
    session.close()
    return figure


def case_read(root: str, count: int) -> Figure:
    """Messages read as slices, 32 at a time, spread over the queues' whole length."""
    session = Session(root)
    store = session.store
    # What this process did not write is checked against its checksums: send some first.
    send(session, traffic.reads_of_singles(0, count, 100))
    starts = {
        queue.queue_id: queue.max_offset - count // traffic.QUEUES for queue in store.queues()
    }

    def work() -> int:
        total = 0
        for queue_id, offset in starts.items():
            end = offset + count // traffic.QUEUES
            total += _read(store, queue_id, offset, end)
        return total

    figure = _timed(work)
    session.close()
    return figure


def case_read_checked(root: str, count: int) -> Figure:
    """The same for messages of an earlier process: every record is checked."""
    session = Session(root)
    store = session.store

    def work() -> int:
        total = 0
        for queue in store.queues():
            offset = queue.min_offset
            end = min(queue.max_offset, offset + count // traffic.QUEUES)
            total += _read(store, queue.queue_id, offset, end)
        return total

    figure = _timed(work)
    session.close()
    return figure


def case_open(root: str) -> Figure:
    """Open after a clean stop; bytes of log."""
    sessions: list[Session] = []

    def work() -> int:
        sessions.append(Session(root))
        return sessions[0].store.end_offset

    figure = _timed(work)
    sessions[0].close()
    return figure


def case_rebuild(root: str) -> Figure:
    """Open with consume queues and index deleted; messages dispatched again."""
    for name in ("consumequeue", "index"):
        shutil.rmtree(Path(root, name), ignore_errors=True)
    figure = case_open(root)
    session = Session(root)
    figure["count"] = sum(queue.max_offset for queue in session.store.queues())
    session.close()
    return figure


def case_recover(root: str) -> Figure:
    """The scan of the whole log with every checksum, as after a crash with no mark; bytes."""
    from aerobee.storage.defects import NO_DEFECTS
    from aerobee.storage.files.file_sequence import FileSequence
    from aerobee.storage.recover.log_recovery import scan_log

    log = FileSequence(MappedDisk(), f"{root}/commitlog", StorageConfig().log_file_bytes)
    log.load()
    figure = _timed(
        lambda: scan_log(log, 0, True, lambda what, done, total: None, NO_DEFECTS).end_offset
    )
    log.close()
    return figure


def case_sync(root: str, count: int, waiting: int) -> Figure:
    """Appends that wait for the disk, so many at a time."""
    session = Session(root, StorageConfig(flush_mode=FlushMode.SYNC))
    store = session.store
    draft = MessageDraft()
    draft.topic = traffic.TOPIC
    draft.set_body(memoryview(b"x" * 100))

    def work() -> int:
        acknowledged = 0
        under_way = 0
        while acknowledged < count:
            while under_way < waiting:
                store.append(draft, session.clock.now().wall_ms)
                store.wait_for(store.end_offset, under_way)
                under_way += 1
            released = len(store.step(session.clock.now()).safe)
            acknowledged += released
            under_way -= released
            if not released:
                time.sleep(0)  # the disk thread has the work now
        return acknowledged

    figure = _timed(work)
    session.close()
    return figure


def fill(root: str, target: int, body_size: int) -> Figure:
    """Bring the store to `target` messages."""
    session = Session(root)
    have = sum(queue.max_offset for queue in session.store.queues())
    started = time.perf_counter()
    while have < target:
        count = min(50_000, target - have)
        have += send(session, traffic.reads_of_singles(have, count, body_size))
        if sys.stderr.isatty():
            print(f"\r  filling: {have:,} of {target:,}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    session.close()
    return {"count": have, "seconds": time.perf_counter() - started}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("root")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--body", type=int, default=100)
    parser.add_argument("--waiting", type=int, default=1)
    options = parser.parse_args()
    root, count, body = options.root, options.count, options.body
    cases: dict[str, Callable[[], Figure]] = {
        "single": lambda: case_send(root, count, body, batches=False),
        "batch": lambda: case_send(root, count, body, batches=True),
        "read": lambda: case_read(root, count),
        "read-checked": lambda: case_read_checked(root, count),
        "open": lambda: case_open(root),
        "rebuild": lambda: case_rebuild(root),
        "recover": lambda: case_recover(root),
        "sync": lambda: case_sync(root, count, options.waiting),
        "fill": lambda: fill(root, count, body),
    }
    figure = cases[options.case]()
    print(json.dumps({**figure, "compiled": is_compiled()}))


if __name__ == "__main__":
    main()
