"""The whole store, compiled and pure: the same calls leave the same bytes and the same answers.

Each side lives in a world of its own, with its own classes, disk, worker and clock. Every call goes
to both; what it returns or raises is compared at once, and after each life every file of the disk.
"""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.model.names import SCHEDULE_TOPIC
from tests.pure import pure

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.storage.commit.commit_log"), reason="nothing is compiled"
)

ROOT = "store"
Outcome = tuple[str, Any]


class World:
    """One store, all of whose parts come from one side."""

    def __init__(self, module: Callable[[str], Any], mode: str, with_crc: bool) -> None:
        config = module("aerobee.storage.config")
        self._errors = module("aerobee.errors").AerobeeError
        self._draft = module("aerobee.protocol.message.message_draft").MessageDraft
        self._store = module("aerobee.storage.store").Store
        self._boundary = module("aerobee.storage.read.time_search").Boundary
        self._worker_type = module("aerobee.sim.disk_worker").SimDiskWorker
        self._lanes = list(module("aerobee.ports.disk_worker").Lane)
        self._config = config.StorageConfig(
            log_file_bytes=4096,
            queue_file_units=5,
            index_slots=7,
            index_units=9,
            flush_mode=config.FlushMode[mode],
            record_crc=with_crc,
        )
        self.disk = module("aerobee.sim.disk").SimDisk()
        self.clock = module("aerobee.sim.clock").SimClock()
        self.open()

    def open(self) -> None:
        self.worker = self._worker_type()
        self.store = self._store.open(self.disk, ROOT, self._config, self.worker)

    def call(self, operation: str, *arguments: Any) -> Outcome:
        """What an operation gives, in words that do not depend on the world."""
        try:
            return "ok", getattr(self, operation)(*arguments)
        except self._errors as error:
            return type(error).__name__, str(error)

    # Operations.

    def append(self, fields: dict[str, Any], body: bytes, text: bytes) -> Any:
        draft = self._draft()
        draft.set_body(memoryview(body))
        draft.set_properties(text)
        for name, value in fields.items():
            setattr(draft, name, value)
        offset = self.store.append(draft, self.clock.now().wall_ms)
        appender = self.store.appender
        return offset, appender.queue_offset, appender.count, self.store.end_offset

    def fill(self, messages: list[tuple[dict[str, Any], bytes, bytes]]) -> Any:
        return [self.call("append", *message) for message in messages]

    def step(self, ms: int, lanes: list[int]) -> Any:
        for lane in lanes:
            self.worker.run_next(self._lanes[lane])
        result = self.store.step(self.clock.advance(ms))
        return tuple(result), self.store.flushed_offset, self.queues()

    def queues(self) -> Any:
        return [
            (q.topic, q.queue_id, q.min_offset, q.max_offset, q.next_offset, q.log_end)
            for q in self.store.queues()
        ]

    def wait(self) -> None:
        self.store.wait_for(self.store.end_offset, self.store.end_offset)

    def read(
        self,
        topic: bytes,
        queue_id: int,
        offset: int,
        count_max: int,
        bytes_max: int,
        codes: frozenset[int] | None,
    ) -> Any:
        self.store.dispatch()
        read = self.store.read(topic, queue_id, offset, count_max, bytes_max, codes)
        slices = [bytes(part) for part in read.slices]
        bounds = (int(read.status), read.next_offset, read.min_offset, read.max_offset)
        return *bounds, read.count, read.size, read.is_cold, slices

    def by_key(self, topic: bytes, key: bytes, begin_ms: int, end_ms: int) -> Any:
        self.store.dispatch()
        return [bytes(r) for r in self.store.records_by_key(topic, key, begin_ms, end_ms, 64)]

    def by_time(self, topic: bytes, queue_id: int, time_ms: int, boundary: str) -> Any:
        queue = self.store.queue(topic, queue_id)
        if queue is None:
            return None
        return self.store.offset_by_time(queue, time_ms, self._boundary[boundary])

    def at(self, log_offset: int) -> Any:
        record = self.store.record_at(log_offset)
        return None if record is None else bytes(record)

    def jump(self, ms: int) -> None:
        self.clock.jump_wall(ms)

    def restart(self, removed: str) -> None:
        self.store.close()
        for path in self.disk.files():
            if removed and path.startswith(f"{ROOT}/{removed}"):
                self.disk.remove(path)
        self.open()

    def kill(self) -> None:
        self.disk = self.disk.kill()
        self.open()

    def power_cut(self, seed: int) -> str:
        states = list(self.disk.crash_states(2, seed, share=0.1)) or [self.disk.power_cut()]
        self.disk = states[seed % len(states)]
        self.open()
        return str(self.disk.origin)


class BothWorlds:
    def __init__(self, mode: str, with_crc: bool) -> None:
        self.compiled = World(importlib.import_module, mode, with_crc)
        self.pure = World(pure, mode, with_crc)

    def call(self, operation: str, *arguments: Any) -> None:
        ours = self.compiled.call(operation, *arguments)
        theirs = self.pure.call(operation, *arguments)
        assert ours == theirs, operation
        if operation in ("restart", "kill", "power_cut"):
            assert ours[0] == "ok", "a store opens after any stop"
            self.compare_files()

    def compare_files(self) -> None:
        ours, theirs = self.compiled.disk.files(), self.pure.disk.files()
        assert ours.keys() == theirs.keys()
        for path in ours:
            assert ours[path] == theirs[path], path


int32 = st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from([0, 1, -(2**31), 2**31 - 1]))
int64 = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, 1, -(2**63), 2**63 - 1]))
topics = st.sampled_from(
    [
        b"Orders",
        b"Refunds",
        SCHEDULE_TOPIC.encode(),
        b"T" * 127,
        b"T" * 128,
        b"",
        b"a/b",
        b"t" * 256,
    ]
)
good_topics = st.sampled_from([b"Orders", b"Refunds", b"T" * 128])
queue_ids = st.sampled_from([0, 0, 1, 4095, 4096, -1])
names = st.sampled_from(
    [b"TAGS", b"KEYS", b"UNIQ_KEY", b"DELAY", b"INNER_BASE", b"INNER_NUM", b"x"]
)
values = st.one_of(
    st.sampled_from([b"", b"a", b"k1 k2  k1", b"1", b"3", b"0", b"99"]),
    st.text(max_size=6).map(str.encode),
    st.binary(max_size=6),
)
texts = st.one_of(
    st.lists(st.tuples(names, values), max_size=5).map(
        lambda pairs: b"".join(name + b"\1" + value + b"\2" for name, value in pairs)
    ),
    st.lists(st.sampled_from([b"\1", b"\2", b"TAGS", b"KEYS", b"k", b"DELAY"]), max_size=9).map(
        b"".join
    ),
    st.sampled_from([b"x" * 32747, b"x" * 32767, b"__CRC32#\x01" + b"1" * 10 + b"\x02"]),
)
batch_entries = st.lists(
    st.tuples(st.binary(max_size=20), st.lists(st.tuples(names, values), max_size=2), int32),
    max_size=5,
)


def batch_of(entries: list[tuple[bytes, list[tuple[bytes, bytes]], int]]) -> bytes:
    parts = []
    for body, pairs, flag in entries:
        text = b"".join(name + b"\1" + value + b"\2" for name, value in pairs)
        head = (22 + len(body) + len(text), 0, 0, flag, len(body))
        parts += [number.to_bytes(4, "big", signed=True) for number in head]
        parts += [body, len(text).to_bytes(2, "big"), text]
    return b"".join(parts)


plain_bodies = st.one_of(
    st.binary(max_size=30), st.sampled_from([b"x" * 900, b"y" * 2500, b"z" * 2501])
)
batch_bodies = st.one_of(
    batch_entries.map(batch_of),
    st.tuples(batch_entries.map(batch_of), st.integers(1, 30)).map(lambda p: p[0][: -p[1]]),
    st.binary(max_size=60),
)
sys_flags = st.one_of(st.sampled_from([0, 0, 0, 0x4, 0x8, 0xC, 0x80, 0x30]), int32)
fields = st.fixed_dictionaries(
    {"topic": topics, "queue_id": queue_ids},
    optional={
        "sys_flag": sys_flags,
        "flag": int32,
        "born_timestamp": int64,
        "born_host": st.sampled_from([bytes(8), bytes(range(20)), b"", bytes(19), bytes(21)]),
        "reconsume_times": int32,
        "prepared_offset": int64,
    },
)
plain_fields = st.fixed_dictionaries(
    {"topic": good_topics, "queue_id": st.integers(0, 1)}, optional={"sys_flag": sys_flags}
)
tag_codes = st.one_of(st.none(), st.frozensets(st.sampled_from([0, 97, 2598919])))
offsets = st.one_of(st.integers(-1, 30), st.sampled_from([1 << 40, -(1 << 40)]))
times = st.one_of(
    st.integers(1_700_000_000_000 - 5000, 1_700_000_020_000), st.sampled_from([0, 1 << 60])
)

good_texts = st.lists(st.tuples(names, values.filter(lambda v: not {1, 2} & {*v})), max_size=4).map(
    lambda pairs: b"".join(name + b"\1" + value + b"\2" for name, value in pairs)
)
fillings = st.lists(
    st.tuples(plain_fields, st.sampled_from([b"", b"body", b"x" * 400]), good_texts),
    min_size=4,
    max_size=16,
)

lookings = st.one_of(
    st.tuples(
        st.just("read"),
        good_topics,
        st.integers(0, 1),
        offsets,
        st.integers(0, 12),
        st.sampled_from([0, 300, 1 << 40]),
        tag_codes,
    ),
    st.tuples(
        st.just("by_key"), good_topics, st.sampled_from([b"k1", b"k2", b"a", b"T#a"]), times, times
    ),
    st.tuples(
        st.just("by_time"),
        good_topics,
        st.integers(0, 1),
        times,
        st.sampled_from(["LOWER", "UPPER"]),
    ),
    st.tuples(st.just("at"), st.one_of(st.integers(-1, 9000), int64)),
)
writings = st.one_of(
    st.tuples(st.just("fill"), fillings),
    st.tuples(st.just("append"), plain_fields, plain_bodies, texts),
    st.tuples(st.just("append"), fields, plain_bodies, texts),
    st.tuples(
        st.just("append"),
        plain_fields.map(lambda found: {**found, "is_batch": True}),
        batch_bodies,
        st.just(b""),
    ),
)
passings = st.one_of(
    st.tuples(
        st.just("step"),
        st.sampled_from([0, 1, 400, 600, 6000]),
        st.lists(st.integers(0, 1), max_size=6),
    ),
    st.tuples(st.just("wait")),
    st.tuples(st.just("jump"), st.integers(-4000, 4000)),
)
stops = st.one_of(
    st.tuples(st.just("restart"), st.sampled_from(["", "consumequeue", "index", "checkpoint"])),
    st.tuples(st.just("kill")),
    st.tuples(st.just("power_cut"), st.integers(0, 1 << 16)),
)


# A life: something is written, time passes, all of it again; then readers look, and it ends.
lives = st.tuples(
    st.lists(st.one_of(writings, writings, passings), min_size=2, max_size=12),
    st.lists(lookings, min_size=1, max_size=8),
    stops,
)


@settings(max_examples=60)
@given(st.sampled_from(["ASYNC", "SYNC"]), st.booleans(), st.lists(lives, min_size=1, max_size=4))
def test_the_same_calls_leave_the_same_bytes_and_give_the_same_answers(
    mode: str, with_crc: bool, lived: list[tuple[list[Any], list[Any], Any]]
) -> None:
    both = BothWorlds(mode, with_crc)
    for written, looked, stopped in lived:
        for call in (*written, *looked, stopped):
            both.call(*call)
    both.call("restart", "")


def test_both_sides_are_what_they_claim() -> None:
    both = BothWorlds("SYNC", True)
    assert type(both.compiled.store) is not type(both.pure.store)
    for name in ("commit.commit_log", "dispatch.dispatcher", "read.queue_reader", "appender"):
        assert importlib.import_module(f"aerobee.storage.{name}").is_compiled()
        assert not pure(f"aerobee.storage.{name}").is_compiled()


def test_a_damaged_log_is_damaged_in_the_same_words() -> None:
    """Every byte of the newest file of a crashed store, flipped."""
    both = BothWorlds("ASYNC", True)
    for number in range(6):
        text = b"KEYS\1k%d\2" % number
        both.call("append", {"topic": b"Orders", "queue_id": number % 2}, b"x" * number, text)
    both.call("step", 600, [0, 0])
    both.call("step", 1, [0, 0, 1, 1])
    both.call("append", {"topic": b"Orders", "queue_id": 0}, b"unflushed", b"")
    path = f"{ROOT}/commitlog/{0:020}"
    used = both.compiled.store.end_offset
    worlds = (both.compiled, both.pure)
    disks = [world.disk for world in worlds]
    for position in range(0, used + 8, 3):
        outcomes = []
        for world, disk in zip(worlds, disks, strict=True):
            world.disk = disk.kill()
            file = world.disk.open(path)
            file.view[position] ^= 0x41
            file.sync()
            file.close()
            outcome = world.call("open")
            outcomes.append((outcome, world.disk.files() if outcome[0] == "ok" else None))
        assert outcomes[0] == outcomes[1], position
