"""The timer and the delay levels, compiled and pure: the same messages and the same time leave the
same bytes in every file.

Each side lives in a world of its own. What waits is put into the log as it comes, with properties
that say something, nothing, or nonsense.
"""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from tests.pure import pure

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.service.broker.log_access.redelivery"), reason="nothing is compiled"
)

ROOT = "store"
START_MS = 1_700_000_000_000
TIMER = b"rmq_sys_wheel_timer"
SCHEDULE = b"SCHEDULE_TOPIC_XXXX"


class World:
    """A store with a timer and delay levels over it, all of whose parts come from one side."""

    def __init__(self, module: Callable[[str], Any]) -> None:
        self._module = module
        self.disk = module("aerobee.sim.disk").SimDisk()
        self.clock = module("aerobee.sim.clock").SimClock()
        self.open()

    def open(self) -> None:
        module = self._module
        storage = module("aerobee.storage.config")
        config = storage.StorageConfig(
            log_file_bytes=1 << 17,
            queue_file_units=50,
            index_slots=7,
            index_units=9,
            flush_lag_ms_max=1 << 40,
            delay_levels_ms=(1_000, 3_000),
        )
        broker = module("aerobee.service.broker.config")
        told = broker.BrokerConfig(
            timer_wheel_slots=64, timer_window_slots=20, timer_log_file_bytes=5 * 52 + 20
        )
        live = module("aerobee.service.live_config")
        self.worker = module("aerobee.sim.disk_worker").SimDiskWorker()
        self.store = module("aerobee.storage.store").Store.open(
            self.disk, ROOT, config, self.worker
        )
        answers = module("aerobee.service.broker.log_access.safe_answers").SafeAnswers(
            self.store, lambda: 5_000
        )
        intake = module("aerobee.service.broker.log_access.message_writer").MessageWriter(
            self.store, answers, 2
        )
        ground = module("aerobee.service.broker.state.tables").Ground(
            self.store, self.disk, self.worker
        )
        changes = live.ChangesFile(self.disk, f"{ROOT}/config/changes", {})
        now = self.clock.now()
        self.timers = module("aerobee.service.broker.timer.timers").Timers(
            ground, intake, live.LiveConfig(told, broker.SETTINGS, changes, self.worker, {}), now
        )
        files = module("aerobee.storage.metadata.config_file")
        offsets = module("aerobee.service.broker.state.delay_offsets").DelayOffsets(
            files.ConfigFile(self.disk, f"{ROOT}/config/delayOffset.json"), self.worker
        )
        self.levels = module("aerobee.service.broker.delay.delay_levels").DelayLevels(
            self.store, intake, offsets, self.worker, config.delay_levels_ms, now
        )

    def put(self, topic: bytes, queue_id: int, text: bytes, body: bytes) -> None:
        draft = self._module("aerobee.protocol.message.message_draft").MessageDraft()
        draft.topic, draft.queue_id = topic, queue_id
        draft.born_timestamp = self.clock.now().wall_ms
        draft.set_properties(text)
        draft.set_body(memoryview(body))
        self.store.append(draft, self.clock.now().wall_ms)

    def tick(self, ms: int) -> None:
        self.worker.run_all()
        now = self.clock.advance(ms)
        self.store.step(now)
        self.levels.on_tick(now)
        self.timers.on_tick(now)
        self.store.dispatch()

    def jump(self, ms: int) -> None:
        self.clock.jump_wall(ms)

    def stop(self) -> None:
        now = self.clock.now()
        self.timers.stop(now)
        self.levels.stop(now)
        self.store.close()
        self.open()

    def kill(self) -> None:
        self.disk = self.disk.kill()
        self.open()

    def seen(self) -> Any:
        return (
            self.timers.delivered,
            self.levels.delivered,
            self.levels.progress(),
            self.timers.rest_ms(self.clock.now()),
            self.store.end_offset,
            tuple(self.timers.saved),
        )


def text_of(out_ms: int | None, topic: bytes, queue_id: bytes, more: bytes) -> bytes:
    out = b"" if out_ms is None else b"TIMER_OUT_MS\x01%d\x02" % (START_MS + 1_000 * out_ms)
    return more + out + b"REAL_TOPIC\x01%b\x02REAL_QID\x01%b\x02" % (topic, queue_id)


ids = st.sampled_from([b"a", b"b", b"c"])
mores = st.one_of(
    st.sampled_from([b"", b"TAGS\x01t\x02", b"TIMER_DELAY_MS\x01500\x02", b"KEYS\x01k\x02"]),
    ids.map(lambda one: b"UNIQ_KEY\x01%b\x02" % one),
    ids.map(lambda one: b"TIMER_DEL_UNIQKEY\x01Orders+%b\x02" % one),
)
texts = st.builds(
    text_of,
    st.one_of(st.none(), st.integers(0, 30), st.integers(-5, 60)),
    st.sampled_from([b"Orders", b"Orders", b"Refunds", TIMER, b"", b"a/b"]),
    st.sampled_from([b"0", b"0", b"1", b"x", b""]),
    mores,
)
puts = st.tuples(
    st.just("put"),
    st.sampled_from([(TIMER, 0), (TIMER, 0), (SCHEDULE, 0), (SCHEDULE, 1)]),
    texts,
    st.sampled_from([b"", b"body"]),
)
steps = st.one_of(
    puts,
    puts,
    puts,
    st.tuples(st.just("tick"), st.sampled_from([20, 400, 1_000, 5_000])),
    st.tuples(st.just("tick"), st.sampled_from([20, 400, 1_000, 5_000])),
    st.tuples(st.just("jump"), st.sampled_from([-3_000, 200, 9_000])),
    st.tuples(st.sampled_from(["stop", "kill"])),
)


def take(world: World, step: tuple[Any, ...]) -> None:
    if step[0] == "put":
        _, (topic, queue_id), text, body = step
        world.put(topic, queue_id, text, body)
    else:
        getattr(world, step[0])(*step[1:])


@settings(max_examples=40)
@given(st.lists(steps, min_size=5, max_size=40))
def test_both_timers_leave_the_same_bytes(many: list[tuple[Any, ...]]) -> None:
    worlds = [World(importlib.import_module), World(pure)]
    for step in [*many, *[("tick", 500)] * 8]:
        for world in worlds:
            take(world, step)
        assert worlds[0].seen() == worlds[1].seen(), step
    ours, theirs = (world.disk.files() for world in worlds)
    assert ours.keys() == theirs.keys()
    for path in ours:
        assert ours[path] == theirs[path], path
