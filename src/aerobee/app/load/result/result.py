"""Result holds the figures of a run, and is also its JSON: shown, plotted and compared.

    {"version": 1, "kind": …, "figures": {"sent": {…}, "received": {…}}, "verdict": {…}, …}

`figures` are for people and programs; `histograms` hold what they were made of, so that results can
be put together later. Latencies are in milliseconds, rates by the second, sizes in MiB.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from aerobee.app.load.measure.histogram import LatencyHistogram, from_json, merged
from aerobee.app.load.measure.usage import Usage
from aerobee.app.load.result.verdict import Verdict
from aerobee.app.load.workload.workload import Workload

VERSION = 1
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Side:
    """Of all that sent, or of all that received."""

    messages: int
    bytes: int
    seconds: float
    errors: Mapping[str, int]
    latency: LatencyHistogram
    late: LatencyHistogram
    in_flight: float = 0.0
    unsent: int = 0

    @property
    def rate(self) -> float:
        return self.messages / self.seconds if self.seconds > 0 else 0.0

    @property
    def failed(self) -> int:
        return sum(self.errors.values())

    def figures(self) -> dict[str, Any]:
        said: dict[str, Any] = {
            "messages": self.messages,
            "seconds": round(self.seconds, 3),
            "rate": round(self.rate, 1),
            "mib_a_second": round(self.bytes / MIB / self.seconds, 3) if self.seconds else 0.0,
            "errors": self.failed,
            "unsent": self.unsent,
        }
        if self.latency.count:
            said["latency_ms"] = in_ms(self.latency)
        if self.late.count:
            said["late_ms"] = in_ms(self.late)
        if self.in_flight:
            said["in_flight"] = round(self.in_flight, 2)
        return said


@dataclass(frozen=True, slots=True)
class Point:
    """One second, or what was left of it."""

    second: float
    """When it ended, from the start of the measured time."""
    seconds: float
    sent: int = 0
    received: int = 0
    errors: int = 0
    size: int = 0
    latency: LatencyHistogram = field(default_factory=LatencyHistogram)
    lag: int | None = None
    client: float | None = None
    broker: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "second": round(self.second, 2),
            "sent": round(self.sent / self.seconds, 1),
            "received": round(self.received / self.seconds, 1),
            "errors": self.errors,
            "mib_a_second": round(self.size / MIB / self.seconds, 3),
            "p50_ms": _ms(self.latency.percentile(50)),
            "p99_ms": _ms(self.latency.percentile(99)),
            "max_ms": _ms(self.latency.largest),
            "lag": self.lag,
            "client_cores": self.client,
            "broker_cores": self.broker,
        }


@dataclass(frozen=True, slots=True)
class Result:
    workload: Workload
    started: str
    brokers: Sequence[Mapping[str, Any]]
    topics: Sequence[str]
    sent: Side | None
    received: Side | None
    points: Sequence[Point]
    usage: Usage
    verdict: Verdict
    is_interrupted: bool = False

    @property
    def main(self) -> Side:
        """The side that the run was about."""
        side = self.received if self.workload.is_consuming else self.sent
        assert side is not None
        return side

    def to_json(self) -> dict[str, Any]:
        sides = {"sent": self.sent, "received": self.received}
        there = {name: side for name, side in sides.items() if side is not None}
        return {
            "version": VERSION,
            "kind": self.workload.kind,
            "started": self.started,
            "is_interrupted": self.is_interrupted,
            "workload": {**asdict(self.workload), "ignored": list(self.workload.ignored)},
            "brokers": list(self.brokers),
            "topics": list(self.topics),
            "figures": {name: side.figures() for name, side in there.items()},
            "errors": {name: dict(side.errors) for name, side in there.items()},
            "verdict": asdict(self.verdict),
            "usage": self.usage.to_json(),
            "series": [point.to_json() for point in self.points],
            "histograms": {name: side.latency.to_json() for name, side in there.items()},
        }


def side_of(told: Sequence[Mapping[str, Any]], since_ns: int, seconds: float = 0.0) -> Side:
    """What workers told, put together. Its time ends with the last message, but is not less than
    `seconds`: a rate that was held is not to look higher."""
    last = max((one["last_ns"] for one in told), default=0)
    passed = max(seconds, (last - since_ns) / 1e9, 1e-9)
    errors: dict[str, int] = {}
    for one in told:
        for reason, times in one["errors"].items():
            errors[reason] = errors.get(reason, 0) + times
    return Side(
        sum(one["messages"] for one in told),
        sum(one["bytes"] for one in told),
        passed,
        errors,
        merged(from_json(one["latency"]) for one in told),
        merged(from_json(one["late"]) for one in told),
        sum(one["service_ns"] for one in told) / 1e9 / passed,
        sum(one.get("unsent", 0) for one in told),
    )


def in_ms(histogram: LatencyHistogram) -> dict[str, float]:
    said = {"min": _ms(histogram.smallest), "mean": _ms(histogram.mean)}
    for percent in PERCENTILES:
        said[f"p{percent:g}"] = _ms(histogram.percentile(percent))
    said["max"] = _ms(histogram.largest)
    return said


def _ms(nanoseconds: float) -> float:
    return round(nanoseconds / 1e6, 4)
