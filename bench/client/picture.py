"""The comparison as SVG: a panel for each case, a bar for each client, ours in another colour.

Each panel has its own scale: what is received in a second and what is sent one after the other are
a hundred times apart. Written by hand: rectangles need no package.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bench.client.results import Found, latency_ms, rate
from bench.client.sides import CASES, SIDES

OURS, OTHERS = "#2f6f9f", "#b8bec4"
COLUMNS = 2
_WIDTH, _NAME, _BAR = 620, 190, 200
_ROW, _TOP, _BELOW, _MARGIN = 20, 28, 22, 16
_HEAD = 40


@dataclass(frozen=True)
class Bar:
    name: str
    value: float
    label: str
    is_ours: bool


@dataclass(frozen=True)
class Panel:
    title: str
    bars: Sequence[Bar]

    @property
    def height(self) -> int:
        return _TOP + _ROW * len(self.bars) + _BELOW


def draw(found: Found) -> str:
    """All that was measured, the fastest first in each panel."""
    panels = []
    for case, about in CASES.items():
        sides = found.get(case, {})
        bars = []
        for name in sorted(sides, key=lambda name: -rate(sides[name])):
            p50, p99 = (latency_ms(sides[name], one) for one in ("p50", "p99"))
            label = f"{rate(sides[name]):,.0f}"
            if p50 is not None and p99 is not None:
                label += f" (p50 {p50:.2f}, p99 {p99:.2f} ms)"
            bars.append(Bar(SIDES[name].title, rate(sides[name]), label, SIDES[name].is_ours))
        if bars:
            panels.append(Panel(f"{about.title}: {about.unit}", bars))
    return picture("Clients for Python, 100-byte messages, a process each", panels)


def picture(title: str, panels: Sequence[Panel]) -> str:
    """All panels, two beside each other."""
    rows = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
    parts = []
    y = _HEAD
    for row in rows:
        for column, panel in enumerate(row):
            parts += _drawn(panel, _MARGIN + column * _WIDTH, y)
        y += max(panel.height for panel in row)
    width = 2 * _MARGIN + COLUMNS * _WIDTH
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" '
        f'viewBox="0 0 {width} {y}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{y}" fill="white"/>\n'
        f'<text x="{_MARGIN}" y="24" font-size="16">{escape(title)}</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _drawn(panel: Panel, x: int, y: int) -> list[str]:
    parts = [f'<text x="{x}" y="{y + 18}" font-weight="bold">{escape(panel.title)}</text>']
    top = max((bar.value for bar in panel.bars), default=0.0) or 1.0
    for number, bar in enumerate(panel.bars):
        line = y + _TOP + _ROW * number
        length = max(1.0, _BAR * bar.value / top)
        weight = ' font-weight="bold"' if bar.is_ours else ""
        parts.append(
            f'<text x="{x + _NAME - 8}" y="{line + 12}" text-anchor="end"{weight}>'
            f"{escape(bar.name)}</text>"
            f'<rect x="{x + _NAME}" y="{line}" width="{length:.1f}" height="{_ROW - 5}" '
            f'fill="{OURS if bar.is_ours else OTHERS}"/>'
            f'<text x="{x + _NAME + length + 6:.1f}" y="{line + 12}">{escape(bar.label)}</text>'
        )
    return parts
