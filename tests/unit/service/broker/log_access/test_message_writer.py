from dataclasses import replace

import pytest

from aerobee.errors import LocalProtocolError, MessageIllegal
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.properties import decode_properties
from aerobee.ports.clock import Now
from aerobee.service.broker.log_access.message_writer import MessageWriter, delay_level
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.storage.config import FlushMode, StorageConfig
from tests.delay_kit import message
from tests.store_kit import SMALL, SMALL_SYNC, StoreKit, batch_draft, draft, read_all
from tests.timer_kit import message_with

SCHEDULE = b"SCHEDULE_TOPIC_XXXX"
PREPARED, ROLLED_BACK = 0x4, 0xC


class Rig:
    def __init__(self, config: StorageConfig = SMALL, levels: int = 18) -> None:
        self.kit = StoreKit(config=replace(config, log_file_bytes=1 << 16))
        self.intake = MessageWriter(
            self.kit.store, SafeAnswers(self.kit.store, lambda: 5_000), levels
        )
        self.now = self.kit.clock.now()

    def read(self, topic: bytes = b"Orders", queue_id: int = 0) -> list[StoredMessage]:
        self.kit.store.dispatch()
        return read_all(self.kit.store, topic, queue_id)


def test_a_message_is_stored_where_it_says_and_its_place_is_told() -> None:
    rig = Rig()
    rig.intake.put(message(b"first", queue_id=3), rig.now)
    stored = rig.intake.put(message(b"second", queue_id=3, KEYS="k"), rig.now)
    found = rig.read(queue_id=3)[1]
    assert (found.body, found.properties["KEYS"]) == (b"second", "k")
    assert found.store_timestamp == rig.now.wall_ms
    assert (stored.topic, stored.queue_id, stored.queue_offset) == ("Orders", 3, 1)
    assert (stored.log_offset, stored.record_offsets) == (found.log_offset, (found.log_offset,))
    assert stored.end_offset == rig.kit.store.end_offset
    assert rig.intake.stored == 2


@pytest.mark.parametrize("level", [1, 3, 18])
def test_a_delayed_message_is_put_aside_with_its_place_remembered(level: int) -> None:
    rig = Rig()
    stored = rig.intake.put(message(queue_id=2, DELAY=str(level), TAGS="A"), rig.now)
    assert (stored.topic, stored.queue_id) == (SCHEDULE.decode(), level - 1)
    (found,) = rig.read(SCHEDULE, level - 1)
    assert found.properties == {
        "DELAY": str(level),
        "TAGS": "A",
        "REAL_TOPIC": "Orders",
        "REAL_QID": "2",
    }
    assert rig.read(queue_id=2) == []


class Keeper:
    """Who keeps messages for a time: here, those that say so."""

    def out_ms(self, message: StoredMessage, now: Now) -> int:
        return 7_000 if "TIMER_DELIVER_MS" in message.properties else 0

    def tick_of(self, deliver_ms: int, now: Now) -> int:
        return 7_000 if deliver_ms == 7_500 else 0


def test_a_message_for_a_time_goes_to_who_keeps_it() -> None:
    rig = Rig()
    rig.intake.put(message(b"before", TIMER_DELIVER_MS="7500"), rig.now)
    rig.intake.divert_to(Keeper())
    named = {"TIMER_DELIVER_MS": "7500", "REAL_TOPIC": "of an earlier life"}
    stored = rig.intake.put(message_with(named, b"kept", queue_id=3), rig.now)
    assert (stored.topic, stored.out_ms) == ("rmq_sys_wheel_timer", 7_000)
    stored = rig.intake.put(message(b"plain"), rig.now)
    assert (stored.topic, stored.out_ms) == ("Orders", 0)
    assert [found.body for found in rig.read()] == [b"before", b"plain"]
    (kept,) = rig.read(b"rmq_sys_wheel_timer")
    assert (kept.body, kept.queue_id) == (b"kept", 0)
    assert kept.properties == {
        "TIMER_DELIVER_MS": "7500",
        "TIMER_OUT_MS": "7000",
        "REAL_TOPIC": "Orders",
        "REAL_QID": "3",
    }


@pytest.mark.parametrize(
    ("deliver_ms", "topic", "queue_id", "more"),
    [
        (7_500, b"rmq_sys_wheel_timer", 0, "TIMER_OUT_MS\x017000\x02REAL_TOPIC\x01Orders\x02"),
        (1, b"Orders", 3, ""),
    ],
)
def test_a_draft_for_a_time_goes_there_or_where_it_says(
    deliver_ms: int, topic: bytes, queue_id: int, more: str
) -> None:
    rig = Rig()
    rig.intake.divert_to(Keeper())
    one = draft(b"Orders", 3, b"kept")
    stored = rig.intake.put_at(one, b"TAGS\x01A\x02", deliver_ms, rig.now)
    (kept,) = rig.read(topic, queue_id)
    assert (kept.body, kept.log_offset) == (b"kept", stored.log_offset)
    text = f"TAGS\x01A\x02{more}" + ("REAL_QID\x013\x02" if more else "")
    assert kept.properties == decode_properties(text.encode())


def test_properties_that_do_not_fit_with_what_the_timer_adds_are_refused() -> None:
    rig = Rig()
    rig.intake.divert_to(Keeper())
    named = {"TIMER_DELIVER_MS": "7500", "big": "x" * 32_700}
    with pytest.raises(LocalProtocolError, match="do not fit"):
        rig.intake.put(message_with(named), rig.now)
    assert rig.kit.store.end_offset == 0


def test_a_level_goes_before_a_time_and_the_time_is_forgotten() -> None:
    rig = Rig()
    rig.intake.divert_to(Keeper())
    times = {"TIMER_DELIVER_MS": "7500", "TIMER_DELAY_MS": "5", "TIMER_DELAY_SEC": "5"}
    rig.intake.put(message_with({"DELAY": "2", "TAGS": "A", **times}), rig.now)
    (found,) = rig.read(SCHEDULE, 1)
    assert found.properties == {
        "DELAY": "2",
        "TAGS": "A",
        "REAL_TOPIC": "Orders",
        "REAL_QID": "0",
    }


def test_a_delayed_message_as_it_is_goes_where_it_says() -> None:
    rig = Rig()
    rig.intake.put_as_is(message(DELAY="3"), rig.now)
    assert len(rig.read()) == 1
    assert rig.read(SCHEDULE, 2) == []


@pytest.mark.parametrize("sys_flag", [PREPARED, ROLLED_BACK])
def test_half_messages_are_not_delayed(sys_flag: int) -> None:
    rig = Rig()
    half = replace(message(DELAY="3"), sys_flag=sys_flag)
    assert half.transaction_type in (TransactionType.PREPARED, TransactionType.ROLLBACK)
    assert rig.intake.put(half, rig.now).topic == "Orders"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("0", 0),
        ("1", 1),
        (" 2 ", 2),
        ("18", 18),
        ("19", 18),
        ("99999999999999999999", 18),
        ("-1", 0),
        ("", 0),
        ("x", 0),
        ("1.5", 0),
        ("٣", 0),
    ],
)
def test_a_level_is_cut_to_what_there_is_and_what_is_none_is_no_delay(
    text: str, level: int
) -> None:
    assert delay_level(message(DELAY=text), 18) == level


def test_a_level_beyond_the_last_is_stored_as_the_last() -> None:
    rig = Rig(levels=2)
    rig.intake.put(message(DELAY="7"), rig.now)
    (found,) = rig.read(SCHEDULE, 1)
    assert found.properties["DELAY"] == "2"


def test_a_batch_is_as_many_records_each_with_its_place() -> None:
    rig = Rig()
    stored = rig.intake.put_draft(batch_draft(b"Orders", 0, [b"a", b"b", b"c"]), rig.now)
    found = rig.read()
    assert [one.body for one in found] == [b"a", b"b", b"c"]
    assert list(stored.record_offsets) == [one.log_offset for one in found]
    assert (stored.queue_offset, rig.intake.stored) == (0, 3)


def test_what_is_refused_is_not_counted() -> None:
    rig = Rig()
    with pytest.raises(MessageIllegal):
        rig.intake.put(message(b"x" * (1 << 16)), rig.now)
    assert (rig.intake.stored, rig.kit.store.end_offset) == (0, 0)


def test_without_synchronous_flush_a_message_may_be_spoken_of_at_once() -> None:
    rig = Rig()
    told: list[bool] = []
    rig.intake.when_safe(rig.intake.put(message(), rig.now).end_offset, told.append)
    assert told == [True]


def released(rig: Rig, ms: int = 1) -> list[tuple[object, bool]]:
    done = rig.kit.step(ms)
    return [(one, True) for one in done.safe] + [(one, False) for one in done.failed]


def test_with_synchronous_flush_it_may_be_when_the_disk_has_it() -> None:
    rig = Rig(SMALL_SYNC)
    assert SMALL_SYNC.flush_mode is FlushMode.SYNC
    told: list[bool] = []
    then = told.append
    rig.intake.when_safe(rig.intake.put(message(), rig.now).end_offset, then)
    assert released(rig) == []
    rig.kit.worker.run_all()
    assert released(rig) == [(then, True)]


def test_with_synchronous_flush_it_never_may_be_when_the_disk_failed() -> None:
    rig = Rig(SMALL_SYNC)
    told: list[bool] = []
    then = told.append
    rig.kit.disk.faults.fail_sync("*commitlog*")
    rig.intake.when_safe(rig.intake.put(message(), rig.now).end_offset, then)
    released(rig)
    rig.kit.worker.run_all()
    assert released(rig) == [(then, False)]
