"""A run as pictures: a rate, its latencies and the machine over time, and how latencies spread.

`.svg` and `.html` are made here, whole in one file, and load nothing. `.png` takes a library that
draws SVG (cairosvg), if it is installed.
"""

import html
import importlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aerobee.app.load.measure.histogram import from_json
from aerobee.errors import Misuse

_WIDTH, _HEIGHT = 820, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 30, 28
_COLOURS = ("#1f6fb2", "#d2691e", "#2e8b57", "#8a2be2")
_SPREAD_PERCENTS = (0, 50, 90, 99, 99.9, 99.99, 99.999)

Line = tuple[str, Sequence[tuple[float, float]]]


def write_plot(path: str, result: Mapping[str, Any]) -> None:
    """By the end of its name. Misuse: a kind of picture that cannot be made here."""
    kind = Path(path).suffix.lower()
    if kind == ".svg":
        content = svg(result).encode()
    elif kind == ".html":
        content = page(result).encode()
    elif kind == ".png":
        content = _png(svg(result))
    else:
        raise Misuse(f"{path}: no such picture", hint="give a name that ends in .html or .svg")
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}") from None


def check_name(path: str) -> None:
    """Before anything is measured."""
    kind = Path(path).suffix.lower()
    if kind not in (".svg", ".html", ".png"):
        raise Misuse(f"{path}: no such picture", hint="give a name that ends in .html or .svg")
    if kind == ".png":
        _png_library()


def svg(result: Mapping[str, Any]) -> str:
    """All pictures under each other."""
    return drawing(charts(result))


def drawing(drawn: Sequence[str]) -> str:
    """Charts under each other, as a whole SVG."""
    parts = [
        f'<g transform="translate(0 {number * _HEIGHT})">{chart}</g>'
        for number, chart in enumerate(drawn)
    ]
    height = len(parts) * _HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    )


def page(result: Mapping[str, Any]) -> str:
    title = f"aerobee bench {result['kind']}, {result['started']}"
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>"
        for name, text in _facts(result)
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title>"
        "<style>body{font-family:sans-serif;max-width:52em;margin:2em auto}"
        "td{padding:.15em 1em .15em 0;vertical-align:top}</style>"
        f"<h1>{html.escape(title)}</h1><p><b>{html.escape(result['verdict']['sentence'])}</b></p>"
        f"<table>{rows}</table>{svg(result)}</html>\n"
    )


def charts(result: Mapping[str, Any]) -> list[str]:
    series = result["series"]

    def over_time(name: str, field: str) -> Line:
        return name, [(one["second"], one[field]) for one in series if one[field] is not None]

    sides = [name for name in ("sent", "received") if name in result["figures"]]
    found = [chart("messages a second", [over_time(name, name) for name in sides], "s")]
    latencies = [over_time(f"{name} ms", f"{name}_ms") for name in ("p50", "p99", "max")]
    if any(value for _, points in latencies for _, value in points):
        found.append(chart("latency, ms", latencies, "s"))
    spreads = [(name, _spread(result["histograms"][name])) for name in sides]
    spreads = [(name, points) for name, points in spreads if points]
    if spreads:
        labels = {_place(percent): f"{percent:g} %" for percent in _SPREAD_PERCENTS}
        found.append(chart("latency by percentile, ms", spreads, "", labels))
    cores = [over_time("client", "client_cores"), over_time("broker", "broker_cores")]
    found.append(chart("cores in use", cores, "s"))
    if any(one["lag"] for one in series):
        found.append(chart("lag, messages", [over_time("lag", "lag")], "s"))
    return found


def chart(
    title: str, lines: Sequence[Line], unit: str, labels: Mapping[float, str] | None = None
) -> str:
    """Lines over one axis; the other begins at nothing."""
    lines = [(name, points) for name, points in lines if points]
    x_max = max((x for _, points in lines for x, _ in points), default=1.0) or 1.0
    y_max = _round_up(max((y for _, points in lines for _, y in points), default=1.0))
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * x / x_max, _TOP + high * (1 - y / y_max)

    parts = [f'<text x="{_LEFT}" y="18" font-weight="bold">{html.escape(title)}</text>']
    for share in (0.0, 0.5, 1.0):
        x, y = place(0, y_max * share)
        parts.append(f'<path d="M{x:.1f} {y:.1f}h{wide}" stroke="#ddd"/>')
        label = f"{y_max * share:,.6g}"
        parts.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    ticks = labels or {x_max * share: f"{x_max * share:.3g} {unit}" for share in (0, 0.5, 1)}
    for value, label in ticks.items():
        if value <= x_max:
            x, _ = place(value, 0)
            parts.append(
                f'<text x="{x:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{label}</text>'
            )
    for number, (name, points) in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(points) == 1:
            x, y = place(*points[0])
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        label_x = _WIDTH - _RIGHT - 110 * (len(lines) - number)
        parts.append(f'<text x="{label_x}" y="18" fill="{colour}">{html.escape(name)}</text>')
    return "".join(parts)


def _spread(histogram: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Percentiles on an axis on which each further nine is as far away as the one before."""
    found = from_json(histogram)
    if not found.count:
        return []
    points = []
    seen = 0
    for value, times in found.spread():
        seen += times
        below = min(seen / found.count, 1 - 1 / (2 * found.count))
        points.append((_place(100 * below), value / 1e6))
    return points


def _place(percent: float) -> float:
    return -math.log10(1 - percent / 100)


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 with noughts."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** math.floor(math.log10(value))
    return next(step * scale for step in (1, 2, 5, 10) if step * scale >= value * (1 - 1e-9))


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [("started", result["started"])]
    for broker in result["brokers"]:
        place = f"{broker['address']}, {broker['version']}, {broker['flush']}"
        found.append((broker["name"], place))
    for side, figures in result["figures"].items():
        found.append((side, f"{figures['messages']:,} messages, {figures['rate']:,.0f}/s"))
        for name, value in figures.get("latency_ms", {}).items():
            found.append((f"{side} {name}", f"{value:,.3f} ms"))
    return found


def _png(picture: str) -> bytes:
    drawn: bytes = _png_library().svg2png(bytestring=picture.encode())
    return drawn


def _png_library() -> Any:
    try:
        return importlib.import_module("cairosvg")
    except (ImportError, OSError):
        raise Misuse(
            "a .png takes the library cairosvg, which is not installed",
            hint="use .svg or .html, which need nothing; or pip install cairosvg",
        ) from None
