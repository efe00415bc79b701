"""Watch the store survive: a writer is killed with SIGKILL in the middle of its work, six times.

Each round a child process appends numbered messages and says which are acknowledged; the parent
kills it without warning, opens the store as the kill left it, and reads every message back. Round
after round it is the same store. What must hold: everything acknowledged is there, once, in order,
with the body that was sent. Messages appended but not yet acknowledged may be there too.

A kill is what a crashed process is to the disk. Power cuts are another matter: `make crash`.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from aerobee._compiled import report
from aerobee.errors import StoreBusy
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import decode_records
from aerobee.storage.config import MIB, FlushMode, StorageConfig
from aerobee.storage.store import Store
from aerobee.system.clock import SystemClock
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker

TOPIC = b"demo"
QUEUES = 4
IN_FLIGHT = 64
KILLS_PER_MODE = 3


class Round(NamedTuple):
    """One kill and what was found after it."""

    mode: FlushMode
    acknowledged: int
    found: int
    wrong: int
    recovery_ms: float

    @property
    def lost(self) -> int:
        return max(0, self.acknowledged - self.found)


def body_of(number: int) -> bytes:
    return b"message %d " % number + b"." * 80


def config(mode: FlushMode) -> StorageConfig:
    """Small files, so that a round crosses from one to the next; any disk will do."""
    return StorageConfig(
        log_file_bytes=8 * MIB,
        queue_file_units=10_000,
        index_slots=10_000,
        index_units=50_000,
        flush_mode=mode,
        disk_used_ratio_clean=1.0,
        disk_used_ratio_full=1.0,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=10_000, help="per round, before the kill")
    parser.add_argument("--folder", default="data", help="where the store is made, and removed")
    parser.add_argument("--write", nargs=2, metavar=("STORE", "MODE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write_until_killed(options.write[0], FlushMode(options.write[1]))
    return demonstrate(Path(options.folder), options.messages)


# The parent.


def demonstrate(folder: Path, messages: int) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    root = tempfile.mkdtemp(prefix="demo-", dir=folder)
    print(report())
    print(f"a store in {root}; a writer that is killed after about {messages:,} messages a round\n")
    print("  kill  flush  acknowledged  read back   ahead   lost  wrong  recovery")
    acknowledged = 0
    rounds = []
    for mode in FlushMode:
        for _ in range(KILLS_PER_MODE):
            acknowledged = kill_a_writer(root, mode, acknowledged + messages)
            rounds.append(recover(root, mode, acknowledged))
            show_round(len(rounds), rounds[-1])
            acknowledged = rounds[-1].found  # all of it was read back: from now on it must stay
    if any(done.lost or done.wrong for done in rounds):
        print(f"\nFAILED: acknowledged messages are lost or wrong. The store is kept: {root}")
        return 1
    shutil.rmtree(root)
    print(
        f"\n{rounds[-1].found:,} messages, {len(rounds)} kills:"
        " everything acknowledged was read back, once and in order."
    )
    return 0


def kill_a_writer(root: str, mode: FlushMode, enough: int) -> int:
    """Kill a writer once `enough` messages are acknowledged; how many were, in the end."""
    program = [sys.executable, str(Path(__file__).resolve()), "--write", root, mode.value]
    acknowledged = 0
    with subprocess.Popen(program, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        try:
            for line in writer.stdout:
                acknowledged = int(line)
                show_progress(f"writing, {acknowledged:,} acknowledged")
                if acknowledged >= enough:
                    writer.send_signal(signal.SIGKILL)
                    break
            for line in writer.stdout:  # what it had said before it died
                acknowledged = int(line)
        finally:
            writer.kill()
    if writer.returncode != -signal.SIGKILL:
        raise SystemExit(f"the writer ended by itself, with status {writer.returncode}")
    return acknowledged


def recover(root: str, mode: FlushMode, acknowledged: int) -> Round:
    """Open the store as the kill left it and read everything."""
    began = time.perf_counter()
    worker = ThreadDiskWorker()
    store = Store.open(
        MappedDisk(),
        root,
        config(mode),
        worker,
        progress=lambda what, done, total: show_progress(f"{what}, {done:,} of {total:,}"),
    )
    recovery_ms = (time.perf_counter() - began) * 1000
    found = wrong = 0
    for queue_id in range(QUEUES):
        show_progress(f"reading queue {queue_id + 1} of {QUEUES}")
        count, bad = check_queue(store, queue_id)
        found += count
        wrong += bad
    store.close()
    worker.close()
    return Round(mode, acknowledged, found, wrong, recovery_ms)


def check_queue(store: Store, queue_id: int) -> tuple[int, int]:
    """How many messages a queue has, and how many are not what was sent at that place."""
    count = wrong = 0
    while True:
        read = store.read(TOPIC, queue_id, count, 1000, MIB)
        if not read.count:
            return count, wrong
        for part in read.slices:
            for message in decode_records(bytes(part)):
                expected = body_of(count * QUEUES + queue_id)
                wrong += message.body != expected or message.queue_offset != count
                count += 1


# The child.


def write_until_killed(root: str, mode: FlushMode) -> None:
    """Append numbered messages for ever; print how many are acknowledged."""
    finished = threading.Event()
    store = Store.open(MappedDisk(), root, config(mode), ThreadDiskWorker(wake=finished.set))
    clock = SystemClock()
    draft = MessageDraft()
    draft.topic = TOPIC
    written = acknowledged = sum(queue.next_offset for queue in store.queues())
    while True:
        finished.clear()
        now = clock.now()
        try:
            while written - acknowledged < IN_FLIGHT:
                draft.queue_id = written % QUEUES
                draft.born_timestamp = now.wall_ms
                draft.set_body(memoryview(body_of(written)))
                store.append(draft, now.wall_ms)
                written += 1
                if mode is FlushMode.SYNC:
                    store.wait_for(store.end_offset, written)
        except StoreBusy:
            pass  # the disk is behind: go on when it is not
        result = store.step(clock.now())
        if store.failure is not None:
            raise store.failure
        before = acknowledged
        if mode is FlushMode.ASYNC:
            acknowledged = written  # in the page cache: a kill does not take it back
        elif result.safe:
            acknowledged = max(ticket for ticket in result.safe if isinstance(ticket, int))
        if acknowledged != before:
            os.write(sys.stdout.fileno(), b"%d\n" % acknowledged)
        else:
            finished.wait(0.01)


# The screen.


def show_progress(text: str) -> None:
    if sys.stdout.isatty():
        print(f"\r\x1b[K  {text}", end="", flush=True)


def show_round(number: int, done: Round) -> None:
    if sys.stdout.isatty():
        print("\r\x1b[K", end="")
    print(
        f"  {number:>4}  {done.mode.name.lower():<5}  {done.acknowledged:>12,}  {done.found:>9,}"
        f"  {max(0, done.found - done.acknowledged):>6,}  {done.lost:>5,}  {done.wrong:>5,}"
        f"  {done.recovery_ms:>5.0f} ms",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
