"""Keys hears single keys of a terminal, without Enter and without showing them.

K1. After `close` the terminal is as it was.
"""

import asyncio
import contextlib
import os
import termios
import tty
from collections.abc import Callable
from typing import Any


class Keys:
    def __init__(self, descriptor: int, pressed: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._pressed = pressed
        self._before: list[Any] | None = None

    def open(self) -> None:
        """Begin; nothing is heard if this is no terminal."""
        if not os.isatty(self._descriptor):
            return
        self._before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor)
        asyncio.get_running_loop().add_reader(self._descriptor, self._hear)

    def close(self) -> None:
        if self._before is None:
            return
        asyncio.get_running_loop().remove_reader(self._descriptor)
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
        self._before = None

    def _hear(self) -> None:
        try:
            typed = os.read(self._descriptor, 64)
        except OSError:
            typed = b""
        if not typed:  # the terminal is gone
            asyncio.get_running_loop().remove_reader(self._descriptor)
        for key in typed.decode(errors="replace"):
            self._pressed(key)
