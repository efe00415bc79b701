import pytest

from aerobee.console.history.series import parts_of, series_name


@pytest.mark.parametrize("name", ["orders", "a.b", "%RETRY%billing", "a,b", "a%2Eb"])
def test_any_name_is_one_part_of_a_series(name: str) -> None:
    series = series_name("topic", name, "in")
    assert series.count(".") == 2
    assert "," not in series
    assert parts_of(series) == ["topic", name, "in"]


def test_numbers_are_parts_too() -> None:
    assert series_name("group", "g", "lag", "t", "broker-a", 3) == "group.g.lag.t.broker-a.3"
