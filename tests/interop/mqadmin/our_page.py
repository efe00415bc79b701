"""The comparison of our mqadmin with RocketMQ's, as a table in docs/mqadmin-ours.md."""

from collections.abc import Iterable, Mapping

from aerobee.cli.mqadmin import catalog
from tests.interop.apache import HERE
from tests.interop.mqadmin.pairs import BothFail, Pair
from tests.interop.mqadmin.side_by_side import Compared

PAGE = HERE.parent.parent / "docs" / "mqadmin-ours.md"
START, END = "<!-- seen: start -->", "<!-- seen: end -->"
SAME, DIFFERS, REFUSES, FAILS, ABSENT = (
    "same",
    "differs on purpose",
    "refuses",
    "**differs**",
    "not compared",
)

Found = Mapping[Pair | BothFail, Compared]


def write(here: Found, apache: Found, refusals: Mapping[str, str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    table = render(here, apache, refusals)
    PAGE.write_text(f"{before}{START}\n{table}{END}{after}", encoding="utf-8")


def render(here: Found, apache: Found, refusals: Mapping[str, str]) -> str:
    """`refusals`: by sub-command, why our broker or our mqadmin does not do it."""
    lines = ["| sub-command | on Aerobee | reason | on Apache 5.5.0 |", "|---|---|---|---|"]
    for name in catalog.names():
        ours, why = _outcome(name, here)
        if name in refusals:
            ours, why = REFUSES, refusals[name]
        theirs, reason = _outcome(name, apache)
        if is_refused_here(name):
            theirs = REFUSES
        why = why or (reason if theirs == DIFFERS else "")
        lines.append(f"| {name} | {ours} | {' '.join(why.split())} | {theirs} |")
    return "\n".join([*lines, ""])


def is_refused_here(name: str) -> bool:
    """By our mqadmin itself, whatever the broker."""
    command = catalog.find(name)
    return command is not None and command.run is None


def _outcome(name: str, found: Found) -> tuple[str, str]:
    pairs = {one: seen for one, seen in found.items() if one.name == name}
    if not pairs:
        return ABSENT, ""
    if any(seen.fault for seen in pairs.values()):
        return FAILS, ""
    if not any(isinstance(one, Pair) for one in pairs):
        return REFUSES, ""
    reasons = _once(one.differs for one in pairs if isinstance(one, Pair) and one.differs)
    return (DIFFERS, "; ".join(reasons)) if reasons else (SAME, "")


def _once(texts: Iterable[str]) -> list[str]:
    parts = [part for text in texts for part in text.split("; ")]
    return list(dict.fromkeys(parts))
