from datetime import UTC, datetime, timedelta

import pytest

from aerobee.cli.moments import read_moment, read_place, read_range, read_seconds, shown_ms
from aerobee.cli.output import WrongUse


def test_a_time_has_its_zone_or_is_here() -> None:
    assert read_moment("2026-11-15T12:00:00+01:00", "--to") == datetime(
        2026, 11, 15, 11, tzinfo=UTC
    )
    assert read_moment("2026-11-15T12:00:00Z", "--to") == datetime(2026, 11, 15, 12, tzinfo=UTC)
    assert read_moment("2026-11-15", "--to") == datetime(2026, 11, 15).astimezone()


def test_so_long_ago_is_before_now() -> None:
    for text, ago in (("90s", 90), ("1.5m", 90), ("2h", 7200), ("3d", 259200), ("500ms", 0.5)):
        before = datetime.now(UTC)
        read = read_moment(text, "--to")
        assert isinstance(read, datetime)
        age = before - read
        assert timedelta(seconds=ago - 60) < age <= timedelta(seconds=ago)
    assert read_moment("9999999999d", "--to") == "earliest"


def test_the_ends_and_offsets_are_what_they_are() -> None:
    assert read_moment("earliest", "--to") == "earliest"
    assert read_place("latest", "--to") == "latest"
    assert read_place("42", "--to") == 42


@pytest.mark.parametrize("text", ["soon", "", "42", "-1", "2026-13-01", "5w", "٣"])
def test_what_is_no_time_is_wrong_use_and_the_flag_is_named(text: str) -> None:
    with pytest.raises(WrongUse, match="--from"):
        read_moment(text, "--from")
    if text != "42":
        with pytest.raises(WrongUse, match="offset"):
            read_place(text, "--to")


def test_a_stretch_of_time_is_in_seconds_unless_it_says_otherwise() -> None:
    assert [read_seconds(text, "--delay") for text in ("90", "90s", "15m", "2h")] == [
        90,
        90,
        900,
        7200,
    ]
    with pytest.raises(WrongUse, match="--delay 'x'"):
        read_seconds("x", "--delay")


def test_a_time_that_is_not_known_is_not_shown() -> None:
    assert shown_ms(0) is None
    assert shown_ms(-1) is None
    shown = shown_ms(1_700_000_000_123)
    assert shown is not None
    assert datetime.fromisoformat(shown).timestamp() == 1_700_000_000.123


def test_a_range_begins_before_it_ends() -> None:
    assert read_range(None, None, "--to") == ("earliest", "latest")
    first, last = read_range("2h", "1h", "--to")
    assert isinstance(first, datetime)
    assert isinstance(last, datetime)
    assert first < last
    with pytest.raises(WrongUse, match="--from 1h is not before --to 2h"):
        read_range("1h", "2h", "--to")
