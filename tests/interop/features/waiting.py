"""Waiting for what another process does: ask again until it is so, or too long."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_never = threading.Event()


class TooLong(Exception):
    """It did not come about in the time it was given."""


def until(condition: Callable[[], T], seconds: float, what: str) -> T:
    """The first true answer of `condition`.

    The other process cannot call us, so it is asked again, twenty times a second.
    """
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise TooLong(f"after {seconds} s: {what}")
        _never.wait(0.05)
    return answer
