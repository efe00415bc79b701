"""Figures of brokers and topics: counters of two moments become rates.

Counters never go back while a broker runs; after a restart they begin anew, and then there is no
rate for one moment. Values, and arithmetic on them: nobody is asked here.
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.protocol.bodies.topic_stats import QueueStats

_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_CAPACITY = re.compile(r"(Total|Free)\s*:\s*([\d.]+)\s*([KMGTP]?i?B)")
_LEVEL = "scheduleMessageOffset_"
APACHE, AEROBEE = ("apache", "aerobee")
PUT_LATENCIES = {"p50": "putLatency50", "p99": "putLatency99", "p999": "putLatency999"}


GROWTH_MINUTES = 60


class Counters(NamedTuple):
    """Counters of a broker at one moment."""

    seconds: float
    stored: int
    read: int
    log_end: int


class BrokerRates(NamedTuple):
    stored: float
    read: float
    bytes: float


def counters_of(info: RuntimeInfo, seconds: float) -> Counters:
    figures = info.figures
    return Counters(
        seconds,
        _whole(figures.get("putMessageTimesTotal", "")),
        _whole(figures.get("msgGetTotalTodayNow", "")),
        info.log_end,
    )


def rates_between(before: Counters, after: Counters) -> BrokerRates | None:
    """Return rates; None: the broker began anew in between, or no time has passed."""
    seconds = after.seconds - before.seconds
    moved = [new - old for new, old in zip(after[1:], before[1:], strict=True)]
    if seconds <= 0 or min(moved) < 0:
        return None
    return BrokerRates(*(one / seconds for one in moved))


class DiskSpace(NamedTuple):
    total: int
    free: int


def disk_space(info: RuntimeInfo) -> DiskSpace | None:
    """Parse `Total : 91.1 GiB, Free : 55.7 GiB.`"""
    found = {
        word: int(float(number) * _UNITS.get(unit, 1))
        for word, number, unit in _CAPACITY.findall(info.figures.get("commitLogDirCapacity", ""))
    }
    if {"Total", "Free"} <= found.keys():
        return DiskSpace(found["Total"], found["Free"])
    return None


class Growth:
    """Ends of a log over the last hour, one for each minute: how fast it has grown in that time. A
    burst of seconds, or a pause, says little of when a disk will be full."""

    def __init__(self) -> None:
        self._ends: deque[tuple[float, int]] = deque(maxlen=GROWTH_MINUTES + 1)
        self._last = (0.0, 0)

    def add(self, seconds: float, log_end: int) -> None:
        if self._ends and log_end < self._last[1]:
            self._ends.clear()  # another store
        self._last = (seconds, log_end)
        if not self._ends or seconds - self._ends[-1][0] >= 60.0:
            self._ends.append(self._last)

    def bytes_a_second(self) -> float | None:
        """Return the growth; None: it was looked at for less than a minute."""
        if not self._ends:
            return None
        passed = self._last[0] - self._ends[0][0]
        if passed < 60.0:
            return None
        return (self._last[1] - self._ends[0][1]) / passed


def days_left(space: DiskSpace | None, stop: float, bytes_a_second: float) -> float | None:
    """Return the days until a disk is so full that sends are refused, if nothing is deleted."""
    if space is None or bytes_a_second < 1:
        return None
    room = space.free - space.total * (1 - stop)
    return max(0.0, room / bytes_a_second / 86_400)


def put_latency(info: RuntimeInfo) -> dict[str, float] | None:
    """Return the percentiles of a put in ms that a broker reports; RocketMQ's do not report the
    half."""
    found = {
        name: float(info.figures[key])
        for name, key in PUT_LATENCIES.items()
        if _is_number(info.figures.get(key, ""))
    }
    return found or None


def waiting_by_level(info: RuntimeInfo) -> dict[int, int]:
    """Parse `scheduleMessageOffset_3: 7,9`: on level 3 two messages wait."""
    found = {}
    for name, text in info.figures.items():
        offset, comma, end = text.partition(",")
        if name.startswith(_LEVEL) and comma:
            level = _whole(name.removeprefix(_LEVEL))
            found[level] = max(0, _whole(end) - _whole(offset))
    return found


def flush_behind(info: RuntimeInfo) -> int:
    """Parse `remainHowManyDataToFlush = 1.2 KiB`: bytes that are not on the disk."""
    number, _, unit = info.figures.get("remainHowManyDataToFlush", "").partition(" ")
    return int(float(number) * _UNITS.get(unit.strip(), 1)) if _is_number(number) else 0


@dataclass(slots=True)
class TopicFigures:
    """A topic, as it was last asked about."""

    seconds: float
    end: int
    """Sum of the ends of its queues: messages that it ever had."""
    messages: int
    last_stored: int | None
    stored: float | None = None
    """A second; None: it was asked about once."""


def topic_figures(
    queues: Iterable[QueueStats], seconds: float, before: TopicFigures | None
) -> TopicFigures:
    listed = list(queues)
    end = sum(one.max_offset for one in listed)
    last = max((one.stored_ms for one in listed), default=0)
    found = TopicFigures(
        seconds, end, sum(one.max_offset - one.min_offset for one in listed), last or None
    )
    if before is not None and seconds > before.seconds and end >= before.end:
        found.stored = (end - before.end) / (seconds - before.seconds)
    return found


def _whole(text: str) -> int:
    text = text.strip()
    return int(text) if text.lstrip("-").isdigit() else 0


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False
