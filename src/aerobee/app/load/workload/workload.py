"""Workload describes a load test, and is read from OpenMessaging workload files, too.

Fields of such a file that apply to any broker are used; others are reported, because they have no
effect here. Producers and consumers are clients with connections of their own; processes are how
many share the work of driving them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from aerobee.app.load.workload.bodies import STAMP_BYTES
from aerobee.errors import Misuse

Kind = Literal["produce", "consume", "roundtrip", "latency"]
Start = Literal["earliest", "latest"]

GIGABYTE = 10**9


@dataclass(frozen=True, slots=True)
class Workload:
    """W1. Checked; durations are in seconds."""

    kind: Kind = "produce"
    topic: str = ""
    """One that is there already; empty: topics are made, and deleted at the end."""
    topics: int = 1
    queues: int = 8
    """Of each topic, on each broker."""
    size_min: int = 1024
    size_max: int = 1024
    payload_path: str = ""
    batch: int = 1
    in_flight: int = 256
    """Requests that may wait for an answer, in each process."""
    rate: float | None = None
    """Messages a second; None: as fast as it goes."""
    processes: int = 1
    producers: int = 0
    """Clients that send; 0: one in each process."""
    groups: int = 1
    consumers: int = 1
    """In each group, of each topic."""
    start: Start = "earliest"
    backlog: int = 0
    """Messages that are sent before anybody consumes."""
    duration: float = 10.0
    warm_up: float = 1.0
    count: int | None = None
    """End after so many, if that is sooner."""
    ignored: tuple[str, ...] = field(default=(), compare=False)
    """Fields of a file that mean nothing here."""

    def __post_init__(self) -> None:
        for name in ("topics", "queues", "batch", "in_flight", "processes", "groups", "consumers"):
            if getattr(self, name) < 1:
                raise Misuse(f"{_flag(name)} is {getattr(self, name)}", hint="give 1 or more")
        if self.duration <= 0 or self.warm_up < 0:
            raise Misuse("a run needs some time", hint="--duration 10s --warm-up 1s")
        if self.count is not None and self.count < 1:
            raise Misuse(f"--count is {self.count}", hint="give 1 or more, or leave it out")
        if self.rate is not None and self.rate <= 0:
            raise Misuse(f"--rate is {self.rate:g}", hint="leave it out for as fast as it goes")
        if not 1 <= self.size_min <= self.size_max:
            raise Misuse(f"--size is {self.size_min}-{self.size_max}", hint="a body has a byte")
        if self.kind == "roundtrip" and self.size_min < STAMP_BYTES:
            raise Misuse(
                f"a body of {self.size_min} bytes has no room for the time it was sent",
                hint=f"--size {STAMP_BYTES} or more",
            )

    @property
    def is_consuming(self) -> bool:
        return self.kind in ("consume", "roundtrip")

    @property
    def is_producing(self) -> bool:
        return self.kind != "consume"

    def described(self) -> str:
        """The workload for people, on one line."""
        size = f"{self.size_min}"
        if self.size_max != self.size_min:
            size += f"-{self.size_max}"
        parts = [f"{self.topics} × {self.queues} queues" if not self.topic else self.topic]
        parts.append(f"{size} bytes")
        if self.is_producing:
            parts.append("one by one" if self.batch == 1 else f"batches of {self.batch}")
            parts.append(f"{self.in_flight} in flight")
            parts.append(f"{self.rate:,.0f}/s" if self.rate else "as fast as it goes")
        if self.is_consuming:
            groups = "" if self.groups == 1 else f"{self.groups} groups of "
            parts.append(f"{groups}{self.consumers} consumer{'s' * (self.consumers > 1)}")
        if self.processes > 1:
            parts.append(f"{self.processes} processes")
        return ", ".join(parts)


def read_yaml(text: str, name: str) -> Mapping[str, Any]:
    """Return the fields of a workload file. Misuse: it is not YAML, or PyYAML is not installed."""
    try:
        import yaml
    except ImportError:
        raise Misuse(
            "a workload file takes PyYAML, which is not installed",
            hint="pip install 'aerobee[yaml]'",
        ) from None
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Misuse(f"{name} is no YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(found, dict):
        raise Misuse(f"{name} is no workload", hint="it holds lines like `messageSize: 1024`")
    return found


def from_openmessaging(said: Mapping[str, Any], on: Workload) -> Workload:
    """Return `on`, overridden by a workload file's fields. Misuse names a field with an invalid
    value."""
    known: dict[str, Any] = {}
    ignored = []
    for name, value in said.items():
        if name in _FIELDS:
            ours, scale = _FIELDS[name]
            known[ours] = _number(name, value) * scale
        elif name == "payloadFile":
            known["payload_path"] = str(value or "")
        elif name not in _WORDS:
            ignored.append(name)
    for name in ("topics", "queues", "size_min", "producers", "groups", "consumers"):
        if name in known:
            known[name] = int(known[name])
    if "size_min" in known:
        known["size_max"] = known["size_min"]
    if known.get("rate", 1) <= 0:
        known["rate"] = None  # theirs for: as fast as it goes
    if "producers" in known:
        known["producers"] *= known.get("topics", on.topics)
    backlog_bytes = known.pop("backlog", 0)
    size = known.get("size_min", on.size_min)
    if backlog_bytes and on.is_consuming:
        known["backlog"] = max(1, int(backlog_bytes / size))
    return replace(on, **known, ignored=tuple(sorted(ignored)))


_FIELDS: Mapping[str, tuple[str, float]] = {
    "topics": ("topics", 1),
    "partitionsPerTopic": ("queues", 1),
    "messageSize": ("size_min", 1),
    "subscriptionsPerTopic": ("groups", 1),
    "producersPerTopic": ("producers", 1),
    "consumerPerSubscription": ("consumers", 1),
    "producerRate": ("rate", 1),
    "consumerBacklogSizeGB": ("backlog", GIGABYTE),
    "testDurationMinutes": ("duration", 60),
    "warmupDurationMinutes": ("warm_up", 60),
}
_WORDS = ("name",)


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise Misuse(f"{name} is {value!r} in the workload file", hint="it must be a number")
    return value


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
