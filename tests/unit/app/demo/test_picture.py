import re
import shlex
from dataclasses import replace

import pytest

from aerobee.app.demo.figures import Figures, GroupFigures, ReplicaFigures
from aerobee.app.demo.history import COLUMNS, History
from aerobee.app.demo.picture import (
    HEIGHT,
    REPLICA_TRIES,
    TRIES,
    WIDTH,
    Places,
    Vitals,
    chart,
    number,
    picture,
    plain_line,
    replica_line,
)
from aerobee.app.demo.story import GROUPS, GUARD, ORDERS, SHIPPING, TOPICS
from aerobee.app.ink import ASCII, BLOCKS, Ink
from aerobee.app.process.process_figures import MIB, Memory
from aerobee.cli.main import parser_for

PLACES = Places("127.0.0.1:9876", "127.0.0.1:5557", "./data", "aerobee")
VITALS = Vitals(Memory(67 * MIB, 36 * MIB), 0.08)


def history_of(*moments: Figures) -> History:
    history = History()
    for moment in moments:
        history.add(moment)
    return history


def figures(seconds: float, count: int, group: GroupFigures) -> Figures:
    return Figures(seconds, dict.fromkeys(TOPICS, count), dict.fromkeys(GROUPS, group), count, 3)


BUSY = history_of(
    figures(0, 0, GroupFigures()),
    figures(2, 240, GroupFigures(120, 1234, 56, 7)),
)
WHY = "its log has records that its master's has not " * 3


def with_replicas(history: History, *replicas: ReplicaFigures) -> History:
    return history_of(history.last._replace(replicas=replicas))


HUGE = history_of(
    figures(0, 0, GroupFigures()),
    figures(9999, 99_999_999, GroupFigures(9_999_999, 99_999, 999_999, 999_999)),
)

COPIED = with_replicas(
    BUSY, ReplicaFigures("broker-a", 1, 4321, True), ReplicaFigures("broker-b", 1, 0, True)
)
LAGGING = with_replicas(
    HUGE, *(ReplicaFigures("a-broker-with-a-long-name", 9, 10**12, False, WHY) for _ in range(9))
)


def line(lines: list[str], start: str, last: bool = False) -> list[str]:
    found = [one for one in lines if one.startswith(start)]
    return found[-1 if last else 0].split()


def test_the_figures_are_where_they_belong() -> None:
    lines = picture(BUSY, PLACES, VITALS, Ink(False))
    assert line(lines, ORDERS) == [ORDERS, "120", "▁█", "120", "▁█", "240"]
    assert line(lines, GUARD) == [GUARD, "60", "demo-logins", "1,234", "▁█", "56", "7"]
    assert line(lines, "delayed")[1] == "240"
    assert line(lines, "transactions")[1] == "3"
    assert lines[0].endswith("name server 127.0.0.1:9876   http://127.0.0.1:5557/metrics")
    assert lines[1] == "up 0:02   cpu 8%   memory 31 MiB, 36 MiB of files   data ./data"


@pytest.mark.parametrize("history", [BUSY, HUGE, COPIED, LAGGING])
@pytest.mark.parametrize("is_on", [True, False])
def test_it_fits_80_columns_and_24_lines(history: History, is_on: bool) -> None:
    far = replace(PLACES, data="/a/long/way" * 9, command=".venv/bin/aerobee", nameserver="h:9" * 9)
    vitals = replace(VITALS, warning="something is wrong " * 9)
    lines = picture(history, far, vitals, Ink(is_on))
    assert len(lines) <= HEIGHT
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", one) for one in lines]
    assert max(map(len, plain)) <= WIDTH
    assert ("\x1b" in "".join(lines)) is is_on


def test_the_columns_stand_under_their_headings() -> None:
    lines = picture(BUSY, PLACES, VITALS, Ink(False))
    at = next(number for number, one in enumerate(lines) if one.startswith("TOPIC"))
    assert len(lines[at]) == len(lines[at + 1]) == WIDTH
    at = next(number for number, one in enumerate(lines) if one.startswith("GROUP"))
    assert len(lines[at]) == len(lines[at + 1]) == WIDTH


def test_what_happens_to_the_slow_one_is_said() -> None:
    texts = (f"{SHIPPING} has a bad time", f"{SHIPPING} catches up", "everybody is up to date")

    def said(seconds: float, lag: int) -> list[bool]:
        history = history_of(figures(seconds, 0, GroupFigures(lag=lag)))
        shown = "\n".join(picture(history, PLACES, VITALS, Ink(False)))
        return [text in shown for text in texts]

    assert said(1, 0) == [True, False, False]
    assert said(20, 400) == [False, True, False]
    assert said(20, 3) == [False, False, True]


def test_a_warning_is_shown_in_the_last_line() -> None:
    calm = picture(BUSY, PLACES, VITALS, Ink(False))
    alarmed = picture(BUSY, PLACES, replace(VITALS, warning="the disk is full"), Ink(False))
    assert alarmed == [*calm[:-1], "the disk is full"]


def test_commands_name_the_name_server_where_it_is_not_the_usual_one() -> None:
    usual = picture(BUSY, PLACES, VITALS, Ink(False))
    assert "try  aerobee explain group demo-shipping" in usual
    other = picture(BUSY, replace(PLACES, nameserver="127.0.0.1:7"), VITALS, Ink(False))
    assert "try  aerobee explain group demo-shipping -n 127.0.0.1:7" in other


@pytest.mark.parametrize("words", [*TRIES, *REPLICA_TRIES])
def test_what_to_try_is_a_command(words: str) -> None:
    said = [*shlex.split(words), "-n", "127.0.0.1:7"]
    assert parser_for(said[:1]).parse_args(said).verb


def test_metrics_that_are_nowhere_are_not_shown() -> None:
    lines = picture(BUSY, replace(PLACES, metrics=""), VITALS, Ink(False))
    assert lines[0].endswith("   name server 127.0.0.1:9876")
    assert len(lines[0]) == WIDTH


def test_a_chart_is_as_high_as_its_highest_and_grows_from_the_right() -> None:
    assert chart([0, 50, 100], BLOCKS) == f"{'▁▅█':>{COLUMNS}}"
    assert chart([0, 50, 100], ASCII) == f"{'_=#':>{COLUMNS}}"
    assert chart([], BLOCKS) == " " * COLUMNS
    assert chart([5, 10], BLOCKS, peak_min=100) == f"{'▁▂':>{COLUMNS}}"
    assert len(chart([1.0] * COLUMNS, BLOCKS)) == COLUMNS


def test_a_number_that_is_too_long_is_in_thousands_or_millions() -> None:
    assert number(1234, 6) == " 1,234"[-6:]
    assert number(12_345, 6) == "   12k"
    assert number(99_999_999, 9) == "   99999k"
    assert number(99_999_999, 6) == "   99M"


def test_a_line_for_a_log_has_everything_added_up() -> None:
    assert plain_line(BUSY) == (
        "demo: in 480/s out 300/s lag 6,170 retried 280 dead 35 delayed 240 open 3"
    )
    assert len(plain_line(HUGE)) <= WIDTH


def test_slaves_are_shown_with_their_lag_and_without_them_nothing_is_said() -> None:
    lines = picture(COPIED, PLACES, VITALS, Ink(False))
    found = [one.split() for one in lines if one.startswith("slave")]
    assert [one[:6] for one in found] == [
        ["slave", "1", "4,321", "bytes", "behind", "broker-a"],
        ["slave", "1", "0", "bytes", "behind", "broker-b"],
    ]
    assert [one[-2:] for one in found] == [["in", "sync"]] * 2
    assert "try  aerobee broker replicas" in lines
    assert not any("slave" in one for one in picture(BUSY, PLACES, VITALS, Ink(False)))


def test_of_many_slaves_the_one_that_is_not_in_sync_is_shown() -> None:
    several = (
        ReplicaFigures("broker-a", 1, 900, True),
        ReplicaFigures("broker-b", 1, -1, False, "it is not connected to its master"),
        ReplicaFigures("broker-c", 1, 0, True),
    )
    lines = picture(with_replicas(BUSY, *several), PLACES, VITALS, Ink(False))
    shown, count = (one for one in lines if one.startswith("slave"))
    assert shown.split()[:6] == ["slave", "1", "?", "bytes", "behind", "broker-b"]
    assert "it is not" in shown
    assert count.split() == ["slaves", "3", "in", "all,", "2", "of", "them", "in", "sync"]


def test_a_line_for_a_log_says_how_far_the_slaves_are() -> None:
    assert replica_line(COPIED) == "demo: slaves in sync 2 of 2, bytes behind 4,321"
    assert replica_line(BUSY) == ""
    assert len(replica_line(LAGGING)) <= WIDTH
