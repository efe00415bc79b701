from dataclasses import replace

import pytest

from aerobee.errors import MessageIllegal, StorageError
from aerobee.ports.clock import Now
from aerobee.service.broker.timer.acceptance import (
    TimerAcceptance,
    TimerCrowded,
    TimerDisabled,
)
from aerobee.service.broker.timer.tick_scale import TickScale
from tests.delay_kit import message
from tests.timer_kit import message_with

NOW = Now(1_700_000_000_400, 0)
AT = 1_700_000_005_500
OUT = 1_700_000_005_000


def acceptance(*, is_enabled: bool = True, counts: dict[int, int] | None = None) -> TimerAcceptance:
    found = counts or {}
    return TimerAcceptance(
        TickScale(1_000, 20_000),
        is_enabled,
        lambda: 10_000,
        lambda: 3,
        lambda out_ms: found.get(out_ms, 0),
    )


def out_ms(**properties: str) -> int:
    return acceptance().out_ms(message_with(properties, queue_id=2), NOW)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"TIMER_DELIVER_MS": str(AT)}, OUT),
        ({"TIMER_DELAY_MS": "5100"}, OUT),
        ({"TIMER_DELAY_SEC": "5"}, OUT),
        ({"TIMER_DELIVER_MS": "1700000006000"}, OUT),
        ({"TIMER_DELIVER_MS": "1700000000401"}, 1_700_000_000_000),
        ({"TIMER_DELAY_MS": "1", "TIMER_DELAY_SEC": "5"}, OUT),
        ({"TIMER_DELIVER_MS": "1", "TIMER_DELAY_MS": "5100"}, OUT),
    ],
)
def test_a_message_waits_for_the_tick_of_its_time(
    properties: dict[str, str], expected: int
) -> None:
    assert out_ms(TAGS="A", **properties) == expected


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"TIMER_DELIVER_MS": str(NOW.wall_ms)},
        {"TIMER_DELIVER_MS": "0"},
        {"TIMER_DELIVER_MS": "-5"},
        {"TIMER_DELAY_MS": "0"},
        {"TIMER_DELAY_SEC": "-3"},
        {"TIMER_DELIVER_MS": str(AT), "TIMER_OUT_MS": str(OUT)},
        {"TIMER_ROLL_TIMES": "3"},
    ],
)
def test_what_has_no_time_to_wait_for_is_stored_where_it_says(properties: dict[str, str]) -> None:
    assert acceptance().out_ms(message_with(properties), NOW) == 0


@pytest.mark.parametrize(("sys_flag", "waits"), [(0, True), (4, False), (8, True), (12, False)])
def test_half_messages_do_not_wait_before_they_are_committed(sys_flag: int, waits: bool) -> None:
    given = replace(message(TIMER_DELIVER_MS=str(AT)), sys_flag=sys_flag)
    assert (acceptance().out_ms(given, NOW) == OUT) is waits


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
        out_ms(**properties)


def test_a_time_too_far_ahead_is_refused_and_the_limit_is_named() -> None:
    assert out_ms(TIMER_DELAY_MS="10000") > 0
    with pytest.raises(MessageIllegal, match=r"10000ms.*10001ms.*timerMaxDelaySec"):
        out_ms(TIMER_DELAY_MS="10001")


def test_what_takes_back_a_message_comes_too_late_when_its_time_has_come() -> None:
    with pytest.raises(MessageIllegal, match="delivered already"):
        out_ms(TIMER_DELIVER_MS="5", TIMER_DEL_UNIQKEY="Orders+a")


def test_a_tick_takes_so_many_messages_and_no_more() -> None:
    given = message(TIMER_DELIVER_MS=str(AT))
    assert acceptance(counts={OUT: 2}).out_ms(given, NOW) == OUT
    with pytest.raises(TimerCrowded, match="flow control"):
        acceptance(counts={OUT: 3}).out_ms(given, NOW)


def test_a_timer_that_is_off_refuses_what_waits_and_nothing_else() -> None:
    off = acceptance(is_enabled=False)
    assert off.out_ms(message(TAGS="A"), NOW) == 0
    with pytest.raises(TimerDisabled, match="not enabled") as caught:
        off.out_ms(message(TIMER_DELAY_SEC="1"), NOW)
    assert isinstance(caught.value, StorageError)


def test_a_time_alone_is_judged_as_one_that_a_message_says() -> None:
    assert acceptance().tick_of(AT, NOW) == OUT
    assert acceptance().tick_of(NOW.wall_ms, NOW) == 0
    with pytest.raises(MessageIllegal):
        acceptance().tick_of(NOW.wall_ms + 10_001, NOW)
    with pytest.raises(MessageIllegal):
        acceptance().tick_of(2**80, NOW)
    with pytest.raises(TimerCrowded):
        acceptance(counts={OUT: 3}).tick_of(AT, NOW)
    with pytest.raises(TimerDisabled):
        acceptance(is_enabled=False).tick_of(AT, NOW)


def test_a_time_has_the_same_tick_with_and_without_a_message() -> None:
    assert acceptance().tick_of(NOW.wall_ms, NOW) == 0
    assert acceptance().tick_of(NOW.wall_ms - 1, NOW) == 0
    for deliver_ms in (NOW.wall_ms + 1, NOW.wall_ms + 2_345):
        given = message_with({"TIMER_DELIVER_MS": str(deliver_ms)})
        assert acceptance().tick_of(deliver_ms, NOW) == acceptance().out_ms(given, NOW) > 0
    with pytest.raises(TimerDisabled):
        acceptance(is_enabled=False).tick_of(NOW.wall_ms, NOW)
