"""The table of mqadmin's sub-commands says what was seen, and nothing that was not."""

from tests.interop.mqadmin.cases import Case, Kind
from tests.interop.mqadmin.judge import Outcome, Verdict
from tests.interop.mqadmin.page import by_command, render

WORKS, FAILS = Verdict(Outcome.WORKS, ""), Verdict(Outcome.FAILS, "a trace")
REFUSES = Verdict(Outcome.REFUSES, "there is\nnothing")


def row(name: str, ours: Verdict, theirs: Verdict) -> list[str]:
    cases = by_command()[name]
    text = render(dict.fromkeys(cases, ours), dict.fromkeys(cases, theirs))
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_what_did_not_run_is_not_claimed() -> None:
    lines = render({}, {}).splitlines()[2:]
    assert len(lines) == len(by_command())
    assert all(line.count("not run") == 2 for line in lines)


def test_a_command_of_which_a_part_was_not_run_is_not_claimed() -> None:
    first, *rest = by_command()["topicList"]
    assert rest
    seen: dict[Case, Verdict] = {first: WORKS}
    (line,) = [one for one in render(seen, seen).splitlines() if "| topicList |" in one]
    assert line.count("not run") == 2


def test_a_row_says_what_the_command_came_to_on_both_servers() -> None:
    assert row("topicList", WORKS, WORKS) == ["works", "", "works"]
    assert row("topicList", FAILS, WORKS) == ["**fails**", "", "works"]
    assert row("createUser", REFUSES, WORKS) == ["refuses", "there is nothing", "works"]


def test_every_kind_is_used() -> None:
    kinds = {case.kind for cases in by_command().values() for case in cases}
    assert kinds == set(Kind)
