"""Retention against a list of records and plain arithmetic.

The model knows every record that was stored, with its time, and from that says which log file is
the first and which offset of each queue is the first to be seen. The store has to agree after any
mixture of messages, time, clocks that jump, disks that fill, stops and crashes; and what a reader
once got stays as it was.
"""

from dataclasses import replace
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.retain.retention import CLOCK_SETTLE_MS
from tests.store_kit import EVERYTHING, ROOT, SMALL, StoreKit, draft, properties, read_all

RETENTION_MS = 150_000
FILE_BYTES = SMALL.log_file_bytes
FILE_UNITS = 4
CAPACITY = 1 << 20
CLEAN = 0.5
# Everything due is done at once, so that the model need not know how long it takes.
CONFIG = replace(
    SMALL,
    queue_file_units=FILE_UNITS,
    retention_ms=RETENTION_MS,
    disk_used_ratio_clean=CLEAN,
    disk_free_bytes_min=1,
    delete_interval_ms=0,
    checkpoint_interval_ms=0,
    mark_interval_ms=0,
)
QUEUES = ((b"Orders", 0), (b"Orders", 1), (b"Others", 0))
BALLAST = "others/ballast"
# Files that come and go beside the log files while the disk is being cleaned.
SLACK_BYTES = 3 * FILE_BYTES

Queue = tuple[bytes, int]


class Stored(NamedTuple):
    log_offset: int
    time_ms: int
    body: bytes


class Held(NamedTuple):
    """What a reader got, and what it was then."""

    read: QueueRead
    content: list[bytes]


class RetentionMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.clock = SimClock()
        self.stored: dict[Queue, list[Stored]] = {queue: [] for queue in QUEUES}
        self.times: list[tuple[int, int]] = []  # (log offset, time) of every record
        self.hidden = dict.fromkeys(QUEUES, 0)
        self.topic_ms: dict[bytes, int] = {}
        self.first_file = 0
        self.held: list[Held] = []
        self.number = 0
        self.open(SimDisk(capacity_bytes=CAPACITY))

    def open(self, disk: SimDisk) -> None:
        self.kit = StoreKit(disk, CONFIG, clock=self.clock)
        self.opened_wall_ms: int | None = None
        self.opened_ms = 0
        self.last_used = self.used()
        """When the store last looked, which it does once a second: room that was made since then
        does not keep it from removing a file."""
        for topic, retention_ms in self.topic_ms.items():
            self.kit.store.set_topic_retention(topic, retention_ms)

    # What happens.

    @rule(
        queue=st.sampled_from(QUEUES),
        sizes=st.lists(st.integers(1, 1500), min_size=1, max_size=12),
    )
    def send(self, queue: Queue, sizes: list[int]) -> None:
        if self.kit.store.appender.refusal is not None:
            return
        topic, queue_id = queue
        for size in sizes:
            body = f"{self.number} ".encode().ljust(size, b".")
            log_offset = self.kit.append(
                draft(topic, queue_id, body, properties(KEYS=f"k{self.number}"))
            )
            time_ms = max([self.clock.now().wall_ms, *(time for _, time in self.times[-1:])])
            self.times.append((log_offset, time_ms))
            self.stored[queue].append(Stored(log_offset, time_ms, body))
            self.number += 1

    @rule(ms=st.integers(1000, CLOCK_SETTLE_MS))
    def time_passes(self, ms: int) -> None:
        self.run(ms)

    @rule(ms=st.integers(CLOCK_SETTLE_MS, 2 * RETENTION_MS))
    def a_long_time_passes(self, ms: int) -> None:
        self.run(ms)

    @rule(ms=st.sampled_from([-200_000, -1, 1, 200_000, 200_000, 86_400_000]))
    def clock_jumps(self, ms: int) -> None:
        if self.clock.now().wall_ms + ms > 0:
            self.clock.jump_wall(ms)

    @rule(
        topic=st.sampled_from([b"Orders", b"Others"]), ms=st.sampled_from([None, 1, 50_000, 50_000])
    )
    def topic_is_told(self, topic: bytes, ms: int | None) -> None:
        self.kit.store.set_topic_retention(topic, ms)
        if ms is None:
            self.topic_ms.pop(topic, None)
        else:
            self.topic_ms[topic] = ms

    @rule(percent=st.sampled_from([0, 30, 45, 60, 80]))
    def others_fill_the_disk(self, percent: int) -> None:
        if self.kit.disk.exists(BALLAST):
            self.kit.disk.remove(BALLAST)
        if percent:
            self.kit.disk.create(BALLAST, min(CAPACITY * percent // 100, self.room()))
        self.run(1000)

    @rule(queue=st.sampled_from(QUEUES))
    def somebody_reads(self, queue: Queue) -> None:
        found = self.kit.store.queue(*queue)
        if found is not None and found.min_offset < found.max_offset:
            read = self.kit.store.read(*queue, found.min_offset, 100, EVERYTHING)
            self.held.append(Held(read, [bytes(part) for part in read.slices]))

    @rule(how=st.sampled_from(["stop", "kill", "power cut"]))
    def restart(self, how: str) -> None:
        self.run(1000)  # what is under way when it stops is the subject of tests/crash
        if how == "stop":
            self.kit.store.close()
            disk = self.kit.disk
        else:
            disk = self.kit.disk.kill() if how == "kill" else self.kit.disk.power_cut()
        self.open(disk)
        for queue in QUEUES:
            self.hidden[queue] = self.seen_again(queue)

    # What the model says.

    def run(self, ms: int) -> None:
        """Time passes, then everything that is due by now is done."""
        before = max(self.used(), self.last_used)
        self.clock.advance(ms)
        self.kit.store.sync()
        for _ in range(40):
            self.kit.step(0)
            self.kit.worker.run_all()
        self.expect(before)
        self.last_used = self.used()

    def expect(self, used_before: int) -> None:
        now = self.clock.now()
        if self.opened_wall_ms is None:
            self.opened_wall_ms, self.opened_ms = now.wall_ms, now.monotonic_ms
        elapsed_ms = now.monotonic_ms - self.opened_ms
        if elapsed_ms >= CLOCK_SETTLE_MS:
            time_ms = min(now.wall_ms, self.opened_wall_ms + elapsed_ms)
            self.expire(time_ms)
            self.hide(time_ms)
        self.expect_space(used_before)

    def expire(self, time_ms: int) -> None:
        first_times: dict[int, int] = {}
        for log_offset, stored_ms in self.times:
            first_times.setdefault(log_offset // FILE_BYTES, stored_ms)
        while time_ms - first_times.get(self.first_file + 1, time_ms) >= RETENTION_MS:
            self.first_file += 1

    def hide(self, time_ms: int) -> None:
        for queue in QUEUES:
            retention_ms = self.topic_ms.get(queue[0])
            if retention_ms is not None:
                old = [r for r in self.stored[queue] if r.time_ms < time_ms - retention_ms]
                self.hidden[queue] = max(self.hidden[queue], len(old))

    def expect_space(self, used_before: int) -> None:
        """More may have gone for lack of room, and then only as much as was needed."""
        first_file = self.kit.store.min_offset // FILE_BYTES
        assert first_file >= self.first_file
        if first_file > self.first_file:
            assert used_before + SLACK_BYTES > CAPACITY * CLEAN, "for lack of room, if at all"
            left = used_before - (first_file - self.first_file) * FILE_BYTES
            assert max(self.used(), left) + SLACK_BYTES > CAPACITY * CLEAN, "as much as was needed"
            self.first_file = first_file

    def seen_again(self, queue: Queue) -> int:
        """What a topic hid is seen again after a start, as far as its queue files are there."""
        hidden, end = self.hidden[queue], len(self.stored[queue])
        return max(min(hidden, end - 1), 0) // FILE_UNITS * FILE_UNITS

    def first_kept(self, queue: Queue) -> int:
        """The first offset of which the log has the record."""
        start = self.first_file * FILE_BYTES
        return sum(record.log_offset < start for record in self.stored[queue])

    def used(self) -> int:
        return CAPACITY - self.room()

    def room(self) -> int:
        return self.kit.disk.space(ROOT).free_bytes

    # What must hold.

    @invariant()
    def the_log_begins_where_the_model_says(self) -> None:
        assert self.kit.store.min_offset == self.first_file * FILE_BYTES

    @invariant()
    def every_queue_begins_and_ends_where_the_model_says(self) -> None:
        self.kit.store.dispatch()
        for queue in QUEUES:
            found = self.kit.store.queue(*queue)
            if found is None:
                assert self.stored[queue] == []
                continue
            expected = max(self.hidden[queue], self.first_kept(queue))
            assert (found.min_offset, found.max_offset) == (expected, len(self.stored[queue]))

    @invariant()
    def what_is_seen_is_what_was_sent(self) -> None:
        for queue in QUEUES:
            seen = read_all(self.kit.store, *queue)
            found = self.kit.store.queue(*queue)
            start = 0 if found is None else found.min_offset
            sent = self.stored[queue][start:]
            assert [(m.body, m.store_timestamp) for m in seen] == [
                (record.body, record.time_ms) for record in sent
            ]

    @invariant()
    def what_a_reader_got_stays_as_it_was(self) -> None:
        for read, content in self.held:
            assert [bytes(part) for part in read.slices] == content


def test_retention_agrees_with_its_model() -> None:
    run_state_machine_as_test(RetentionMachine, settings=settings(stateful_step_count=50))
