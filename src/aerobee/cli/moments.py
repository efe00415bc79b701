"""Parser of times and offsets, as people write them in flags.

earliest, latest            the ends of a queue
2026-11-15T12:00:00         a local time; with +01:00 or Z, in that zone
2026-11-15                  the start of that day
90s 15m 2h 3d               so long ago
42                          an offset, where a flag takes one
"""

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from aerobee.cli.output import Instant, WrongUse

if TYPE_CHECKING:
    from aerobee.client.admin.offsets import Moment

EARLIEST, LATEST = ENDS = ("earliest", "latest")
_AGO = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_HINT = "say earliest, latest, a time like 2026-11-15T12:00:00, or how long ago: 15m, 2h, 3d"


def read_moment(text: str, flag: str) -> "Moment":
    """Parse a time. WrongUse names the flag."""
    if text in ENDS:
        return text
    ago = _AGO.fullmatch(text)
    if ago:
        seconds = float(ago[1]) * _SECONDS[ago[2]]
        try:
            return datetime.now().astimezone() - timedelta(seconds=seconds)
        except OverflowError:
            return EARLIEST
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise WrongUse(f"{flag} {text!r} is no time", hint=_HINT) from None


def read_range(start: str | None, end: str | None, end_flag: str) -> "tuple[Moment, Moment]":
    """Parse the start and the end of a range. WrongUse: it is empty."""
    first = read_moment(start or EARLIEST, "--from")
    last = read_moment(end or LATEST, end_flag)
    if isinstance(first, datetime) and isinstance(last, datetime) and first >= last:
        raise WrongUse(
            f"--from {start} is not before {end_flag} {end}",
            hint="2h is before 1h: it is longer ago",
        )
    return first, last


def read_place(text: str, flag: str) -> "Moment | int":
    """Parse a time or an offset; offsets are whole numbers."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return read_moment(text, flag)
    except WrongUse:
        raise WrongUse(
            f"{flag} {text!r} is no time and no offset", hint=f"{_HINT}; or an offset: 42"
        ) from None


def read_seconds(text: str, flag: str) -> float:
    """Parse a duration: `90`, `90s`, `15m`, `2h`."""
    found = _AGO.fullmatch(text) or _AGO.fullmatch(text + "s")
    if found is None:
        raise WrongUse(f"{flag} {text!r} is no stretch of time", hint="say 90, 90s, 15m or 2h")
    return float(found[1]) * _SECONDS[found[2]]


def shown_ms(wall_ms: int) -> Instant | None:
    """Format a timestamp of a broker; None: there is none."""
    if wall_ms <= 0:
        return None
    shown = datetime.fromtimestamp(wall_ms / 1000).astimezone()
    return Instant(shown.isoformat(timespec="milliseconds"))
