"""Times and places in queues, as people write them.

earliest, latest            the ends
2026-11-15T12:00:00         a time here; with +01:00 or Z, there
2026-11-15                  when that day began
90s 15m 2h 3d               so long ago
42                          an offset, where one can be meant
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
    """WrongUse names the flag at which it was said."""
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
    """From one to the other; WrongUse if there can be nothing in between."""
    first = read_moment(start or EARLIEST, "--from")
    last = read_moment(end or LATEST, end_flag)
    if isinstance(first, datetime) and isinstance(last, datetime) and first >= last:
        raise WrongUse(
            f"--from {start} is not before {end_flag} {end}",
            hint="2h is before 1h: it is longer ago",
        )
    return first, last


def read_place(text: str, flag: str) -> "Moment | int":
    """The same, or an offset: those are whole numbers."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return read_moment(text, flag)
    except WrongUse:
        raise WrongUse(
            f"{flag} {text!r} is no time and no offset", hint=f"{_HINT}; or an offset: 42"
        ) from None


def read_seconds(text: str, flag: str) -> float:
    """A stretch of time: `90`, `90s`, `15m`, `2h`."""
    found = _AGO.fullmatch(text) or _AGO.fullmatch(text + "s")
    if found is None:
        raise WrongUse(f"{flag} {text!r} is no stretch of time", hint="say 90, 90s, 15m or 2h")
    return float(found[1]) * _SECONDS[found[2]]


def shown_ms(wall_ms: int) -> Instant | None:
    """A time that brokers tell, for people and programs; None: there is none."""
    if wall_ms <= 0:
        return None
    shown = datetime.fromtimestamp(wall_ms / 1000).astimezone()
    return Instant(shown.isoformat(timespec="milliseconds"))
