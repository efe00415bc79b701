"""Two results beside each other: the ratio of each figure, and whether that is slower.

A rate is better when it is higher, a latency when it is lower. What fails a comparison are rate,
median and 99th percentile; the far tail is shown, but one pause of a machine decides it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aerobee.app.load.result.result import VERSION
from aerobee.errors import Misuse

_SIDES = ("sent", "received")
_LATENCIES = ("mean", "p50", "p90", "p99", "p99.9", "max")
_JUDGED = ("rate", "p50 ms", "p99 ms")


@dataclass(frozen=True, slots=True)
class ComparedChange:
    figure: str
    before: float
    now: float
    is_judged: bool

    def to_json(self) -> dict[str, object]:
        ratio = self.ratio if self.ratio != float("inf") else None
        return {"figure": self.figure, "before": self.before, "now": self.now, "ratio": ratio}

    @property
    def ratio(self) -> float:
        """Now by before."""
        if self.before == 0:
            return 1.0 if self.now == 0 else float("inf")
        return self.now / self.before

    @property
    def slower_percent(self) -> float:
        """How much worse it is; negative: better."""
        if self.figure.endswith("ms"):
            return 100 * (self.ratio - 1)
        return 100 * (1 / self.ratio - 1) if self.ratio > 0 else float("inf")


def read_result(text: str, name: str) -> Mapping[str, Any]:
    """Misuse: it is none of ours."""
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if not isinstance(said, dict) or "figures" not in said:
        raise Misuse(
            f"{name} holds no result of a load test",
            hint="`aerobee bench produce -o json > FILE` writes one",
        )
    if said.get("version") != VERSION:
        raise Misuse(f"{name} is a result of version {said.get('version')}, not {VERSION}")
    return said


def check_kind(before: Mapping[str, Any], kind: str) -> None:
    """Misuse: it is a result of something else."""
    if before.get("kind") != kind:
        raise Misuse(
            f"the old result is of `bench {before.get('kind')}`, not of `bench {kind}`",
            hint="compare runs of the same kind",
        )


def compare(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[ComparedChange]:
    """Figure by figure, those that both have."""
    changes = []
    for side in _SIDES:
        old, new = (one["figures"].get(side) for one in (before, now))
        if old is None or new is None:
            continue
        pairs = [("rate", old["rate"], new["rate"])]
        olds, news = (one.get("latency_ms", {}) for one in (old, new))
        pairs += [
            (f"{name} ms", olds[name], news[name])
            for name in _LATENCIES
            if name in olds and name in news
        ]
        changes += [
            ComparedChange(f"{side} {name}", was, is_now, name in _JUDGED)
            for name, was, is_now in pairs
        ]
    return changes


def differing_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What was set differently: then the figures say something else."""
    old, new = (dict(one.get("workload", {})) for one in (before, now))
    for one in (old, new):
        one.pop("ignored", None)
    return [f"{name} {old.get(name)} → {new[name]}" for name in new if old.get(name) != new[name]]


def slower(changes: list[ComparedChange], percent: float) -> list[ComparedChange]:
    """Those that count and are worse by more than that."""
    return [one for one in changes if one.is_judged and one.slower_percent > percent]
