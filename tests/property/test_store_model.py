"""A whole store against lists: any appends, steps, reads, queries, stops, kills and power cuts.

The model is the log as a list of what was appended, in order, with what each append was told. What
a reader may see of it follows by looking at all of it. Disk work runs when a rule says so, in any
order of the lanes. Both flush modes; everything derived may be removed between two lives.
"""

from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aerobee.errors import MessageIllegal, StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import decode_record
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode
from aerobee.storage.read.queue_read import ReadStatus
from aerobee.storage.read.time_search import Boundary
from tests.property.test_reads import Placed, check_read, expected_read
from tests.store_kit import (
    EVERYTHING,
    PREPARED,
    ROLLED_BACK,
    ROOT,
    SMALL,
    StoreKit,
    draft,
    offsets_of,
    properties,
)

Queue = tuple[bytes, int]
QUEUES: tuple[Queue, ...] = ((b"Orders", 0), (b"Orders", 1), (b"Refunds", 3))
CONFIG = SMALL
DERIVED = ("consumequeue", "index", "checkpoint")

queues = st.sampled_from(QUEUES)
tags = st.sampled_from(["", "a", "b", "c"])
keys = st.lists(st.sampled_from(["k1", "k2", "k3"]), max_size=3).map(" ".join)
bodies = st.one_of(st.binary(max_size=40), st.just(b"x" * 900), st.just(b"y" * 1900))


class Entry(NamedTuple):
    """One record of the log."""

    queue: Queue
    body: bytes
    tag: str
    keys: str
    sys_flag: int
    log_offset: int
    end: int
    stored_ms: int

    @property
    def is_queued(self) -> bool:
        return self.sys_flag == 0


def text_of(tag: str, key_words: str) -> bytes:
    named = {name: value for name, value in (("TAGS", tag), ("KEYS", key_words)) if value}
    return properties(**named)


class StoreMachine(RuleBasedStateMachine):
    """M1. `log` is what was appended and not lost. M2. Nothing below `promised` can be lost."""

    @initialize(mode=st.sampled_from(FlushMode))
    def begin(self, mode: FlushMode) -> None:
        self.kit = StoreKit(config=replace(CONFIG, flush_mode=mode))
        self.log: list[Entry] = []
        self.promised = 0
        self.waiting: list[int] = []

    # Appending.

    def append(self, message: MessageDraft, entries: list[tuple[bytes, str, str]]) -> None:
        """The store appends, and the model notes what became of each message."""
        store, clock = self.kit.store, self.kit.clock
        if store.appender.refusal is not None:
            with pytest.raises(StoreBusy):
                self.kit.append(message)
            return
        queue = (message.topic, message.queue_id)
        expected_offset = 0 if message.sys_flag else len(self.queued(queue))
        stored_ms = max([clock.now().wall_ms, *(entry.stored_ms for entry in self.log[-1:])])
        log_offset = self.kit.append(message)
        assert log_offset >= (self.log[-1].end if self.log else 0)
        assert store.appender.queue_offset == expected_offset
        assert store.appender.count == len(entries)
        for index, (body, tag, key_words) in enumerate(entries):
            end = store.end_offset
            if index + 1 < len(entries):
                end = log_offset + self.record_size(log_offset)
            self.log.append(
                Entry(queue, body, tag, key_words, message.sys_flag, log_offset, end, stored_ms)
            )
            log_offset = end

    def record_size(self, log_offset: int) -> int:
        name = log_offset - log_offset % CONFIG.log_file_bytes
        content = self.kit.disk.read(f"{ROOT}/commitlog/{name:020}")
        return int.from_bytes(content[log_offset - name : log_offset - name + 4], "big")

    @rule(queue=queues, body=bodies, tag=tags, key_words=keys)
    def append_one(self, queue: Queue, body: bytes, tag: str, key_words: str) -> None:
        message = draft(*queue, body, text_of(tag, key_words))
        self.append(message, [(body, tag, key_words)])

    @rule(queue=queues, small=st.lists(st.binary(max_size=60), min_size=1, max_size=6), tag=tags)
    def append_batch(self, queue: Queue, small: list[bytes], tag: str) -> None:
        named = {"TAGS": tag} if tag else {}
        message = draft(*queue, encode_batch([BatchMessage(body, named) for body in small]))
        message.is_batch = True
        self.append(message, [(body, tag, "") for body in small])

    @rule(queue=queues, key_words=keys, sys_flag=st.sampled_from([PREPARED, ROLLED_BACK]))
    def append_half(self, queue: Queue, key_words: str, sys_flag: int) -> None:
        message = draft(*queue, b"half", text_of("", key_words), sys_flag=sys_flag)
        self.append(message, [(b"half", "", key_words)])

    @rule(queue=queues, is_batch=st.booleans())
    def append_what_is_refused(self, queue: Queue, is_batch: bool) -> None:
        message = draft(*queue, b"no batch" if is_batch else b"x" * CONFIG.log_file_bytes)
        message.is_batch = is_batch
        end = self.kit.store.end_offset
        with pytest.raises((MessageIllegal, StoreBusy)):
            self.kit.append(message)
        assert self.kit.store.end_offset == end

    @rule()
    def wait_for_the_last(self) -> None:
        end = self.kit.store.end_offset
        self.waiting.append(end)
        self.kit.store.wait_for(end, end)

    # Time and the disk.

    @rule(ms=st.sampled_from([0, 1, 300, 600, 5000]), lanes=st.lists(st.sampled_from(Lane)))
    def step(self, ms: int, lanes: list[Lane]) -> None:
        for lane in lanes:
            self.kit.worker.run_next(lane)
        result = self.kit.step(ms)
        assert result.failed == []
        for end in result.safe:
            assert isinstance(end, int)
            assert end <= self.kit.store.flushed_offset
            self.waiting.remove(end)
        self.promised = max(self.promised, self.kit.store.flushed_offset)

    @rule()
    def settle(self) -> None:
        for end in self.kit.settle():
            assert isinstance(end, int)
            self.waiting.remove(end)
        assert self.waiting == []
        assert self.kit.store.flushed_offset == self.kit.store.end_offset
        self.promised = self.kit.store.end_offset

    @rule(ms=st.sampled_from([-3_600_000, -1, 1, 60_000]))
    def the_wall_clock_is_set(self, ms: int) -> None:
        self.kit.clock.jump_wall(ms)

    # Looking.

    def queued(self, queue: Queue) -> list[Entry]:
        return [entry for entry in self.log if entry.queue == queue and entry.is_queued]

    def visible(self) -> list[Entry]:
        """What readers may see once all that may be dispatched is."""
        store = self.kit.store
        store.dispatch()
        is_sync = self.kit.config.flush_mode is FlushMode.SYNC
        end = store.flushed_offset if is_sync else store.end_offset
        if is_sync:
            self.promised = max(self.promised, end)
        return [entry for entry in self.log if entry.end <= end]

    @rule(
        queue=queues,
        offset=st.integers(-1, 40),
        count_max=st.integers(1, 12),
        bytes_max=st.sampled_from([0, 200, 1000, EVERYTHING]),
        wanted=st.one_of(st.none(), st.frozensets(st.sampled_from(["a", "b", "x"]))),
    )
    def read(
        self,
        queue: Queue,
        offset: int,
        count_max: int,
        bytes_max: int,
        wanted: frozenset[str] | None,
    ) -> None:
        placed = [
            Placed(entry.log_offset, entry.end - entry.log_offset, entry.tag)
            for entry in self.visible()
            if entry.queue == queue and entry.is_queued
        ]
        codes = None if wanted is None else frozenset(tag_code(tag.encode()) for tag in wanted)
        read = self.kit.store.read(*queue, offset, count_max, bytes_max, codes)
        if not placed:
            assert read.status in (
                ReadStatus.NO_MESSAGE_IN_QUEUE,
                ReadStatus.NO_MATCHED_LOGIC_QUEUE,
            )
        elif offset < 0:
            assert (read.status, read.next_offset) == (ReadStatus.OFFSET_TOO_SMALL, 0)
        elif offset == len(placed):
            assert (read.status, read.next_offset) == (ReadStatus.OFFSET_OVERFLOW_ONE, offset)
        elif offset > len(placed):
            assert read.status == ReadStatus.OFFSET_OVERFLOW_BADLY
            assert read.next_offset == len(placed)
        else:
            check_read(read, expected_read(placed, offset, count_max, bytes_max, wanted), placed)

    @rule(topic=st.sampled_from([b"Orders", b"Refunds"]), key=st.sampled_from(["k1", "k2", "k9"]))
    def query_by_key(self, topic: bytes, key: str) -> None:
        expected = [
            entry.log_offset
            for entry in reversed(self.visible())
            if entry.queue[0] == topic
            and key in entry.keys.split()
            and entry.sys_flag != ROLLED_BACK
        ]
        records = self.kit.store.records_by_key(topic, key.encode(), 0, 1 << 60, 64)
        found = [decode_record(bytes(record)).log_offset for record in records]
        assert found == expected[:64]

    @rule(queue=queues, data=st.data(), step=st.integers(-1, 1), boundary=st.sampled_from(Boundary))
    def query_by_time(
        self, queue: Queue, data: st.DataObject, step: int, boundary: Boundary
    ) -> None:
        entries = [e for e in self.visible() if e.queue == queue and e.is_queued]
        found = self.kit.store.queue(*queue)
        if not entries:
            return
        assert found is not None
        time_ms = data.draw(st.sampled_from(entries)).stored_ms + step
        if boundary is Boundary.LOWER:
            expected = sum(1 for entry in entries if entry.stored_ms < time_ms)
        else:
            expected = max(sum(1 for entry in entries if entry.stored_ms <= time_ms) - 1, 0)
        assert self.kit.store.offset_by_time(found, time_ms, boundary) == expected

    @rule(data=st.data())
    def query_by_offset(self, data: st.DataObject) -> None:
        visible = {entry.log_offset: entry for entry in self.visible()}
        offset = data.draw(
            st.one_of(
                st.integers(-1, self.kit.store.end_offset + 9), st.sampled_from([0, *visible])
            )
        )
        record = self.kit.store.record_at(offset)
        assert (record is not None) == (offset in visible)
        if record is not None:
            message, entry = decode_record(bytes(record)), visible[offset]
            assert (message.topic.encode(), message.queue_id) == entry.queue
            assert (message.body, message.store_timestamp) == (entry.body, entry.stored_ms)
            assert (message.tag, " ".join(message.keys)) == (entry.tag, entry.keys)

    # Stopping.

    def reopen(self, disk: SimDisk, removed: list[str]) -> None:
        for path in disk.files():
            if path.startswith(tuple(f"{ROOT}/{name}" for name in removed)):
                disk.remove(path)
        self.kit = StoreKit(disk, self.kit.config, clock=self.kit.clock)
        self.waiting = []
        self.log = [entry for entry in self.log if entry.end <= self.kit.store.end_offset]
        # What a start has found it has also put on the disk.
        self.promised = self.kit.store.end_offset
        for queue in QUEUES:
            count = len(self.queued(queue))
            if count:
                assert offsets_of(self.kit.store.queue(*queue)) == (0, count, count)

    @rule(removed=st.lists(st.sampled_from(DERIVED)))
    def stop_and_start(self, removed: list[str]) -> None:
        count = len(self.log)
        self.kit.store.close()
        self.reopen(self.kit.disk, removed)
        assert len(self.log) == count

    @rule(removed=st.lists(st.sampled_from(DERIVED)))
    def kill(self, removed: list[str]) -> None:
        """The process dies: what was appended is in the machine's memory, flushed or not."""
        count = len(self.log)
        self.reopen(self.kit.disk.kill(), removed)
        assert len(self.log) == count

    @rule(seed=st.integers(0, 1 << 16))
    def power_cut(self, seed: int) -> None:
        """What is left is a beginning of the log, and no promise is broken."""
        states = list(self.kit.disk.crash_states(2, seed, share=0.2)) or [self.kit.disk.power_cut()]
        promised, ends = self.promised, {0, *(entry.end for entry in self.log)}
        self.reopen(states[seed % len(states)], [])
        end = self.kit.store.end_offset
        assert end >= promised
        assert end in ends or end % CONFIG.log_file_bytes == 0

    # What must always hold.

    @invariant()
    def offsets_are_given_out_in_order(self) -> None:
        if not hasattr(self, "kit"):
            return
        for queue in QUEUES:
            found = self.kit.store.queue(*queue)
            if found is not None:
                assert found.next_offset == len(self.queued(queue))
                assert found.max_offset <= found.next_offset


TestStoreModel = StoreMachine.TestCase
TestStoreModel.settings = settings(stateful_step_count=40)
