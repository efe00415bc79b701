"""Every sub-command of mqadmin 5.5.0 on Apache's broker and on ours, judged by what it prints.

One JVM for each server. On Apache's everything must come out as the cases say: that is how we know
that they ask the right thing. INTEROP_TABLE=1 writes what was seen into docs/mqadmin.md.
"""

import os
from typing import Any

import pytest

from tests.interop.apache import Jars
from tests.interop.mqadmin import page
from tests.interop.mqadmin.cases import CASES, Case, Kind
from tests.interop.mqadmin.day import Day, day_at_apache, day_here
from tests.interop.mqadmin.judge import Outcome

# Two days of a broker, of some minutes each.
pytestmark = [pytest.mark.java, pytest.mark.timeout(1500)]

TRIED = [case for case in CASES if isinstance(case, Case)]
EXPORTS = ["configs.json", "metadata.json", "metrics.json", "topic.json"]
NOT_EXPORTED = {"cpuNum", "msgTraceTopicName", "slaveReadEnable", "useTLS"}
"""Settings that have no meaning here, and one that is told by its other name, tlsOutgoing."""
EXPECTED = {
    Kind.WORKS: Outcome.WORKS,
    Kind.ELSEWHERE: Outcome.WORKS,
    Kind.REFUSES: Outcome.REFUSES,
    Kind.CONTROLLER: Outcome.REFUSES,
}


@pytest.fixture(scope="session")
def days(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Day]:
    """One on each server, one after the other."""
    lived = {
        "apache": day_at_apache(tmp_path_factory.mktemp("mqadmin-apache")),
        "aerobee": day_here(tmp_path_factory.mktemp("mqadmin-aerobee")),
    }
    if os.environ.get("INTEROP_TABLE") == "1":
        page.write(lived["aerobee"].verdicts, lived["apache"].verdicts)
    return lived


def test_every_sub_command_is_tried(days: dict[str, Day]) -> None:
    assert days["aerobee"].known == days["apache"].known == set(page.by_command())


@pytest.mark.parametrize("case", TRIED, ids=[case.command for case in TRIED])
def test_apache_shows_what_the_case_says(days: dict[str, Day], case: Case) -> None:
    verdict = days["apache"].verdicts[case]
    expected = Outcome.REFUSES if case.apache_reason else Outcome.WORKS
    assert verdict.outcome is expected, verdict.why


@pytest.mark.parametrize("case", TRIED, ids=[case.command for case in TRIED])
def test_our_broker_does_it_or_says_why_not(days: dict[str, Day], case: Case) -> None:
    verdict = days["aerobee"].verdicts[case]
    assert verdict.outcome is EXPECTED[case.kind], verdict.why


def paths_in(value: Any, path: str = "") -> set[str]:
    """The names of all members, each with those that it is in."""
    if not isinstance(value, dict):
        return {path}
    return {one for key, member in value.items() for one in paths_in(member, f"{path}/{key}")}


def test_what_is_exported_has_apaches_members(days: dict[str, Day]) -> None:
    ours, apaches = days["aerobee"].exported, days["apache"].exported
    assert sorted(ours) == sorted(apaches) == EXPORTS
    for name in EXPORTS:
        missing = paths_in(apaches[name]) - paths_in(ours[name])
        assert {path.rpartition("/")[2] for path in missing} <= NOT_EXPORTED, name
        assert not {path for path in paths_in(ours[name]) - paths_in(apaches[name]) if path}, name
