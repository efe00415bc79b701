"""Workers' quarters of seconds, put together to seconds.

Q1. A second is told when every worker that still runs has told of all of it, in order, each once.
Q2. All that was heard is in some second, at the latest at the end.
"""

from collections.abc import Mapping
from typing import Any

from aerobee.app.load.measure.histogram import LatencyHistogram, from_json
from aerobee.app.load.result.result import Point

QUARTERS = 4


class Series:
    def __init__(self, senders: int, receivers: int, *, is_timing_arrival: bool) -> None:
        """Workers are numbered, those that send first. `is_timing_arrival`: latencies that are
        shown are of those who receive."""
        self._senders = senders
        self._is_timing_arrival = is_timing_arrival
        self._heard: dict[int, int] = dict.fromkeys(range(senders + receivers), -1)
        self._open: dict[int, _Second] = {}
        self._next = 0
        self.owned: dict[int, int] = {}
        self.positions: dict[int, int] = {}
        self.sent = 0
        self.received = 0

    def hear(self, worker: int, tick: Mapping[str, Any]) -> None:
        number: int = tick["number"]
        if "owned" in tick:
            self.owned[worker] = tick["owned"]
            self.positions[worker] = tick["position"]
        is_sender = worker < self._senders
        if is_sender:
            self.sent += tick["messages"]
        else:
            self.received += tick["messages"]
        self._heard[worker] = max(self._heard[worker], number)
        # What comes late belongs to a second that is not told yet.
        second = max(self._next, number // QUARTERS)
        if tick["messages"] or tick["errors"] or tick["latency"]["count"] or number >= 0:
            found = self._open.setdefault(second, _Second())
            found.add(tick, is_sender, is_sender != self._is_timing_arrival)

    def ended(self, worker: int) -> None:
        """It tells nothing more."""
        self._heard.pop(worker, None)

    def take(self) -> list[Point]:
        """The seconds that are whole."""
        whole = min(self._heard.values(), default=-1)
        points = []
        while (self._next + 1) * QUARTERS - 1 <= whole:
            points.append(self._point(self._next, 1.0))
        return points

    def take_rest(self, seconds: float) -> list[Point]:
        """What is left, at the end of a time that was measured for so long."""
        points = []
        last = max(self._open, default=-1)
        while self._next <= last:
            length = seconds - self._next if self._next == last else 1.0
            points.append(self._point(self._next, min(1.0, max(length, 1 / QUARTERS))))
        return points

    def _point(self, second: int, seconds: float) -> Point:
        found = self._open.pop(second, None) or _Second()
        self._next = second + 1
        return Point(
            second + seconds,
            seconds,
            found.sent,
            found.received,
            found.errors,
            found.bytes,
            found.latency,
        )


class _Second:
    def __init__(self) -> None:
        self.sent = 0
        self.received = 0
        self.errors = 0
        self.bytes = 0
        self.latency = LatencyHistogram()

    def add(self, tick: Mapping[str, Any], is_sender: bool, is_timed: bool) -> None:
        if is_sender:
            self.sent += tick["messages"]
        else:
            self.received += tick["messages"]
        self.errors += tick["errors"]
        if is_timed:
            self.bytes += tick["bytes"]
            self.latency.add(from_json(tick["latency"]))
