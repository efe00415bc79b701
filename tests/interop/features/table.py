"""What was seen, as a table of clients and features in docs/clients.md, between two markers."""

from collections.abc import Mapping

from tests.interop.apache import HERE
from tests.interop.features.offers import APACHE_FAILS, CLIENTS, FEATURES, NOT_OFFERED

PAGE = HERE.parent.parent / "docs" / "clients.md"
START, END = "<!-- seen: start -->", "<!-- seen: end -->"

Seen = dict[tuple[str, str, str], str]
"""Server, client, feature → the outcome of its test."""


def write(seen: Mapping[tuple[str, str, str], str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n{render(seen)}{END}{after}", encoding="utf-8")


def render(seen: Mapping[tuple[str, str, str], str]) -> str:
    lines = [
        f"| feature | {' | '.join(CLIENTS.values())} |",
        f"|---|{'---|' * len(CLIENTS)}",
    ]
    notes: list[str] = []
    for feature, title in FEATURES.items():
        cells = [_cell(seen, client, feature, notes) for client in CLIENTS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    reasons = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join([*lines, "", *reasons, ""])


def _cell(
    seen: Mapping[tuple[str, str, str], str], client: str, feature: str, notes: list[str]
) -> str:
    reason = NOT_OFFERED.get((client, feature))
    if reason is not None:
        return f"not offered{_mark(reason, notes)}"
    outcomes = {"passed": "yes", "failed": "**no**", "skipped": "not run"}
    ours = outcomes.get(seen.get(("aerobee", client, feature), ""), "not run")
    theirs = outcomes.get(seen.get(("apache", client, feature), ""), "not run")
    if ours == theirs:
        return ours
    reason = APACHE_FAILS.get((client, feature))
    return f"{ours}; Apache: {theirs}{_mark(reason, notes) if reason else ''}"


def _mark(reason: str, notes: list[str]) -> str:
    if reason not in notes:
        notes.append(reason)
    return f" [{notes.index(reason) + 1}]"
