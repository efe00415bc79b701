"""Job is the task of a worker process: one line of JSON on its stdin.

Its answers, a line each: `ready`, then `tick` again and again, then `result`; or `error`.
`go` with a moment of the machine's monotonic clock starts it; the end of its stdin stops it.
"""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Job:
    target: str
    run: str
    """In hex, 8 bytes: what marks this run's messages."""
    topics: list[str]
    share: int = 0
    of: int = 1
    is_stamped: bool = False
    """Bodies say when they were due."""
    warm_up: float = 0.0
    duration: float = 10.0

    clients: int = 1
    size_min: int = 1024
    size_max: int = 1024
    payload_path: str = ""
    batch: int = 1
    in_flight: int = 256
    rate: float | None = None
    count: int | None = None
    """Of this worker's share."""

    consumers: list[tuple[str, str]] = field(default_factory=list)
    """(topic, group) of each consumer; one who has any sends nothing."""
    start: str = "earliest"

    @property
    def is_consuming(self) -> bool:
        return bool(self.consumers)


def to_line(job: Job) -> str:
    return json.dumps(asdict(job))


def from_line(line: str) -> Job:
    said = json.loads(line)
    said["consumers"] = [(topic, group) for topic, group in said["consumers"]]
    return Job(**said)
