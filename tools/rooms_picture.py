"""A picture of the rooms of the house, drawn from the import contracts: `docs/pictures/rooms.svg`.

python -m tools.rooms_picture docs/pictures/rooms.svg

A box is a package or a module that a layers contract of `pyproject.toml` names. A row may import
the rows below it in the same box, never one above or beside. `tests/tidy` compares the picture in
`docs/` with the contracts, so it is never older than they are.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.tidy.rooms import layer_contracts
from tests.tidy.source_tree import ROOT

_CHARACTER, _LINE = 7.3, 15
_PADDING, _GAP, _LAYER_GAP = 7, 5, 9
_ROW_MAX = 1240
"""Leaves of a row that would be wider go on in the next line."""
_NESTED_ROW_MAX = 620
_FILLS = ("#ffffff", "#eef4fb", "#dfeaf7", "#cfe0f3")
_STROKE, _INK = "#6b8cb3", "#1b2a3a"


@dataclass
class Box:
    """One room: its name, and the lines of rooms inside it, from top to bottom."""

    name: str
    lines: Sequence[Sequence["Box"]]
    ends_layer: Sequence[bool]
    """Of each line, whether a layer ends with it."""

    @property
    def width(self) -> float:
        inner = max((_line_width(line) for line in self.lines), default=0.0)
        return max(inner, len(self.name) * _CHARACTER) + 2 * _PADDING

    @property
    def height(self) -> float:
        height = float(_LINE + _PADDING)
        for line, is_last in zip(self.lines, self.ends_layer, strict=True):
            height += max(box.height for box in line) + (_LAYER_GAP if is_last else _GAP)
        return height

    def svg(self, x: float, y: float, depth: int) -> list[str]:
        fill = _FILLS[min(depth, len(_FILLS) - 1)]
        weight = "bold" if self.lines else "normal"
        drawn = [
            f'<g><rect x="{x:.1f}" y="{y:.1f}" width="{self.width:.1f}" height="{self.height:.1f}"'
            f' rx="4" fill="{fill}" stroke="{_STROKE}"/>',
            f'<text x="{x + _PADDING:.1f}" y="{y + _LINE:.1f}"'
            f' font-weight="{weight}">{escape(self.name)}</text></g>',
        ]
        top = y + _LINE + _PADDING
        for line, is_last in zip(self.lines, self.ends_layer, strict=True):
            left = x + _PADDING
            for box in line:
                drawn += box.svg(left, top, depth + 1)
                left += box.width + _GAP
            top += max(box.height for box in line) + (_LAYER_GAP if is_last else _GAP)
        return drawn


def picture(root: Path = ROOT) -> str:
    """The SVG of all contracts below `root`."""
    contracts = dict(layer_contracts(root / "pyproject.toml"))
    house = _box("aerobee", contracts, _ROW_MAX)
    width, height = house.width + 2 * _GAP, house.height + 2 * _GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
            f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="12"'
            f' fill="{_INK}">',
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *house.svg(_GAP, _GAP, 0),
            "</svg>\n",
        ]
    )


def _box(name: str, contracts: dict[str, list[list[str]]], row_max: float) -> Box:
    lines: list[list[Box]] = []
    ends_layer: list[bool] = []
    for layer in contracts.get(name, []):
        shown = [room for room in layer if not room.startswith("_")]
        boxes = [_box(f"{name}.{room}", contracts, _NESTED_ROW_MAX) for room in shown]
        wrapped = _wrapped(boxes, row_max) if boxes else []
        lines += wrapped
        ends_layer += [line is wrapped[-1] for line in wrapped]
    return Box(name.rpartition(".")[2], lines, ends_layer)


def _wrapped(boxes: Sequence[Box], row_max: float) -> list[list[Box]]:
    lines: list[list[Box]] = [[]]
    for box in boxes:
        if lines[-1] and _line_width([*lines[-1], box]) > row_max:
            lines.append([])
        lines[-1].append(box)
    return lines


def _line_width(line: Sequence[Box]) -> float:
    return sum(box.width for box in line) + _GAP * (len(line) - 1)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), "utf-8")
