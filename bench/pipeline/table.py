"""Results of the pipeline benchmark as a table, a picture and JSON.

Rates and microseconds are medians of the rounds; a ratio is of the medians, ours to the other's.
"""

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.pipeline.cases import AEROBEE, KAFKA, LOG, LOG_SAME, SAME, SIDES
from bench.pipeline.plot import bars

Runs = Sequence[Mapping[str, float]]
Found = Mapping[str, Mapping[str, Runs]]


def show(found: Found, plot: Path) -> None:
    """Print the table; write the picture and what it was made of."""
    print("\n".join(["", *lines(found), "", *ratios(found)]))
    rates = {
        case: {side: rate(sides[side]) for side in SIDES if side in sides}
        for case, sides in found.items()
        if case not in ("micro", "memory")
    }
    plot.parent.mkdir(parents=True, exist_ok=True)
    plot.write_text(bars("Rows read and written by Spark", "rows/s", rates))
    plot.with_suffix(".json").write_text(json.dumps(found, indent=1))
    print(f"\n{plot}")


def lines(found: Found) -> list[str]:
    """Within 80 columns."""
    said = [
        f"{'case':8} {'side':9} {'rows/s':>9} {'CPU µs/row':>10} {'JVM':>6} {'Python':>6}"
        f" {'broker':>6} {'Python MiB':>10} {'batch ms':>8}"
    ]
    for case, sides in found.items():
        for side in (side for side in SIDES if side in sides):
            runs = sides[side]
            parts = [_median_us(runs, part) for part in ("jvm", "python", "broker")]
            memory = max(one["rssMax"] for one in runs) / 2**20
            batch = [one["batchMs"] for one in runs if "batchMs" in one]
            said.append(
                f"{case:8} {side:9} {rate(runs):9,.0f} {cpu(runs):10.2f} {parts[0]:6.2f} "
                f"{parts[1]:6.2f} {parts[2]:6.2f} {memory:10.0f} "
                f"{f'{statistics.median(batch):.0f}' if batch else '':>8}".rstrip()
            )
    return said


def ratios(found: Found) -> list[str]:
    """What the goals speak of."""
    said = []
    pairs = [
        *((case, AEROBEE, KAFKA) for case in ("batch", "stream", "sink", "written")),
        ("batch", SAME, KAFKA),
        ("stream", SAME, KAFKA),
        ("batch", LOG, AEROBEE),
        ("batch", LOG_SAME, SAME),
    ]
    for case, one, other in pairs:
        sides = found.get(case, {})
        if one in sides and other in sides:
            faster = rate(sides[one]) / rate(sides[other])
            cheaper = cpu(sides[other]) / cpu(sides[one])
            said.append(
                f"{case:8} {one:>9} : {other:9} {faster:5.2f} × the rows/s, "
                f"{cheaper:5.2f} × the rows for the same CPU"
            )
    return said


def rate(runs: Runs) -> float:
    return statistics.median(one["rows"] / one["seconds"] for one in runs)


def cpu(runs: Runs) -> float:
    """Microseconds a row of all processes."""
    return statistics.median(
        1e6 * (one["jvm"] + one["python"] + one["broker"]) / one["rows"] for one in runs
    )


def _median_us(runs: Runs, part: str) -> float:
    return statistics.median(1e6 * one[part] / one["rows"] for one in runs)
