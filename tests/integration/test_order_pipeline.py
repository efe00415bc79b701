"""`make pipeline`: its parts by themselves, and the whole of it."""

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.mariadb_kit import CACHE, program
from tools.order_pipeline.outcome import sales_differences, sales_told, shown, table_differences
from tools.order_pipeline.picture import Bar, Sample, picture, ticks
from tools.order_pipeline.processes import name_server_in
from tools.order_pipeline.shop import Ordered, Sales, sales_of

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[2]


def row(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "city": "Lima", "amount": Decimal("1.50"), **more}


def test_an_equal_table_has_no_differences() -> None:
    copied = [{**row(2), "_sequence": "7"}, {**row(Decimal(1)), "_sequence": "9"}]  # type: ignore[arg-type]
    assert table_differences([row(1), row(2)], copied) == []


@pytest.mark.parametrize(
    ("copied", "said"),
    [
        ([row(1)], "order 2 is missing"),
        ([row(1), row(2), row(3)], "order 3 is too many"),
        ([row(1), row(2, amount=Decimal("1.51"))], "order 2 is "),
        ([row(1), row(2, note=None)], "order 2 is "),
        ([row(1), row(2), row(2)], "1 orders are there twice"),
    ],
)
def test_a_difference_is_told(copied: list[dict[str, Any]], said: str) -> None:
    (line,) = table_differences([row(1), row(2)], copied)
    assert line.startswith(said)


def test_sales_are_counted_by_window_and_city() -> None:
    ordered = [
        Ordered(NOON.replace(second=9, microsecond=999_999), "Lima", Decimal("1.10")),
        Ordered(NOON.replace(second=0), "Lima", Decimal("2.20")),
        Ordered(NOON.replace(second=10), "Lima", Decimal("4.00")),
        Ordered(NOON, "Kyiv", Decimal("8.00")),
    ]
    assert sales_of(ordered, 10) == {
        (NOON, "Lima"): Sales(2, Decimal("3.30")),
        (NOON.replace(second=10), "Lima"): Sales(1, Decimal("4.00")),
        (NOON, "Kyiv"): Sales(1, Decimal("8.00")),
    }


def test_the_last_word_on_a_window_counts() -> None:
    start = '"window_start":"2026-11-15T12:00:00.000Z"'
    bodies = [
        f'{{{start},"city":"Lima","messages":1,"sum_amount":1.100000}}'.encode(),
        f'{{{start},"city":"Lima","messages":2,"sum_amount":3.300000}}'.encode(),
    ]
    told = sales_told(bodies)
    assert told == {(NOON, "Lima"): Sales(2, Decimal("3.30"))}
    assert sales_differences(told, told) == []
    wrong = sales_differences({(NOON, "Lima"): Sales(2, Decimal("3.31"))}, told)
    assert len(wrong) == 1
    assert sales_differences({}, told) == ["Lima from 12:00:00 is too many"]


def test_only_the_first_differences_are_shown() -> None:
    assert shown([str(number) for number in range(7)]).endswith("and 2 more")


@pytest.mark.parametrize("most", [0, 1, 3, 9.5, 10, 11, 99, 1000, 12345])
def test_ticks_reach_from_nothing_to_the_most(most: float) -> None:
    marks = ticks(most)
    assert marks[0] == 0
    assert marks[-1] >= most
    assert 2 <= len(marks) <= 6


def test_the_picture_is_svg_with_all_its_lines_and_bars() -> None:
    samples = [Sample(at, at * 10, at * 9, at * 8, at, 0) for at in range(5)]
    bars = [Bar(f"12:00:{at}0", {"Lima": 5.0, "Kyiv & Oslo": 7.0 * at}) for at in range(6)]
    root = ElementTree.fromstring(picture("a <title>", samples, bars))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names.count("polyline") == 5
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"a <title>", "Kyiv & Oslo", "applied to the table", "12:00:00"} <= set(words)
    first = next(element for element in root.iter() if element.tag.endswith("polyline"))
    points = [tuple(map(float, point.split(","))) for point in first.attrib["points"].split()]
    assert points == sorted(points, key=lambda point: (point[0], -point[1]))


def test_a_picture_of_nothing_is_a_picture() -> None:
    ElementTree.fromstring(picture("nothing", [], []))


def test_a_server_says_where_its_name_server_is() -> None:
    assert name_server_in("ready: nameserver 127.0.0.1:41, broker 127.0.0.1:42") == "127.0.0.1:41"


@pytest.mark.night
@pytest.mark.timeout(600)
def test_the_whole_case_ends_with_an_equal_table_and_right_statistics(tmp_path: Path) -> None:
    program()  # or a loud skip
    run = subprocess.run(
        [
            *(sys.executable, "-m", "tools.order_pipeline", "--seconds", "12", "--orders", "300"),
            *("--folder", str(tmp_path / "case"), "--cache", str(CACHE)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the table equals the source" in run.stdout
    assert "8 columns" in run.stdout
    assert "the statistics are right" in run.stdout
    ElementTree.parse(tmp_path / "case" / "pipeline.svg")
