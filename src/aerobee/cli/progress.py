"""Progress of work that takes more than two seconds: on stderr, so that a pipe gets data only.

On a terminal it is one line that changes; without one, a line every ten seconds, for logs.
"""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from aerobee.cli.output import is_terminal

QUIET_SECONDS = 2.0
_EVERY_SECONDS = 0.2
_EVERY_SECONDS_IN_LOGS = 10.0
_BAR_CHARS = 24


class Progress:
    """Used with `with`; call `step` after each finished item."""

    def __init__(
        self,
        what: str,
        total: int | None = None,
        *,
        stream: TextIO | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`what` names the work in a word or two; `total` is None if it is unknown."""
        self._what = what
        self.total = total
        """Of items, if it is known."""
        self._stream = sys.stderr if stream is None else stream
        self._is_line = is_terminal(self._stream)
        self._now = now
        self._begun = now()
        self._next = self._begun + QUIET_SECONDS
        self._is_shown = False
        self.count = 0

    @property
    def seconds(self) -> float:
        return self._now() - self._begun

    def step(self, count: int = 1) -> None:
        self.count += count
        seconds = self._due()
        if seconds is not None:
            self._show(self._counted(seconds))

    def say(self, text: str) -> None:
        """Show a sentence instead of counts, while nothing is counted."""
        if self._due() is not None:
            self._show(text)

    def _due(self) -> float | None:
        """The seconds since the begin, if something is to be shown now."""
        now = self._now()
        if now < self._next:
            return None
        self._next = now + (_EVERY_SECONDS if self._is_line else _EVERY_SECONDS_IN_LOGS)
        return now - self._begun

    def _counted(self, seconds: float) -> str:
        text = f"{self._what} {self.count}"
        if self.total:
            done = min(1.0, self.count / self.total)
            filled = int(done * _BAR_CHARS)
            bar = "█" * filled + "░" * (_BAR_CHARS - filled)
            text = f"{self._what} {bar} {done:4.0%} {self.count}/{self.total}"
        return f"{text}  {self.count / seconds:.0f}/s"

    def _show(self, text: str) -> None:
        self._is_shown = True
        self._stream.write(f"\r\x1b[2K{text}" if self._is_line else f"{text}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_shown and self._is_line:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
