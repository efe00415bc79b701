import pytest

from aerobee.protocol.grpc.resources import Duration, Timestamp, duration_of, timestamp_of


@pytest.mark.parametrize("ms", [0, 1, 999, 1_000, 1_700_000_000_123])
def test_times_are_kept_to_the_millisecond(ms: int) -> None:
    assert duration_of(ms).ms == ms
    assert timestamp_of(ms).ms == ms


def test_parts_of_a_millisecond_are_dropped() -> None:
    assert Duration(1, 2_999_999).ms == 1_002
    assert Timestamp(1, 999).ms == 1_000
