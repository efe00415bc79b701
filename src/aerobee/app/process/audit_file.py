"""AuditFile writes an audit trail to files, on a thread of its own.

    core thread               audit thread
    write ──▶ a bounded list ──▶ lines ──▶ audit.jsonl, synced ──▶ put aside when it is large

`write` never waits for the disk: events beyond the bound, and those that the disk did not take, are
lost and counted. The thread and the file are made for the first event.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence

from aerobee.app.audit_folder import CURRENT, aside_name, event_line, files_in
from aerobee.app.settings.audit_settings import AuditConfig
from aerobee.model.metric import Metric, Sample, counter
from aerobee.ports.audit import AuditEvent

WAITING_MAX = 10_000
BATCH_MAX = 100
"""Lines of one write and sync: a file may be so much larger than it should."""
CLOSE_SECONDS_MAX = 2.0
COMPLAINT_SECONDS = 60.0
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700

_log = logging.getLogger(__name__)


class AuditFile:
    """A1. `_waiting` and `_is_closed` are touched under `_changed`; what is below the line in
    `__init__` by the audit thread alone."""

    def __init__(self, folder: str, config: AuditConfig) -> None:
        self._folder = folder
        self._config = config
        self._changed = threading.Condition()
        self._waiting: list[AuditEvent] = []
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self.written = 0
        self.lost = 0
        # Of the thread.
        self._file = -1
        self._size = 0
        self._complained = -COMPLAINT_SECONDS

    def write(self, event: AuditEvent) -> None:
        with self._changed:
            if self._is_closed or len(self._waiting) >= WAITING_MAX:
                self.lost += 1
                return
            self._waiting.append(event)
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="aerobee-audit", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Write what waits, if the disk takes it soon."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS_MAX)

    def metrics(self) -> Iterator[Metric]:
        yield counter(
            "aerobee_audit_events_total",
            "Events of the audit trail: written, or lost because the disk was slow or full",
            [Sample({"outcome": "written"}, self.written), Sample({"outcome": "lost"}, self.lost)],
        )

    # On the audit thread.

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_closed:
                    self._changed.wait()
                events, self._waiting = self._waiting, []
            if not events:
                break
            for start in range(0, len(events), BATCH_MAX):
                self._write(events[start : start + BATCH_MAX])
        self._forget_file()

    def _write(self, events: Sequence[AuditEvent]) -> None:
        try:
            self._append(b"".join(map(event_line, events)))
            self.written += len(events)
        except OSError as error:
            self._forget_file()
            with self._changed:
                self.lost += len(events)
            self._complain(error)

    def _append(self, lines: bytes) -> None:
        if self._file < 0:
            self._open()
        if self._size and self._size + len(lines) > self._config.file_bytes_max:
            self._put_aside()
            self._open()
        view = memoryview(lines)
        while view:
            count = os.write(self._file, view)
            self._size += count
            view = view[count:]
        os.fdatasync(self._file)

    def _open(self) -> None:
        os.makedirs(self._folder, _FOLDER_MODE, exist_ok=True)
        path = os.path.join(self._folder, CURRENT)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, _FILE_MODE)
        self._size = os.fstat(self._file).st_size
        if self._size and os.pread(self._file, 1, self._size - 1) != b"\n":
            # A line that was cut off by a crash must not swallow the next one.
            self._size += os.write(self._file, b"\n")

    def _put_aside(self) -> None:
        self._forget_file()
        wall_ms = time.time_ns() // 1_000_000
        while os.path.exists(aside := os.path.join(self._folder, aside_name(wall_ms))):
            wall_ms += 1
        os.rename(os.path.join(self._folder, CURRENT), aside)
        old = [name for name in files_in(self._folder) if name != CURRENT]
        for name in old[: max(0, len(old) - self._config.files_max + 1)]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._folder, name))

    def _forget_file(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file = -1

    def _complain(self, error: OSError) -> None:
        now = time.monotonic()
        if now - self._complained >= COMPLAINT_SECONDS:
            self._complained = now
            reason = error.strerror or str(error)
            _log.error("the audit trail is not written: %s", reason, extra={"folder": self._folder})
