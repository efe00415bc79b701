from dataclasses import replace

import pytest

from aerobee.errors import MessageIllegal, StorageError
from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.service.broker.timer.acceptance import (
    TimerAcceptance,
    TimerCrowded,
    TimerDisabled,
)
from aerobee.service.broker.timer.timer_scale import TimerScale
from tests.delay_kit import message
from tests.timer_kit import message_with

NOW = Now(1_700_000_000_400, 0)
AT = 1_700_000_005_500
OUT = "1700000005000"


def acceptance(*, is_enabled: bool = True, counts: dict[int, int] | None = None) -> TimerAcceptance:
    found = counts or {}
    return TimerAcceptance(
        TimerScale(1_000, 20_000),
        is_enabled,
        lambda: 10_000,
        lambda: 3,
        lambda out_ms: found.get(out_ms, 0),
    )


def diverted(**properties: str) -> StoredMessage:
    return acceptance().diverted(message_with(properties, queue_id=2), NOW)


@pytest.mark.parametrize(
    ("properties", "out_ms"),
    [
        ({"TIMER_DELIVER_MS": str(AT)}, OUT),
        ({"TIMER_DELAY_MS": "5100"}, OUT),
        ({"TIMER_DELAY_SEC": "5"}, OUT),
        ({"TIMER_DELIVER_MS": "1700000006000"}, OUT),
        ({"TIMER_DELIVER_MS": "1700000000401"}, "1700000000000"),
        ({"TIMER_DELAY_MS": "1", "TIMER_DELAY_SEC": "5"}, OUT),
        ({"TIMER_DELIVER_MS": "1", "TIMER_DELAY_MS": "5100"}, OUT),
    ],
)
def test_a_message_for_a_time_goes_to_the_timer_with_its_place_remembered(
    properties: dict[str, str], out_ms: str
) -> None:
    found = diverted(TAGS="A", **properties)
    assert (found.topic, found.queue_id) == ("rmq_sys_wheel_timer", 0)
    assert found.properties == {
        "TAGS": "A",
        **properties,
        "TIMER_OUT_MS": out_ms,
        "REAL_TOPIC": "Orders",
        "REAL_QID": "2",
    }


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"TIMER_DELIVER_MS": str(NOW.wall_ms)},
        {"TIMER_DELIVER_MS": "0"},
        {"TIMER_DELIVER_MS": "-5"},
        {"TIMER_DELAY_MS": "0"},
        {"TIMER_DELAY_SEC": "-3"},
        {"TIMER_DELIVER_MS": str(AT), "TIMER_OUT_MS": OUT},
        {"TIMER_ROLL_TIMES": "3"},
    ],
)
def test_what_has_no_time_to_wait_for_is_stored_where_it_says(properties: dict[str, str]) -> None:
    given = message_with(properties)
    assert acceptance().diverted(given, NOW) is given


@pytest.mark.parametrize(("sys_flag", "waits"), [(0, True), (4, False), (8, True), (12, False)])
def test_half_messages_do_not_wait_before_they_are_committed(sys_flag: int, waits: bool) -> None:
    given = replace(message(TIMER_DELIVER_MS=str(AT)), sys_flag=sys_flag)
    assert (acceptance().diverted(given, NOW) is not given) is waits


@pytest.mark.parametrize(
    "properties",
    [
        {"TIMER_DELIVER_MS": "soon"},
        {"TIMER_DELIVER_MS": "1" * 16},
        {"TIMER_DELAY_MS": "1.5"},
        {"TIMER_DELAY_SEC": "١٢"},
        {"TIMER_DELAY_SEC": "--1"},
    ],
)
def test_a_time_that_is_no_number_is_refused(properties: dict[str, str]) -> None:
    with pytest.raises(MessageIllegal, match="is no number"):
        diverted(**properties)


def test_a_time_too_far_ahead_is_refused_and_the_limit_is_named() -> None:
    assert diverted(TIMER_DELAY_MS="10000").topic == "rmq_sys_wheel_timer"
    with pytest.raises(MessageIllegal, match=r"10000ms.*10001ms.*timerMaxDelaySec"):
        diverted(TIMER_DELAY_MS="10001")


def test_what_takes_back_a_message_comes_too_late_when_its_time_has_come() -> None:
    with pytest.raises(MessageIllegal, match="delivered already"):
        diverted(TIMER_DELIVER_MS="5", TIMER_DEL_UNIQKEY="Orders+a")


def test_a_tick_takes_so_many_messages_and_no_more() -> None:
    given = message(TIMER_DELIVER_MS=str(AT))
    acceptance(counts={int(OUT): 2}).diverted(given, NOW)
    with pytest.raises(TimerCrowded, match="flow control"):
        acceptance(counts={int(OUT): 3}).diverted(given, NOW)


def test_a_timer_that_is_off_refuses_what_waits_and_nothing_else() -> None:
    off = acceptance(is_enabled=False)
    given = message(TAGS="A")
    assert off.diverted(given, NOW) is given
    with pytest.raises(TimerDisabled, match="not enabled") as caught:
        off.diverted(message(TIMER_DELAY_SEC="1"), NOW)
    assert isinstance(caught.value, StorageError)
