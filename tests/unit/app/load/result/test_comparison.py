import json

import pytest

from aerobee.app.load.result.comparison import (
    ComparedChange,
    check_kind,
    compare,
    differing_settings,
    read_result,
    slower,
)
from aerobee.errors import Misuse
from tests.load_kit import result, side


def test_each_figure_has_a_ratio() -> None:
    before = result(sent=side(1000, 1.0, 1.0)).to_json()
    now = result(sent=side(500, 1.0, 2.0)).to_json()
    changes = {one.figure: one for one in compare(before, now)}
    assert changes["sent rate"].ratio == 0.5
    assert changes["sent rate"].slower_percent == pytest.approx(100)
    assert changes["sent p99 ms"].ratio == pytest.approx(2, rel=0.01)
    assert changes["sent p99 ms"].slower_percent == pytest.approx(100, rel=0.02)


def test_only_what_counts_fails() -> None:
    before = result(sent=side(1000, 1.0, *[1.0] * 999, 5.0)).to_json()
    now = result(sent=side(990, 1.0, *[1.0] * 999, 500.0)).to_json()
    changes = compare(before, now)
    assert slower(changes, 5.0) == []
    assert [one.figure for one in slower(changes, 0.5)] == ["sent rate"]


def test_better_is_never_slower() -> None:
    before = result(sent=side(1000, 1.0, 2.0)).to_json()
    now = result(sent=side(2000, 1.0, 1.0)).to_json()
    assert slower(compare(before, now), 0.0) == []


def test_both_sides_of_a_roundtrip_are_compared() -> None:
    said = result("roundtrip").to_json()
    figures = [one.figure for one in compare(said, said)]
    assert "sent rate" in figures
    assert "received p50 ms" in figures


def test_other_settings_are_named() -> None:
    before, now = result(rate=100.0).to_json(), result(rate=200.0).to_json()
    assert differing_settings(before, now) == ["rate 100.0 → 200.0"]
    assert differing_settings(now, now) == []


def test_runs_of_two_kinds_are_not_compared() -> None:
    with pytest.raises(Misuse, match="bench produce"):
        check_kind(result().to_json(), "consume")
    check_kind(result().to_json(), "produce")


def test_what_was_nothing_before_has_no_ratio_for_programs() -> None:
    assert ComparedChange("sent rate", 0.0, 5.0, True).to_json()["ratio"] is None
    assert ComparedChange("sent rate", 0.0, 0.0, True).ratio == 1.0


def test_a_result_is_read_again() -> None:
    said = result("roundtrip").to_json()
    assert read_result(json.dumps(said), "old.json") == said


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"figures": {}, "version": 99}'])
def test_what_is_no_result_is_refused_by_name(text: str) -> None:
    with pytest.raises(Misuse, match=r"old\.json"):
        read_result(text, "old.json")
