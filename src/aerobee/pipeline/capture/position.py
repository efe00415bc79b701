"""Positions in a binary log, as text that sorts by age; and CaptureState, which a capture saves.

    0001-0000000007-000000004711-00000002
    │    │          │            └ number of the change in its event
    │    │          └ byte behind the event
    │    └ number of the log file
    └ epoch: one more with each new snapshot of everything

This text is a change's sequence. Sequences compare as texts, and the later change has the greater
one, whichever queue it came through and however often. A new snapshot begins a new epoch, so that
its rows win over whatever was there before, even where the files begin with 1 again.
"""

import json
import re
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple, Self

from aerobee.pipeline.capture.errors import CaptureError

FORMAT = 1
_NUMBER = re.compile(r"(\d+)$")


class Position(NamedTuple):
    """The byte after an event at which a transaction ends."""

    file: str
    offset: int

    @property
    def file_number(self) -> int:
        found = _NUMBER.search(self.file)
        return int(found[1]) if found else 0

    def is_before(self, other: "Position") -> bool:
        return (self.file_number, self.offset) < (other.file_number, other.offset)

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


def sequence(epoch: int, position: Position, row: int) -> str:
    return f"{epoch:04d}-{position.file_number:010d}-{position.offset:012d}-{row:08d}"


class Phase(Enum):
    SNAPSHOT = "snapshot"
    STREAMING = "streaming"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class CaptureState:
    """The saved state of a capture: the changes that are stored, and the position to continue from.

    C1. Everything before `position` is in the topics; while `phase` is a snapshot, so are the
        tables that are `done`, and of the one in `reading` the rows up to its key there.
    """

    name: str
    position: Position
    epoch: int = 1
    phase: Phase = Phase.SNAPSHOT
    done: frozenset[str] = frozenset()
    reading: dict[str, list[Any]] = field(default_factory=dict)
    rows: int = 0
    lag_seconds: float = 0.0
    instance: str = ""
    began_ms: int = 0
    updated_ms: int = 0

    def table_done(self, table: str) -> Self:
        reading = {name: key for name, key in self.reading.items() if name != table}
        return replace(self, done=self.done | {table}, reading=reading)

    def table_undone(self, table: str) -> Self:
        return replace(self, done=self.done - {table})

    def table_read_to(self, table: str, key: list[Any]) -> Self:
        return replace(self, reading={**self.reading, table: key})

    def to_json(self) -> bytes:
        said = {
            "format": FORMAT,
            "name": self.name,
            "phase": self.phase.value,
            "epoch": self.epoch,
            "file": self.position.file,
            "pos": self.position.offset,
            "done": sorted(self.done),
            "reading": self.reading,
            "rows": self.rows,
            "lag_seconds": round(self.lag_seconds, 3),
            "instance": self.instance,
            "began_ms": self.began_ms,
            "updated_ms": self.updated_ms,
        }
        return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, body: bytes) -> Self:
        try:
            said = json.loads(body)
            if said["format"] != FORMAT:
                raise CaptureError(
                    f"the capture's state has format {said['format']}, known is {FORMAT}",
                    hint="a newer aerobee wrote it: use that one, or another --name",
                )
            return cls(
                said["name"],
                Position(said["file"], int(said["pos"])),
                int(said["epoch"]),
                Phase(said["phase"]),
                frozenset(said["done"]),
                dict(said["reading"]),
                int(said["rows"]),
                float(said["lag_seconds"]),
                said["instance"],
                int(said["began_ms"]),
                int(said["updated_ms"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise CaptureError(
                f"the capture's state cannot be read: {error!r}",
                hint="capture under another --name, or look at the topic's last message",
            ) from error
