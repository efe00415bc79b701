import math

from aerobee.console.history.steps import (
    FIVE_MINUTES,
    SECOND,
    TEN_SECONDS,
    VALUES,
    Chunk,
    Mean,
    best_step,
)

HOUR = 3_600_000
NOW = 1_700_000_000_000


def test_the_finest_step_that_fits_and_is_kept_is_chosen() -> None:
    assert best_step(NOW - 600_000, NOW, NOW, 600) == SECOND
    assert best_step(NOW - HOUR, NOW, NOW, 600) == TEN_SECONDS
    assert best_step(NOW - HOUR, NOW, NOW, 3600) == SECOND
    assert best_step(NOW - 24 * HOUR, NOW, NOW, 600) == FIVE_MINUTES
    # Ten minutes of yesterday have no seconds any more.
    assert best_step(NOW - 12 * HOUR, NOW - 12 * HOUR + 600_000, NOW, 600) == TEN_SECONDS


def test_a_moment_has_its_place_in_a_chunk() -> None:
    start = SECOND.chunk_start(NOW + 61_500)
    assert start % 60_000 == 0
    assert SECOND.place(start) == 0
    assert SECOND.place(start + 59_999) == VALUES - 1


def test_a_chunk_is_empty_until_it_is_filled() -> None:
    chunk = Chunk(0)
    assert all(map(math.isnan, chunk.values))
    assert not chunk.is_dirty
    chunk.put(3, 1.5)
    assert chunk.is_dirty
    assert Chunk(0, chunk.values.tobytes()).values[3] == 1.5


def test_a_mean_is_that_of_its_values() -> None:
    mean = Mean(0)
    assert math.isnan(mean.value)
    mean.add(1.0)
    mean.add(2.0)
    assert mean.value == 1.5
