"""Messages for a time as Apache RocketMQ 5.5.0 left them: its wheel, log and checkpoint read by
ours, what it delivered made again, what still waits delivered."""

import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.protocol.message.stored_message import encode_record
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.redelivery import Redelivery
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.tables import Ground
from aerobee.service.broker.timer.slot_walk import SlotWalk
from aerobee.service.broker.timer.tick_scale import TickScale
from aerobee.service.broker.timer.timer_roll import stamp
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import decode_check
from aerobee.storage.timer.timer_log import TimerLog
from aerobee.storage.timer.timer_wheel import SLOT_COUNT, TimerWheel
from aerobee.system.disk import MappedDisk
from tests.fixture_store import STORES, files, unpack
from tests.store_kit import SMALL, StoreKit, read_all
from tests.vectors.test_apache_delays import meaning
from tests.vectors.test_apache_stores import CONFIG, opened

TIMER = b"rmq_sys_wheel_timer"
LOG_FILE_BYTES = 1_048_576
SCALE = TickScale(1_000, 172_800_000)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = opened(unpack("clean", tmp_path))
    yield made
    made.close()


def log_of(root: str) -> TimerLog:
    log = TimerLog(MappedDisk(), f"{root}/timerlog", LOG_FILE_BYTES)
    assert log.load(LOG_FILE_BYTES)
    return log


def test_apaches_units_are_read_and_are_those_that_we_would_write(store: Store) -> None:
    log = log_of(store.root)
    waiting = read_all(store, TIMER, 0)
    found = [log.unit(52 * number) for number in range(len(waiting))]
    assert log.unit(52 * len(waiting)) is None
    for unit, message in zip(found, waiting, strict=True):
        assert unit is not None
        assert (unit.log_offset, unit.record_size) == (message.log_offset, message.store_size)
        out_ms = int(message.properties["TIMER_OUT_MS"])
        written_ms = SCALE.floor(message.store_timestamp)
        assert unit.time_ms == SCALE.slot_ms(out_ms, written_ms)
        assert bool(unit.magic & 2) == SCALE.is_beyond(out_ms, written_ms)
        assert abs(unit.enqueue_ms - message.store_timestamp) <= 2_000


def test_apaches_wheel_is_read_slot_by_slot(store: Store) -> None:
    wheel = TimerWheel(MappedDisk(), f"{store.root}/timerwheel", SLOT_COUNT, 1_000)
    assert wheel.load()
    log = log_of(store.root)
    by_slot: dict[int, list[int]] = {}
    for number in range(len(read_all(store, TIMER, 0))):
        unit = log.unit(52 * number)
        assert unit is not None
        by_slot.setdefault(unit.time_ms, []).append(52 * number)
    for time_ms, positions in by_slot.items():
        slot = wheel.find(time_ms)
        assert slot is not None
        assert (slot.first, slot.last) == (positions[0], positions[-1])
        assert slot.waiting == len(positions)
        walk = SlotWalk(log, slot)
        walk.step(100)
        assert [walk.position(index) for index in range(walk.left)] == positions
    assert wheel.next_time(0, 1 << 50) == min(by_slot)


def test_apaches_checkpoint_is_read_and_has_no_seal(store: Store) -> None:
    (content,) = (one.content() for one in files("clean") if one.path == "config/timercheck")
    found = decode_check(content)
    assert found is not None
    check, seal = found
    assert seal is None
    assert check == struct.unpack(">7q", content[:56])
    assert check.queue_offset == len(read_all(store, TIMER, 0))


def test_what_we_deliver_is_what_apaches_broker_delivered(store: Store) -> None:
    log = log_of(store.root)
    copies: dict[str, StoredMessage] = {
        copy.unique_id: copy
        for queue in store.queues()
        if queue.topic.startswith((b"FixDelay", b"rmq_sys_REVIVE"))
        for copy in read_all(store, queue.topic, queue.queue_id)
        if "TIMER_OUT_MS" in copy.properties
    }
    compared = 0
    for number, waiting in enumerate(read_all(store, TIMER, 0)):
        copy = copies.get(waiting.unique_id)
        unit = log.unit(52 * number)
        if copy is None:
            continue
        assert unit is not None
        kit = StoreKit(config=replace(SMALL, log_file_bytes=1 << 16))
        dequeue_ms = int(copy.properties["TIMER_DEQUEUE_MS"])
        redelivery = Redelivery(kit.store.appender)
        redelivery.read(memoryview(encode_record(waiting)))
        redelivery.put(stamp(unit.enqueue_ms, dequeue_ms), dequeue_ms)
        kit.store.dispatch()
        (queue,) = kit.store.queues()
        (found,) = read_all(kit.store, queue.topic, queue.queue_id)
        assert meaning(found) == meaning(copy)
        compared += 1
    assert compared == len(copies) > 10


@pytest.mark.parametrize("name", STORES)
def test_what_waits_in_apaches_store_is_delivered_at_its_time_and_nothing_again(
    name: str, tmp_path: Path
) -> None:
    store = opened(unpack(name, tmp_path))
    worker = SimDiskWorker(inline=True)
    told = BrokerConfig(timer_log_file_bytes=LOG_FILE_BYTES)
    config = LiveConfig(told, SETTINGS, ChangesFile(SimDisk(), "changes", {}), worker, {})
    intake = MessageWriter(store, SafeAnswers(store, lambda: 5_000), len(CONFIG.delay_levels_ms))
    now = Now(max(one.store_timestamp for one in read_all(store, TIMER, 0)) + 60_000, 0)
    before = store.end_offset
    timers = Timers(Ground(store, MappedDisk(), worker), intake, config, now)

    def pass_ms(ms: int) -> None:
        nonlocal now
        now = Now(now.wall_ms + ms, now.monotonic_ms + ms)
        for _ in range(5):
            store.step(now)
            timers.on_tick(now)
            store.dispatch()
            worker.collect()

    pass_ms(1_000)
    pass_ms(1_000)
    assert store.end_offset == before, "nothing is due, and nothing was forgotten"
    waits = [
        one for one in read_all(store, TIMER, 0) if one.properties.get("KEYS") == "in-172800-s"
    ]
    out_ms = int(waits[0].properties["TIMER_OUT_MS"])
    pass_ms(out_ms - now.wall_ms)
    assert not [one for one in read_all(store, b"FixDelay", 1) if one.keys == ("in-172800-s",)]
    pass_ms(1_000)
    found = [one for one in read_all(store, b"FixDelay", 1) if one.keys == ("in-172800-s",)]
    assert [one.body for one in found] == [waits[0].body]
    timers.stop(now)
    store.close()
