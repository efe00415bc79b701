"""A run as lines for people: while it goes on, and at its end.

N1. No line is wider than 80 columns.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aerobee.app.load.measure.cluster_facts import BrokerFacts
from aerobee.app.load.measure.histogram import LatencyHistogram
from aerobee.app.load.result.comparison import ComparedChange
from aerobee.app.load.result.result import Point, Result, Side
from aerobee.app.load.workload.amounts import shown_bytes
from aerobee.app.load.workload.workload import Workload

WIDTH = 80
_BAR = 40
_Column = tuple[str, int, Callable[[Point], str]]


def _cores(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


_SECOND: _Column = ("sec", 5, lambda point: f"{round(point.second, 1):g}")
_SENT: _Column = ("sent/s", 10, lambda point: f"{point.sent / point.seconds:,.0f}")
_RECEIVED: _Column = ("received/s", 10, lambda point: f"{point.received / point.seconds:,.0f}")
_LATENCIES: tuple[_Column, ...] = (
    ("p50 ms", 8, lambda point: _ms(point.latency.percentile(50))),
    ("p99 ms", 8, lambda point: _ms(point.latency.percentile(99))),
    ("max ms", 8, lambda point: _ms(point.latency.largest)),
)
_MIB: _Column = ("MiB/s", 8, lambda point: f"{point.size / (1 << 20) / point.seconds:,.1f}")
_LAG: _Column = ("lag", 9, lambda point: "-" if point.lag is None else f"{point.lag:,}")
_ERRORS: _Column = ("errors", 7, lambda point: f"{point.errors:,}")
_CPU: tuple[_Column, ...] = (
    ("client", 7, lambda point: _cores(point.client)),
    ("broker", 7, lambda point: _cores(point.broker)),
)
_COLUMNS: Mapping[str, Sequence[_Column]] = {
    "produce": (_SECOND, _SENT, _MIB, *_LATENCIES, _ERRORS, *_CPU),
    "latency": (_SECOND, _SENT, _MIB, *_LATENCIES, _ERRORS, *_CPU),
    "consume": (_SECOND, _RECEIVED, _MIB, _LAG, *_CPU),
    "roundtrip": (_SECOND, _SENT, _RECEIVED, *_LATENCIES, _LAG, *_CPU),
}


def heading(workload: Workload, brokers: Sequence[BrokerFacts]) -> str:
    """What is done, and to whom."""
    lines = [f"{workload.kind}: {workload.described()}"]
    lines += [
        f"{broker.name} at {broker.address}, {broker.version}, {broker.flush}"
        f"{'' if broker.pid is None else ', on this machine'}"
        for broker in brokers
    ]
    if workload.ignored:
        lines.append(f"without meaning here: {', '.join(workload.ignored)}")
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in lines)


def column_names(kind: str) -> str:
    return " ".join(f"{name:>{width}}" for name, width, _ in _COLUMNS[kind])


def line_of(kind: str, point: Point) -> str:
    return " ".join(f"{show(point):>{width}}" for _, width, show in _COLUMNS[kind])


def summary(result: Result) -> str:
    """The end of a run."""
    lines = []
    for name, side in (("sent", result.sent), ("received", result.received)):
        if side is not None:
            lines += _side_lines(name, side)
    timed = {
        "send": result.sent,
        "end to end" if result.sent is not None else "": result.received,
    }
    rows = {
        name: side.figures()["latency_ms"]
        for name, side in timed.items()
        if side is not None and side.latency.count
    }
    if rows:
        lines += ["", *_latency_table(rows)]
    if result.workload.kind == "latency" and result.sent is not None:
        lines += ["", *spread_lines(result.sent.latency)]
    usage = result.usage
    lines.append("")
    lines.append(
        f"machine    {usage.machine:.0%} of {usage.cores} cores, load {usage.load:.1f}, "
        f"{shown_bytes(usage.available_bytes)} of memory free"
    )
    for name, part in (("client", usage.client), ("broker", usage.broker)):
        if part.is_known:
            lines.append(
                f"{name:<10} {part.cores:.0%} CPU, busiest thread {part.busy:.0%} busy, "
                f"{shown_bytes(part.memory_bytes)} of its own"
            )
    if usage.is_disk_known:
        lines.append(
            f"disk       {usage.disk_busy:.0%} busy, {usage.disk_waited:.0%} waited for, "
            f"{usage.disk_written_a_second / 1e6:,.1f} MB/s written, "
            f"{usage.disk_read_a_second / 1e6:,.1f} MB/s read"
        )
    lines.append(
        f"network    {usage.net_in_a_second / 1e6:,.1f} MB/s in, "
        f"{usage.net_out_a_second / 1e6:,.1f} MB/s out, besides loopback"
    )
    if result.is_interrupted:
        lines.append("It was interrupted: these figures are of the time until then.")
    lines += ["", textwrap.fill(result.verdict.sentence, WIDTH)]
    return "\n".join(lines)


def _side_lines(name: str, side: Side) -> list[str]:
    rate = f"{side.rate:,.0f}/s"
    if side.bytes:
        rate += f", {side.bytes / (1 << 20) / side.seconds:,.1f} MiB/s"
    lines = [f"{name:<10} {side.messages:,} in {side.seconds:.2f} s: {rate}"]
    if side.unsent:
        lines.append(f"{'unsent':<10} {side.unsent:,} were due and never sent; they count as late")
    if side.in_flight:
        lines.append(f"{'in flight':<10} {side.in_flight:.1f} requests on the average")
    lines += [
        f"{'error':<10} {times:,} × {reason}"[:WIDTH] for reason, times in side.errors.items()
    ]
    return lines


def _latency_table(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    names = list(next(iter(rows.values())))
    lines = ["ms        " + "".join(f"{name:>8}" for name in names)]
    lines += [
        f"{name:<10}" + "".join(f"{_short(value):>8}" for value in row.values())
        for name, row in rows.items()
    ]
    return lines


def spread_lines(latency: LatencyHistogram) -> list[str]:
    """How latencies are spread, as bars: each row is up to twice as long as the one before."""
    if not latency.count:
        return []
    rows: dict[int, int] = {}
    for value, times in latency.spread():
        row = max(0, (value // 1000).bit_length())
        rows[row] = rows.get(row, 0) + times
    top = max(rows.values())
    lines = []
    for row in range(min(rows), max(rows) + 1):
        times = rows.get(row, 0)
        bar = "█" * round(_BAR * times / top) or ("▏" if times else "")
        limit = f"< {_short((1 << row) / 1000)} ms"
        lines.append(f"{limit:>12} {times / latency.count:>7.2%} {bar}".rstrip())
    return lines


def comparison_lines(changes: Sequence[ComparedChange], differing: Sequence[str]) -> str:
    lines = [f"{'FIGURE':<20} {'BEFORE':>12} {'NOW':>12} {'RATIO':>7}"]
    for one in changes:
        slower = one.slower_percent
        word = f"{abs(slower):.1f} % {'slower' if slower > 0 else 'faster'}" if slower else "same"
        lines.append(
            f"{one.figure:<20} {one.before:>12,.2f} {one.now:>12,.2f} {one.ratio:>7.3f}  {word}"
        )
    if differing:
        lines.append(textwrap.fill(f"set differently: {', '.join(differing)}", WIDTH))
    return "\n".join(lines)


def plan_record(result: Result, limit: str, holds: bool) -> dict[str, Any]:
    """One step of a search."""
    side = result.main
    return {
        "wanted/s": "max" if result.workload.rate is None else round(result.workload.rate),
        "sent/s": round(side.rate),
        f"{limit} ms": side.figures().get("latency_ms", {}).get(limit),
        "errors": side.failed,
        "holds": holds,
    }


def _ms(nanoseconds: float) -> str:
    return _short(nanoseconds / 1e6)


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"
