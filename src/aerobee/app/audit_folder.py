"""The files of an audit trail: their names, their lines, and how they are read.

    audit.jsonl                        what is written now
    audit-20260131T120000.123Z.jsonl   put aside at that time

A line is a JSON object: `time`, `server`, `user`, `from`, `request`, `on`, `decision`, `answer`,
and where there is something to say `reason` and `left_out`.
"""

import contextlib
import json
import os
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aerobee.ports.audit import AuditEvent

CURRENT = "audit.jsonl"
_PREFIX, _SUFFIX = "audit-", ".jsonl"
LINE_CHARS_MAX = 64 << 10


def event_line(event: AuditEvent) -> bytes:
    """The line of an event. Whatever a peer sent is escaped: it cannot begin a line."""
    record: dict[str, object] = {
        "time": _shown(event.wall_ms),
        "server": event.server,
        "user": event.user,
        "from": event.source,
        "request": event.request,
        "on": list(event.on),
        "decision": event.decision,
        "answer": event.answer,
    }
    if event.reason:
        record["reason"] = event.reason
    if event.left_out:
        record["left_out"] = event.left_out
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def aside_name(wall_ms: int) -> str:
    """The name of a file that is put aside at this time."""
    at = _shown(wall_ms).replace("-", "").replace(":", "")
    return f"{_PREFIX}{at}{_SUFFIX}"


def files_in(folder: str) -> list[str]:
    """The names of the files of a folder, oldest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    aside = sorted(one for one in names if one.startswith(_PREFIX) and one.endswith(_SUFFIX))
    return [*aside, *([CURRENT] if CURRENT in names else [])]


class Wanted(NamedTuple):
    """Which events are wanted; empty: any."""

    user: str = ""
    source: str = ""
    request: str = ""
    """A part of its name, in any case."""
    on: str = ""
    """A part of what it was about."""
    decision: str = ""
    start: datetime | None = None
    end: datetime | None = None

    def takes(self, record: dict[str, Any]) -> bool:
        if self.user and record.get("user") != self.user:
            return False
        if self.source and record.get("from") != self.source:
            return False
        if self.request.upper() not in str(record.get("request", "")).upper():
            return False
        if self.decision and record.get("decision") != self.decision:
            return False
        if self.on and not any(self.on in str(one) for one in record.get("on", ())):
            return False
        return self._is_in_time(str(record.get("time", "")))

    def _is_in_time(self, text: str) -> bool:
        if self.start is None and self.end is None:
            return True
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return False
        return not (self.start is not None and at < self.start) and not (
            self.end is not None and at >= self.end
        )


def read_lines(folder: str, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Events of a folder that are wanted, oldest first. A line that was cut off is left out."""
    for name in files_in(folder):
        path = os.path.join(folder, name)
        with (
            contextlib.suppress(FileNotFoundError),  # removed meanwhile
            open(path, encoding="utf-8", errors="replace") as file,
        ):
            while line := file.readline(LINE_CHARS_MAX):
                record = parse_line(line)
                if record is not None and wanted.takes(record):
                    yield record


def last_lines(folder: str, wanted: Wanted, count: int) -> list[dict[str, Any]]:
    return list(deque(read_lines(folder, wanted), maxlen=count))


def parse_line(line: str) -> dict[str, Any] | None:
    """The event of a line; None: it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


class Follower:
    """Reads what is added to the files of a folder after it was made, across their change."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, CURRENT)
        self._file = self._opened()
        if self._file is not None:
            self._file.seek(0, os.SEEK_END)
        self._rest = b""

    def more(self) -> list[dict[str, Any]]:
        """Events since the last call."""
        found: list[dict[str, Any]] = []
        if self._file is None:
            self._file = self._opened()
        while self._file is not None:
            lines = (self._rest + self._file.read()).split(b"\n")
            self._rest = lines.pop()
            records = (parse_line(line.decode("utf-8", "replace")) for line in lines)
            found += [record for record in records if record is not None]
            fresh = self._opened()
            if fresh is None:
                break
            if os.path.sameopenfile(fresh.fileno(), self._file.fileno()):
                fresh.close()
                break
            self._file.close()
            self._file, self._rest = fresh, b""
        return found

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _opened(self) -> Any:
        try:
            return open(self._path, "rb")
        except FileNotFoundError:
            return None


def _shown(wall_ms: int) -> str:
    at = datetime.fromtimestamp(wall_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
