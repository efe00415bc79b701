"""A process that appends without end and says what is acknowledged; and whoever ends it.

    python -m tests.crash.writer ROOT MODE RUN [DEFECT ...]

What it sends follows from RUN alone (`sends`), so that whoever ended it knows every byte. Its lines
on standard output, the times in ns of the monotonic clock, which all processes share:

    ack NUMBER OFFSET BEGAN ENDED    message NUMBER of this run, at that offset of its queue
    state COUNT                      the state file was replaced, and says COUNT now

Acknowledged is, in mode ASYNC, what is appended; in mode SYNC, what a step gave back as durable. At
any moment fewer than `UNSAID_MAX` messages are appended and not yet said. A line without its end
says nothing.

`Witness` is the other side: it starts a writer, listens, stops or kills it, and gives the history
and what a store holds in the words of `aerobee.app.chaos.log_check`.
"""

import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from aerobee.app.chaos.log_check import Found, Queue, Sent, SentOutcome
from aerobee.errors import StoreBusy
from aerobee.model.message import StoredMessage
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.storage.commit.write_through import LARGE_BYTES
from aerobee.storage.config import KIB, MIB, FlushMode, StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store
from aerobee.system.clock import SystemClock
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from tests.store_kit import EVERYTHING, draft, messages_of, properties

TOPICS = (b"Orders", b"Payments", b"Trades", b"T" * 200)  # the last has records of version 2
QUEUES_A_TOPIC = 4
QUEUES: tuple[Queue, ...] = tuple(
    (topic, queue_id) for topic in TOPICS for queue_id in range(QUEUES_A_TOPIC)
)
BODY_BYTES_MAX = 4 * KIB
BATCH_MAX = 8
LARGE_SHARE = 0.05
SENDS_A_STEP = 4
IN_FLIGHT_MAX = 64
UNSAID_MAX = IN_FLIGHT_MAX + BATCH_MAX

_STEP_S = 0.002
_STATE_INTERVAL_MS = 20
_REPOSITORY = Path(__file__).parents[2]


def config(mode: FlushMode) -> StorageConfig:
    """Small files, so that every kind of them rolls; marks that follow each other closely. When
    the log is flushed is left as it is by default: that is what is promised."""
    return StorageConfig(
        log_file_bytes=256 * KIB,
        queue_file_units=50,
        index_slots=100,
        index_units=1000,
        flush_mode=mode,
        mark_interval_ms=20,
        checkpoint_interval_ms=50,
        disk_used_ratio_clean=1.0,
        disk_used_ratio_full=1.0,
        disk_free_bytes_min=MIB,
    )


# What is sent.


class Message(NamedTuple):
    name: str
    body: bytes
    tag: str
    keys: str

    def properties(self) -> dict[str, str]:
        return {"UNIQ_KEY": self.name, "TAGS": self.tag, "KEYS": self.keys}


class Send(NamedTuple):
    """One append: a message, or several as a batch."""

    first: int
    queue: Queue
    messages: list[Message]
    is_batch: bool

    def draft(self) -> MessageDraft:
        topic, queue_id = self.queue
        if not self.is_batch:
            (single,) = self.messages
            return draft(topic, queue_id, single.body, properties(**single.properties()))
        entries = [BatchMessage(one.body, one.properties()) for one in self.messages]
        made = draft(topic, queue_id, encode_batch(entries))
        made.is_batch = True
        return made


def sends(run: int) -> Iterator[Send]:
    """Everything that a run sends, in order; without end."""
    generator = random.Random(run)
    number = 0
    while True:
        is_batch = generator.random() < 0.25
        count = generator.randint(1, BATCH_MAX) if is_batch else 1
        # Large appends take another way into the file.
        least_bytes = LARGE_BYTES // count if generator.random() < LARGE_SHARE else 0
        messages = []
        for index in range(number, number + count):
            size = least_bytes + int(BODY_BYTES_MAX ** generator.random())
            body = generator.randbytes(size)
            keys = f"k{generator.randrange(50)} order{run}.{index}"
            messages.append(Message(f"{run}-{index}", body, f"t{generator.randrange(5)}", keys))
        yield Send(number, generator.choice(QUEUES), messages, is_batch)
        number += count


# The writer.


class _Appended(NamedTuple):
    """The ticket of a send."""

    send: Send
    queue_offset: int
    began_ns: int


class Writer:
    """One life of a writer: `write` comes to no end by itself."""

    def __init__(self, root: str, mode: FlushMode, run: int, defects: Defects) -> None:
        self._clock = SystemClock()
        self._finished = threading.Event()
        self._worker = ThreadDiskWorker(wake=self._finished.set)
        disk = MappedDisk()
        self._store = Store.open(disk, root, config(mode), self._worker, defects=defects)
        self._state = StateFile(disk, root)
        self._is_state_changing = False
        self._state_changed_ms = 0
        self._is_sync = mode is FlushMode.SYNC
        self._sends = sends(run)
        self._next = next(self._sends)
        self._in_flight = 0

    def write(self) -> None:
        while True:
            self._finished.clear()
            appended = self._append_some()
            now = self._clock.now()
            durable = self._store.step(now).safe
            if self._store.failure is not None:
                raise self._store.failure
            self._acknowledge(
                [ticket for ticket in durable if isinstance(ticket, _Appended)]
                if self._is_sync
                else appended
            )
            self._change_state(now.monotonic_ms)
            self._finished.wait(_STEP_S)

    def _append_some(self) -> list[_Appended]:
        store = self._store
        appended: list[_Appended] = []
        while len(appended) < SENDS_A_STEP and self._in_flight < IN_FLIGHT_MAX:
            send = self._next
            began_ns = time.monotonic_ns()
            try:
                store.append(send.draft(), self._clock.now().wall_ms)
            except StoreBusy:
                break  # the disk is behind: the same message again when it is not
            ticket = _Appended(send, store.appender.queue_offset, began_ns)
            appended.append(ticket)
            self._in_flight += len(send.messages)
            if self._is_sync:
                store.wait_for(store.end_offset, ticket)
            self._next = next(self._sends)
        return appended

    def _acknowledge(self, tickets: list[_Appended]) -> None:
        ended_ns = time.monotonic_ns()
        lines = []
        for send, queue_offset, began_ns in tickets:
            self._in_flight -= len(send.messages)
            lines += [
                b"ack %d %d %d %d\n"
                % (send.first + index, queue_offset + index, began_ns, ended_ns)
                for index in range(len(send.messages))
            ]
        _say(b"".join(lines))

    def _change_state(self, monotonic_ms: int) -> None:
        """Replace the state file now and then, on the disk thread."""
        if (
            not self._is_state_changing
            and monotonic_ms - self._state_changed_ms >= _STATE_INTERVAL_MS
        ):
            self._is_state_changing = True
            self._state_changed_ms = monotonic_ms
            self._worker.submit(Lane.BACKGROUND, _ChangeState(self._state, self._note_changed))

    def _note_changed(self) -> None:
        self._is_state_changing = False
        _say(b"state %d\n" % self._state.count)


class StateFile:
    """A small file beside the store that counts how often it was replaced."""

    def __init__(self, disk: MappedDisk, root: str) -> None:
        disk.make_directory(f"{root}/config")
        self._file = ConfigFile(disk, f"{root}/config/writer.json")
        loaded = self._file.load()
        self.fault = "" if loaded is None else loaded.fault
        count = 0 if loaded is None else loaded.value["count"]
        assert isinstance(count, int)
        self.count = count

    def replace(self) -> None:
        self._file.store({"count": self.count + 1, "filling": "x" * (self.count % 9000)})
        self.count += 1


class _ChangeState:
    """Disk job: the state file, replaced."""

    def __init__(self, state: StateFile, note_changed: Callable[[], None]) -> None:
        self._state = state
        self._note_changed = note_changed

    def run(self) -> None:
        self._state.replace()

    def done(self, error: BaseException | None) -> None:
        if error is not None:
            raise error
        self._note_changed()


def _say(lines: bytes) -> None:
    while lines:
        lines = lines[os.write(sys.stdout.fileno(), lines) :]


# Its witness.


class Ack(NamedTuple):
    number: int
    queue_offset: int
    began_ns: int
    ended_ns: int


class Witness:
    """A writer that runs, and everything it said. Leaving the `with` kills it."""

    def __init__(
        self, root: Path, mode: FlushMode, run: int, defects: Defects = NO_DEFECTS
    ) -> None:
        self.run = run
        self.acks: list[Ack] = []
        self.state_count = 0
        self._rest = b""
        program = [sys.executable, "-m", "tests.crash.writer", str(root), mode.value, str(run)]
        program += [defect.name for defect in defects]
        self._process = subprocess.Popen(program, stdout=subprocess.PIPE, cwd=_REPOSITORY)
        assert self._process.stdout is not None
        self._pipe = self._process.stdout

    def __enter__(self) -> "Witness":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def listen_until(self, ack_count: int) -> None:
        """Until it has acknowledged so many messages."""
        while len(self.acks) < ack_count:
            assert self._read(), "the writer ended by itself; it says why on standard error"

    def listen(self, seconds: float) -> None:
        """Go on for so long, so that the end comes at no particular moment of the writer."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._pipe], [], [], left)[0]:
                assert self._read(), "the writer ended by itself; it says why on standard error"

    def stop(self) -> None:
        """SIGSTOP; it stands still when this returns."""
        self._process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), "the writer ended by itself; it says why on standard error"

    def kill(self) -> None:
        """SIGKILL; then hear what it had said before."""
        self._process.kill()
        while self._read():
            pass
        assert self._process.wait() == -signal.SIGKILL, "the writer ended by itself"

    def _read(self) -> bool:
        heard = os.read(self._pipe.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + heard).split(b"\n")
        for line in lines:
            kind, *numbers = line.split()
            if kind == b"ack":
                self.acks.append(Ack(*map(int, numbers)))
            else:
                assert kind == b"state"
                (self.state_count,) = map(int, numbers)
        return bool(heard)

    def history(self) -> list[Sent]:
        """Everything that it can have sent: what it acknowledged, and what may have followed."""
        acks = {ack.number: ack for ack in self.acks}
        assert [*acks] == [*range(len(self.acks))], "acknowledged in the order of sending"
        last_ns = self.acks[-1].ended_ns
        history: list[Sent] = []
        for send in sends(self.run):
            if send.first >= len(self.acks) + UNSAID_MAX:
                return history
            for number, message in enumerate(send.messages, send.first):
                content = _content(message.body, message.properties())
                one = Sent(
                    message.name.encode(), send.queue, content, SentOutcome.UNKNOWN, last_ns + 1, 0
                )
                ack = acks.get(number)
                if ack is not None:
                    one = one._replace(
                        outcome=SentOutcome.ACKNOWLEDGED,
                        began=ack.began_ns,
                        ended=ack.ended_ns,
                        offset=ack.queue_offset,
                    )
                history.append(one)
        raise AssertionError("there is always another send")


def found_in(store: Store, start: Mapping[Queue, int]) -> dict[Queue, list[Found]]:
    """What each queue holds from an offset on (0, unless `start` knows better), checked."""
    return {
        (queue.topic, queue.queue_id): _found_in_queue(
            store, queue.topic, queue.queue_id, start.get((queue.topic, queue.queue_id), 0)
        )
        for queue in store.queues()
    }


def _found_in_queue(store: Store, topic: bytes, queue_id: int, offset: int) -> list[Found]:
    found = []
    while (read := store.read(topic, queue_id, offset, 1000, EVERYTHING)).count:
        store.verify(read)
        found += [_found(message) for message in messages_of(read)]
        offset = read.next_offset
    return found


def _found(message: StoredMessage) -> Found:
    name = message.properties.get("UNIQ_KEY", "")
    content = _content(message.body, message.properties)
    return Found(name.encode(), message.queue_offset, content)


def _content(body: bytes, named: Mapping[str, str]) -> bytes:
    """All of a message that a sender chooses, but for its name and its place."""
    return f"{named.get('TAGS')} {named.get('KEYS')} ".encode() + body


def main() -> None:
    root, mode, run, *defects = sys.argv[1:]
    Writer(root, FlushMode(mode), int(run), frozenset(Defect[name] for name in defects)).write()


if __name__ == "__main__":
    main()
