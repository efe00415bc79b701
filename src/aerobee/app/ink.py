"""Ink writes colours on a terminal, and none elsewhere; charts use characters that it can show.

It is off without a terminal, where `NO_COLOR` is set (to anything) or `TERM` is `dumb`. Texts have
the same meaning without colours.
"""

from collections.abc import Mapping
from typing import TextIO

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-~=+*#"
"""For charts, where a stream takes no other characters."""
_RESET = "\x1b[0m"


class Ink:
    def __init__(self, is_on: bool, ramp: str = BLOCKS) -> None:
        self.is_on = is_on
        self.ramp = ramp
        """Of charts, from low to high."""

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def red(self, text: str) -> str:
        return self._in("31", text)

    def green(self, text: str) -> str:
        return self._in("32", text)

    def yellow(self, text: str) -> str:
        return self._in("33", text)

    def cyan(self, text: str) -> str:
        return self._in("36", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}{_RESET}" if self.is_on else text


def is_screen(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether a stream is a terminal that can be redrawn in place."""
    return stream.isatty() and environment.get("TERM") != "dumb"


def ink_for(stream: TextIO, environment: Mapping[str, str]) -> Ink:
    is_on = is_screen(stream, environment) and not environment.get("NO_COLOR")
    return Ink(is_on, _ramp(stream.encoding))


def _ramp(encoding: str | None) -> str:
    try:
        BLOCKS.encode(encoding or "ascii")
    except UnicodeEncodeError:
        return ASCII
    return BLOCKS
