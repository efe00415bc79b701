"""Set-up of logs: one line per event, to stderr, while a command runs.

    2026-01-31T12:00:00.123Z WARNING net.driver too many connections: one is refused peer=10.0.0.7:5

Constant text comes first, then variable values as key=value, so that a log can be searched by its
text. Times are UTC, because logs of several machines are compared.
"""

import contextlib
import logging
import re
import sys
import time
from collections.abc import Iterator
from typing import TextIO

LINE_CHARS_MAX = 2_000
"""What a peer sent may be in a line; most of the log should be ours."""
# A value must not be able to begin a line that looks like another event, nor to move the cursor of
# the terminal that shows it, nor to turn the line around.
_ILL = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]"
)
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


_AS_IS = "is_line"
"""The attribute of a record whose text is a line of another process."""


class LineFormatter(logging.Formatter):
    """Formats a line; values of `extra` follow the text."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(place)s %(message)s")
        self.converter = time.gmtime
        self.default_time_format = "%Y-%m-%dT%H:%M:%S"
        self.default_msec_format = "%s.%03dZ"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the library's name)
        if hasattr(record, _AS_IS):
            return _ILL.sub(_escape, record.getMessage())[:LINE_CHARS_MAX]
        record.place = record.name.removeprefix("aerobee.")
        line = super().formatMessage(record)
        more = " ".join(
            f"{key}={value}"
            for key, value in vars(record).items()
            if key not in _OWN and key != "place"
        )
        return _ILL.sub(_escape, f"{line} {more}".rstrip())[:LINE_CHARS_MAX]


def _escape(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]


def pass_on(line: str) -> None:
    """Write a line of the log of a process that this one has started, as it is."""
    fields = {"name": __name__, "levelno": logging.WARNING, "msg": line, _AS_IS: True}
    logging.getLogger().handle(logging.makeLogRecord(fields))


@contextlib.contextmanager
def logs_shown(level: str = "INFO", stream: TextIO | None = None) -> Iterator[None]:
    """Log to stderr while the block lasts; afterwards the handlers are as before: a program that
    runs a command in its own process keeps its log, and nothing is written to a stream that may be
    closed."""
    root = logging.getLogger()
    handlers, root_level = root.handlers[:], root.level
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter())
    root.handlers[:] = [handler]
    root.setLevel(level)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(root_level)
