"""The outcomes of sub-commands, as a table in docs/mqadmin.md, between two markers."""

from collections.abc import Mapping

from tests.interop.apache import HERE
from tests.interop.mqadmin.cases import CASES, Case, Kind
from tests.interop.mqadmin.judge import Outcome, Verdict, together

PAGE = HERE.parent.parent / "docs" / "mqadmin.md"
START, END = "<!-- seen: start -->", "<!-- seen: end -->"

Seen = Mapping[Case, Verdict]
"""What each case came to on one server."""


def by_command() -> dict[str, list[Case]]:
    """Every sub-command that is tried, in the order of their names."""
    found: dict[str, list[Case]] = {}
    for case in CASES:
        if isinstance(case, Case):
            found.setdefault(case.name, []).append(case)
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def write(aerobee: Seen, apache: Seen) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n{render(aerobee, apache)}{END}{after}", encoding="utf-8")


def render(aerobee: Seen, apache: Seen) -> str:
    lines = ["| sub-command | Aerobee | reason | Apache 5.5.0 |", "|---|---|---|---|"]
    for name, cases in by_command().items():
        ours = _together(cases, aerobee)
        theirs = _together(cases, apache)
        reason = ours.why if ours is not None and ours.outcome is Outcome.REFUSES else ""
        lines.append(
            f"| {name} | {_ours(cases, ours)} | {' '.join(reason.split())} | {_theirs(theirs)} |"
        )
    return "\n".join([*lines, ""])


def _together(cases: list[Case], seen: Seen) -> Verdict | None:
    verdicts = [seen[case] for case in cases if case in seen]
    return together(verdicts) if len(verdicts) == len(cases) else None


def _ours(cases: list[Case], verdict: Verdict | None) -> str:
    if verdict is None:
        return "not run"
    if verdict.outcome is Outcome.FAILS:
        return "**fails**"
    if verdict.outcome is Outcome.WORKS:
        return Kind.ELSEWHERE.value if _kind(cases) is Kind.ELSEWHERE else Kind.WORKS.value
    return _kind(cases).value


def _theirs(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not run"
    return "**fails**" if verdict.outcome is Outcome.FAILS else verdict.outcome.value


def _kind(cases: list[Case]) -> Kind:
    """Of several, the one that does the least."""
    kinds = [case.kind for case in cases]
    return next(kind for kind in reversed(Kind) if kind in kinds)
