"""Tables of what the measured programs printed.

case → side → runs, each as `meter.py` prints it; or, where there are none, the reason
"""

import json
import statistics
from collections.abc import Mapping, Sequence

from bench.client.hosts import ServerFigures
from bench.client.sides import CASES, SIDES

Run = Mapping[str, float]
Found = Mapping[str, Mapping[str, Sequence[Run]]]
Reasons = Mapping[tuple[str, str], str]
"""By case and side: why it has no figure."""

REASON_MAX = 300


class Unmeasured(Exception):
    """A program ended without a figure; the text is the end of what it said."""


def read(output: str, errors: str) -> dict[str, float]:
    """The figures in what a program printed: its last line of JSON."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            said: dict[str, float] = json.loads(line)
            return said
    raise Unmeasured(reason(errors))


def reason(text: str) -> str:
    """The last line of what was said, in so many letters at most."""
    lines = text.strip().splitlines() or ["it said nothing"]
    return lines[-1][-REASON_MAX:]


def rate(runs: Sequence[Run]) -> float:
    """Messages a second, the median."""
    return statistics.median(run["count"] / run["seconds"] for run in runs)


def cpu_us(runs: Sequence[Run]) -> float:
    """Microseconds of the client's CPU for each message, the median."""
    return statistics.median(1e6 * run["cpu"] / run["count"] for run in runs)


def latency_ms(runs: Sequence[Run], name: str) -> float | None:
    found = [1e3 * run[name] for run in runs if name in run]
    return statistics.median(found) if found else None


def tables(found: Found, reasons: Reasons) -> str:
    """One in Markdown for each case, the fastest first, those without a figure last."""
    asked = {*found, *(case for case, _ in reasons)}
    return "\n\n".join(
        _table(case, found.get(case, {}), reasons) for case in CASES if case in asked
    )


def server_table(servers: Sequence[ServerFigures]) -> str:
    """The size of the servers, the smallest first."""
    names = ["server", "start to ready", "memory after start", "memory after load"]
    lines = [_line(names), _line(["---", *["---:"] * (len(names) - 1)])]
    for one in sorted(servers, key=lambda one: one.loaded_bytes):
        sizes = [f"{size / 1e6:,.0f} MB" for size in (one.fresh_bytes, one.loaded_bytes)]
        lines.append(_line([one.title, f"{one.start_seconds:.2f} s", *sizes]))
    return "\n".join(lines)


def _table(case: str, sides: Mapping[str, Sequence[Run]], reasons: Reasons) -> str:
    about = CASES[case]
    has_latency = any("p50" in run for runs in sides.values() for run in runs)
    names = [about.title, about.unit, "client's CPU each"]
    if has_latency:
        names += ["p50", "p99"]
    lines = [_line(names), _line(["---", *["---:"] * (len(names) - 1)])]
    measured = [name for name in SIDES if sides.get(name)]
    for name in sorted(measured, key=lambda name: -rate(sides[name])):
        runs = sides[name]
        title = f"**{SIDES[name].title}**" if SIDES[name].is_ours else SIDES[name].title
        cells = [title, f"{rate(runs):,.0f}", f"{cpu_us(runs):.2f} µs"]
        if has_latency:
            cells += [_milliseconds(latency_ms(runs, one)) for one in ("p50", "p99")]
        lines.append(_line(cells))
    for name in SIDES:
        if name not in measured and (case, name) in reasons:
            dashes = ["–"] * (len(names) - 2)
            lines.append(_line([SIDES[name].title, reasons[case, name], *dashes]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _milliseconds(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.2f} ms"
