"""Bars as SVG: one group for each case, one bar for each side.

Written by hand: a picture of a dozen rectangles needs no package.
"""

from collections.abc import Mapping, Sequence
from html import escape

_COLOURS = ("#2f6f9f", "#c9702b", "#7fb2d6", "#5b9a5b", "#a5cf9d", "#8a6fb0")
_BAR, _GAP, _HEIGHT, _LEFT, _TOP = 46, 34, 220, 70, 50


def bars(title: str, unit: str, groups: Mapping[str, Mapping[str, float]]) -> str:
    """A picture of `groups`: case → side → figure."""
    sides: Sequence[str] = list(dict.fromkeys(side for group in groups.values() for side in group))
    top = max((value for group in groups.values() for value in group.values()), default=1) or 1
    parts = []
    x = _LEFT
    for case, group in groups.items():
        start = x
        for side, value in group.items():
            height = _HEIGHT * value / top
            y = _TOP + _HEIGHT - height
            colour = _COLOURS[sides.index(side) % len(_COLOURS)]
            parts.append(
                f'<rect x="{x}" y="{y:.1f}" width="{_BAR - 6}" height="{height:.1f}" '
                f'fill="{colour}"/>'
            )
            parts.append(
                f'<text x="{x + _BAR / 2 - 3}" y="{y - 4:.1f}" text-anchor="middle">'
                f"{_short(value)}</text>"
            )
            x += _BAR
        parts.append(
            f'<text x="{(start + x) / 2 - 3}" y="{_TOP + _HEIGHT + 18}" text-anchor="middle">'
            f"{escape(case)}</text>"
        )
        x += _GAP
    width = max(x, 420)
    for number, side in enumerate(sides):
        at = _LEFT + 110 * number
        parts.append(
            f'<rect x="{at}" y="{_TOP + _HEIGHT + 34}" width="12" height="12" '
            f'fill="{_COLOURS[number % len(_COLOURS)]}"/>'
            f'<text x="{at + 18}" y="{_TOP + _HEIGHT + 45}">{escape(side)}</text>'
        )
    line = _TOP + _HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{line + 60}" '
        'font-family="sans-serif" font-size="12">'
        f'<rect width="{width}" height="{line + 60}" fill="white"/>'
        f'<text x="{_LEFT}" y="24" font-size="15">{escape(title)} ({escape(unit)})</text>'
        f'<line x1="{_LEFT - 10}" y1="{line}" x2="{width - 10}" y2="{line}" stroke="#444"/>'
        + "".join(parts)
        + "</svg>\n"
    )


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f}{letter}"
    return f"{value:.2f}"
