"""Tables of clients and features in docs/clients.md: what was seen, each between two markers."""

from collections.abc import Mapping

from tests.interop.apache import HERE
from tests.interop.features.catalogue import Catalogue

PAGE = HERE.parent.parent / "docs" / "clients.md"

Seen = dict[tuple[str, str, str], str]
"""Server, client, feature → the outcome of its test."""


def write(catalogue: Catalogue, seen: Mapping[tuple[str, str, str], str]) -> None:
    start, end = (f"<!-- seen, {catalogue.name}: {side} -->" for side in ("start", "end"))
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    text = f"{before}{start}\n{render(catalogue, seen)}{end}{after}"
    PAGE.write_text(text, encoding="utf-8")


def render(catalogue: Catalogue, seen: Mapping[tuple[str, str, str], str]) -> str:
    lines = [
        f"| feature | {' | '.join(catalogue.clients.values())} |",
        f"|---|{'---|' * len(catalogue.clients)}",
    ]
    notes: list[str] = []
    for feature, title in catalogue.features.items():
        cells = [_cell(catalogue, seen, client, feature, notes) for client in catalogue.clients]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    reasons = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join([*lines, "", *reasons, ""])


def _cell(
    catalogue: Catalogue,
    seen: Mapping[tuple[str, str, str], str],
    client: str,
    feature: str,
    notes: list[str],
) -> str:
    reason = catalogue.not_offered.get((client, feature))
    if reason is not None:
        return f"not offered{_mark(reason, notes)}"
    outcomes = {"passed": "yes", "failed": "**no**", "skipped": "not run"}
    ours = outcomes.get(seen.get(("aerobee", client, feature), ""), "not run")
    theirs = outcomes.get(seen.get(("apache", client, feature), ""), "not run")
    if ours == theirs:
        return ours
    reason = catalogue.apache_fails.get((client, feature))
    return f"{ours}; Apache: {theirs}{_mark(reason, notes) if reason else ''}"


def _mark(reason: str, notes: list[str]) -> str:
    if reason not in notes:
        notes.append(reason)
    return f" [{notes.index(reason) + 1}]"
