"""Screen shows pictures: on a terminal, redrawn in place, or as lines one after the other.

Pictures are drawn on the terminal's alternate screen, without a cursor; at the end the normal one
is back with its contents, and the last picture below. If the terminal is gone, nothing is drawn.
Log lines would disturb the picture: the newest is shown in the next one, and all of them are
written out at the end.
"""

import logging
import re
import shutil
from collections import deque
from collections.abc import Sequence
from typing import TextIO

from aerobee.app.process.lifecycle import write_if_read
from aerobee.app.process.log_setup import LineFormatter

_OPEN = "\x1b[?1049h\x1b[?25l"
_CLOSE = "\x1b[?25h\x1b[?1049l"
_HOME = "\x1b[H"
_REST_OF_LINE = "\x1b[K"
_REST_OF_SCREEN = "\x1b[J"
_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
_LOG_LINES_MAX = 200


class Screen:
    """S1. After `close` the terminal is as it was."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last: Sequence[str] = ()
        self._is_open = False

    def open(self) -> None:
        self._is_open = True
        self._write(_OPEN)

    def draw(self, lines: Sequence[str]) -> None:
        """Draw as much of the picture as fits on the terminal."""
        self._last = lines
        columns, rows = shutil.get_terminal_size((80, 24))
        shown = [clipped(line, columns) + _REST_OF_LINE for line in lines[:rows]]
        self._write(_HOME + "\r\n".join(shown) + _REST_OF_SCREEN)

    def close(self) -> None:
        """Restore the terminal."""
        if self._is_open:
            self._is_open = False
            self._write(_CLOSE + "".join(f"{line}\n" for line in self._last))

    def _write(self, text: str) -> None:
        write_if_read(self._stream, text)


class KeptLog(logging.Handler):
    """Replaces the handlers of the log while pictures are drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(LineFormatter())
        self._lines: deque[str] = deque(maxlen=_LOG_LINES_MAX)
        self._others: list[logging.Handler] = []

    @property
    def newest(self) -> str:
        return self._lines[-1] if self._lines else ""

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))

    def take_over(self) -> None:
        root = logging.getLogger()
        self._others, root.handlers = root.handlers, [self]

    def give_back(self, stream: TextIO) -> None:
        """Put the handlers back, and write the kept lines to them."""
        logging.getLogger().handlers = self._others
        write_if_read(stream, "".join(f"{line}\n" for line in self._lines))
        self._lines.clear()


def clipped(line: str, columns: int) -> str:
    """Cut a line, which may contain colours, to so many characters."""
    left = columns
    kept = []
    for piece in _COLOURS.split(line):
        if piece.startswith("\x1b"):
            kept.append(piece)
        else:
            kept.append(piece[:left])
            left -= len(kept[-1])
    return "".join(kept)
