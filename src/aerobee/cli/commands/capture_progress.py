"""The progress of a running capture on the terminal.

A terminal gets one line that changes, a file a line at intervals. Notes are lines of their own.
`ready: …` goes to stdout, once, when the snapshot is done.
"""

import asyncio
import contextlib
import time
from types import TracebackType
from typing import Self, TextIO

from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.position import Phase

TERMINAL_SECONDS = 0.5
PLAIN_SECONDS = 10.0
LOOK_SECONDS = 0.1
_CLEAR = "\r\x1b[K"


class CaptureProgress:
    """Shows a meter until the block is left."""

    def __init__(self, meter: Meter, errors: TextIO, out: TextIO | None, what: str) -> None:
        self._meter = meter
        self._errors = errors
        self._out = out
        self._what = what
        self._is_terminal = errors.isatty()
        self._task: asyncio.Task[None] | None = None
        self._is_ready = False

    def say(self, text: str) -> None:
        """Print a note, on a line of its own."""
        lead = _CLEAR if self._is_terminal else ""
        self._errors.write(f"{lead}aerobee: {text}\n")
        self._errors.flush()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._show())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._is_terminal:
            self._errors.write(_CLEAR)
            self._errors.flush()

    async def _show(self) -> None:
        every = TERMINAL_SECONDS if self._is_terminal else PLAIN_SECONDS
        shown_at, shown_rows = time.monotonic(), 0
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self._look()
            now = time.monotonic()
            if now - shown_at < every:
                continue
            rows = self._meter.rows_all
            line = self._meter.line((rows - shown_rows) / (now - shown_at))
            self._errors.write(f"{_CLEAR}{line}" if self._is_terminal else f"{line}\n")
            self._errors.flush()
            shown_at, shown_rows = now, rows

    def _look(self) -> None:
        if self._out is None or self._meter.phase is not Phase.STREAMING:
            return
        if not self._is_ready:
            self._is_ready = True
            lead = _CLEAR if self._is_terminal else ""
            self._out.write(f"{lead}ready: {self._what}, from {self._meter.position}\n")
            self._out.flush()
