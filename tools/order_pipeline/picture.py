"""A picture of a run, as SVG: what came and went over time, how far behind, and what it was about.

    how many      changes in the database, in the topic, in the table, over seconds
    how late      messages that are in the topic and not in the results yet
    what          amounts per window, a colour for each city

Drawn by hand: three panels with axes are less than a library for them.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

WIDTH, PANEL, GAP, LEFT, RIGHT, TOP = 960, 200, 64, 76, 190, 64
COLOURS = ("#0b6e99", "#d9730d", "#6940a5", "#0f7b6c", "#ad1a72", "#64473a")
_INK, _GRID = "#37352f", "#e3e2e0"


class Sample(NamedTuple):
    """How things stood at one moment."""

    seconds: float
    changed: int
    captured: int
    applied: int
    lag_of_table: int
    lag_of_statistics: int


class Bar(NamedTuple):
    """One window: when it began, and how much of each kind."""

    label: str
    amounts: Mapping[str, float]


def picture(title: str, samples: Sequence[Sample], bars: Sequence[Bar]) -> str:
    """The whole, ready to be written to a file."""
    end = max((one.seconds for one in samples), default=1.0) or 1.0
    lines = {
        "changed in the database": [(one.seconds, one.changed) for one in samples],
        "captured in the topic": [(one.seconds, one.captured) for one in samples],
        "applied to the table": [(one.seconds, one.applied) for one in samples],
    }
    lags = {
        "table": [(one.seconds, one.lag_of_table) for one in samples],
        "statistics": [(one.seconds, one.lag_of_statistics) for one in samples],
    }
    height = TOP + 3 * (PANEL + GAP)
    panels = [
        _lines(TOP, "changes, over seconds", lines, end),
        _lines(TOP + PANEL + GAP, "not read yet, over seconds", lags, end),
        _bars(TOP + 2 * (PANEL + GAP), "amount ordered per window, by city", bars),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
        f"{_text(LEFT, 30, title, size=17, weight='600')}\n" + "\n".join(panels) + "\n</svg>\n"
    )


def ticks(most: float, count: int = 4) -> list[float]:
    """Round numbers from 0 to at least `most`."""
    if most <= 0:
        return [0.0, 1.0]
    step = 1.0
    while step * count < most:
        step *= 10
    for nicer in (step / 10, step / 5, step / 4, step / 2):
        if nicer * count >= most and nicer >= 1:
            step = nicer
            break
    made = [0.0]
    while made[-1] < most:
        made.append(made[-1] + step)
    return made


def _lines(
    top: float, name: str, lines: Mapping[str, Sequence[tuple[float, int]]], end: float
) -> str:
    most = max((value for points in lines.values() for _, value in points), default=0)
    marks = ticks(most)
    x = _scale(end, LEFT, WIDTH - RIGHT)
    y = _scale(marks[-1], top + PANEL, top)
    parts = [_frame(top, name, marks, y)]
    parts += [
        _text(x(second), top + PANEL + 16, f"{second:.0f}", anchor="middle")
        for second in ticks(end, 8)
        if second <= end
    ]
    for number, (label, points) in enumerate(lines.items()):
        path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)
        colour = COLOURS[number]
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{("none", "7 3", "2 3")[number % 3]}"/>'
        )
        parts.append(_legend(top, number, label, colour))
    return "\n".join(parts)


def _bars(top: float, name: str, bars: Sequence[Bar]) -> str:
    kinds = sorted({kind for bar in bars for kind in bar.amounts})
    marks = ticks(max((sum(bar.amounts.values()) for bar in bars), default=0))
    y = _scale(marks[-1], top + PANEL, top)
    parts = [_frame(top, name, marks, y)]
    room = (WIDTH - RIGHT - LEFT) / max(1, len(bars))
    every = -(-len(bars) // 8) if bars else 1
    for at, bar in enumerate(bars):
        left = LEFT + at * room + room * 0.1
        bottom = 0.0
        for number, kind in enumerate(kinds):
            amount = bar.amounts.get(kind, 0.0)
            parts.append(
                f'<rect x="{left:.1f}" y="{y(bottom + amount):.1f}" width="{room * 0.8:.1f}" '
                f'height="{y(bottom) - y(bottom + amount):.1f}" '
                f'fill="{COLOURS[number % len(COLOURS)]}"/>'
            )
            bottom += amount
        if at % every == 0:
            parts.append(_text(left + room * 0.4, top + PANEL + 16, bar.label, anchor="middle"))
    parts += [
        _legend(top, number, kind, COLOURS[number % len(COLOURS)])
        for number, kind in enumerate(kinds)
    ]
    return "\n".join(parts)


def _frame(top: float, name: str, marks: Sequence[float], y: Callable[[float], float]) -> str:
    parts = [_text(LEFT, top - 10, name, weight="600")]
    for mark in marks:
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" '
            f'stroke="{_GRID}"/>'
        )
        parts.append(_text(LEFT - 8, y(mark) + 4, f"{mark:,.0f}", anchor="end"))
    return "\n".join(parts)


def _legend(top: float, number: int, label: str, colour: str) -> str:
    at = top + 12 + number * 20
    box = f'<rect x="{WIDTH - RIGHT + 16}" y="{at - 9}" width="10" height="10" fill="{colour}"/>'
    return box + _text(WIDTH - RIGHT + 32, at, label)


def _scale(most: float, low: float, high: float) -> Callable[[float], float]:
    """Values from 0 to `most` → places from `low` to `high`."""
    return lambda value: low + (high - low) * value / (most or 1.0)


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = "400"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}" fill="{_INK}">{escape(text)}</text>'
    )
