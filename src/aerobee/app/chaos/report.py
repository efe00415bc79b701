"""The outcome of a run as a table, a picture for a terminal, an SVG and JSON.

Pure functions of the outcome, but for the one that writes a file.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aerobee.app.chaos.chaos import FOLLOWER, LEADER, ChaosOutcome, Event
from aerobee.app.chaos.cluster import Fault
from aerobee.app.chaos.log_check import explain
from aerobee.app.chaos.pauses import percentile
from aerobee.app.ink import Ink
from aerobee.app.load.result.plot import chart, drawing
from aerobee.errors import Misuse

WIDTH = 76
LETTERS = {
    Fault.KILL: "K",
    Fault.STOP: "S",
    Fault.PAUSE: "P",
    Fault.CUT: "C",
    Fault.DISK: "D",
    Fault.CLOCK: "T",
}
"""Of faults in the picture; small ones are of followers."""


def gap_rows(events: Sequence[Event]) -> list[dict[str, object]]:
    """A row for each kind of fault and each role that it hit."""
    rows: list[dict[str, object]] = []
    for fault in Fault:
        for role in (LEADER, FOLLOWER):
            gaps = [1000 * one.gap for one in events if (one.fault, one.role) == (fault, role)]
            if gaps:
                rows.append(
                    {
                        "fault": fault.value,
                        "of": role,
                        "times": len(gaps),
                        "gap_p50_ms": round(percentile(gaps, 50)),
                        "gap_p99_ms": round(percentile(gaps, 99)),
                        "gap_longest_ms": round(max(gaps)),
                    }
                )
    return rows


def picture(outcome: ChaosOutcome, ink: Ink) -> list[str]:
    """Acknowledged sends over the time of the run, and the faults under them."""
    width = max(1, min(WIDTH, int(outcome.seconds * 4)))
    wide = outcome.seconds / width
    counts = Counter(min(width - 1, int(moment / wide)) for moment in outcome.acknowledged)
    peak, top = max(counts.values(), default=1), len(ink.ramp) - 1
    drawn = "".join(
        ink.ramp[round(counts[at] / peak * top)] if counts[at] else " " for at in range(width)
    )
    marks = [" "] * width
    for event in outcome.events:
        letter = LETTERS[event.fault]
        at = min(width - 1, int(event.begun / wide))
        marks[at] = letter if event.role == LEADER else letter.lower()
    done = {one.fault for one in outcome.events}
    legend = ", ".join(f"{LETTERS[fault]} {fault.value}" for fault in Fault if fault in done)
    return [
        f"acknowledged sends, at most {peak / wide:,.0f}/s, over {outcome.seconds:.0f} s",
        ink.green(drawn),
        ink.red("".join(marks).rstrip()),
        ink.dim(f"{legend}; small letters: of a follower"),
    ]


def sentence(outcome: ChaosOutcome) -> str:
    counts = outcome.verdict.counts
    return (
        f"{counts.acknowledged:,} acknowledged, {counts.unknown:,} failed at the client; "
        f"{counts.lost:,} lost, {counts.out_of_order:,} out of order, {counts.wrong:,} wrong, "
        f"{counts.twice:,} twice"
    )


def problems(outcome: ChaosOutcome) -> str:
    """The first things that are wrong, one in a line; empty: nothing is."""
    return explain(outcome.verdict.anomalies)


def to_json(outcome: ChaosOutcome) -> dict[str, Any]:
    return {
        "seconds": round(outcome.seconds, 3),
        "seed": outcome.plan.seed,
        "is_sound": outcome.verdict.counts.is_sound,
        **outcome.verdict.counts._asdict(),
        "gaps": gap_rows(outcome.events),
        "events": [
            {
                "fault": one.fault.value,
                "of": one.role,
                "broker": one.victim,
                "begun_s": round(one.begun, 3),
                "seconds": round(one.seconds, 3),
                "gap_ms": round(1000 * one.gap, 1),
            }
            for one in outcome.events
        ],
        "skipped": [{"fault": one.value, "why": why} for one, why in outcome.skipped],
        "anomalies": [
            {"kind": kind, "name": name.decode(errors="replace"), "detail": detail}
            for kind, name, detail in outcome.verdict.anomalies[:100]
        ],
    }


def svg(outcome: ChaosOutcome) -> str:
    seconds = Counter(int(moment) for moment in outcome.acknowledged)
    rates = [(float(at), float(seconds[at])) for at in range(int(outcome.seconds) + 1)]
    gaps = [
        (fault.value, [(one.begun, 1000 * one.gap) for one in outcome.events if one.fault is fault])
        for fault in Fault
    ]
    return drawing(
        [
            chart("acknowledged sends a second", [("acknowledged", rates)], "s"),
            chart("gap of each fault, ms", [line for line in gaps if line[1]], "s"),
        ]
    )


def write_svg(path: str, outcome: ChaosOutcome) -> None:
    try:
        Path(path).write_text(svg(outcome), encoding="utf-8")
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}") from None
