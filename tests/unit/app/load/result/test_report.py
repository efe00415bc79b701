from dataclasses import replace

import pytest

from aerobee.app.load.result.comparison import compare
from aerobee.app.load.result.report import (
    column_names,
    comparison_lines,
    heading,
    line_of,
    plan_record,
    spread_lines,
    summary,
)
from aerobee.app.load.workload.workload import Workload
from tests.load_kit import BROKER, histogram, result, side

KINDS = ("produce", "consume", "roundtrip", "latency")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wider_than_a_terminal(kind: str) -> None:
    shown = [column_names(kind), line_of(kind, result(kind).points[0])]
    shown += summary(replace(result(kind), is_interrupted=True)).splitlines()
    shown += heading(
        Workload(kind=kind, rate=1e6, ignored=("keyDistributor",) * 9),  # type: ignore[arg-type]
        [replace(BROKER, address="broker-with-a-long-name.cluster.example.com:10911")] * 2,
    ).splitlines()
    shown += comparison_lines(
        compare(result(kind).to_json(), result(kind).to_json()), ["rate 1 → 2"] * 20
    ).splitlines()
    assert [line for line in shown if len(line) > 80] == []


@pytest.mark.parametrize("kind", KINDS)
def test_figures_stand_under_their_names(kind: str) -> None:
    names, line = column_names(kind), line_of(kind, result(kind).points[0])
    assert len(names) == len(line)
    assert len(names.split()) >= 6


def test_a_summary_says_rate_latency_machine_and_verdict() -> None:
    text = summary(result("roundtrip"))
    for part in (
        "1,000/s",
        "end to end",
        "p99.99",
        "of 4 cores",
        "busiest thread",
        "waited for",
        "Nothing saturated.",
    ):
        assert part in text


def test_what_was_never_sent_and_what_failed_is_said() -> None:
    sent = replace(side(unsent=50), errors={"Refused: busy": 3})
    text = summary(result(sent=sent))
    assert "50 were due and never sent" in text
    assert "3 × Refused: busy" in text


def test_a_spread_has_a_row_for_each_doubling() -> None:
    lines = spread_lines(histogram(*[0.9] * 3, 7.5))
    assert len(lines) == 4
    assert "75.00%" in lines[0]
    assert "█" * 40 in lines[0]
    assert lines[1].split() == ["<", "2.05", "ms", "0.00%"]
    assert spread_lines(histogram()) == []


def test_a_comparison_says_which_way() -> None:
    changes = compare(
        result(sent=side(1000, 1.0, 1.0)).to_json(), result(sent=side(2000, 1.0, 2.0)).to_json()
    )
    text = comparison_lines(changes, ["rate 1 → 2"])
    assert "50.0 % faster" in text
    assert "slower" in text
    assert "set differently: rate 1 → 2" in text


def test_a_step_of_a_search_is_a_record() -> None:
    assert plan_record(result(rate=500.0), "p99", True) == {
        "wanted/s": 500,
        "sent/s": 1000,
        "p99 ms": 3.0,
        "errors": 0,
        "holds": True,
    }
    assert plan_record(result(), "p99", False)["wanted/s"] == "max"
