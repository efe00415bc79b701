import pytest

from aerobee.service.broker.timer.tick_scale import TickScale

SCALE = TickScale(1_000, 20_000)


@pytest.mark.parametrize(
    ("deliver_ms", "out_ms"),
    [(10_001, 10_000), (10_999, 10_000), (11_000, 10_000), (10_000, 9_000)],
)
def test_a_time_belongs_to_the_tick_in_which_it_passes(deliver_ms: int, out_ms: int) -> None:
    assert SCALE.out_ms(deliver_ms) == out_ms
    assert out_ms < deliver_ms <= out_ms + SCALE.precision_ms


@pytest.mark.parametrize("deliver_ms", range(99_000, 102_001, 37))
def test_when_its_tick_is_over_a_message_is_due_and_less_than_a_tick_late(deliver_ms: int) -> None:
    assert 0 <= SCALE.out_ms(deliver_ms) + SCALE.precision_ms - deliver_ms < SCALE.precision_ms


@pytest.mark.parametrize(
    ("out_ms", "slot_ms", "is_rolled"),
    [
        (101_000, 101_000, False),
        (119_000, 119_000, False),
        (120_000, 110_000, True),  # a little beyond the window: half of it
        (126_000, 110_000, True),
        (127_000, 120_000, True),  # far beyond it
        (999_000, 120_000, True),
        (3_000, 3_000, False),  # long ago
    ],
)
def test_what_waits_for_longer_than_the_window_gets_a_nearer_slot(
    out_ms: int, slot_ms: int, is_rolled: bool
) -> None:
    assert SCALE.slot_ms(out_ms, 100_000) == slot_ms
    assert SCALE.is_beyond(out_ms, 100_000) == is_rolled


def test_floor_and_ceiling_are_whole_ticks() -> None:
    assert [SCALE.floor(ms) for ms in (5_000, 5_001, 5_999)] == [5_000] * 3
    assert [SCALE.ceiling(ms) for ms in (5_000, 4_999, 4_001)] == [5_000] * 3


def test_an_odd_window_still_gives_whole_ticks() -> None:
    odd = TickScale(1_000, 5_000)
    assert odd.slot_ms(106_000, 100_000) == 102_000
    assert odd.slot_ms(200_000, 100_000) == 105_000
