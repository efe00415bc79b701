"""Faults of the simulated disk, and a log of every call to it.

Calls are counted from now: `fail_call(1)` fails the next one. The log names each call and its
path, so that a test can first run a story undisturbed, then once for every n up to
`len(calls)`, and say which call it was that broke it.
"""

import errno
import os
from fnmatch import fnmatchcase
from typing import NamedTuple


class PowerCut(BaseException):
    """The pretended machine went dark in a disk call. No `except Exception` catches it."""


class DiskCall(NamedTuple):
    name: str
    path: str


class _FailingSync:
    __slots__ = ("code", "path_pattern", "syncs_left")

    def __init__(self, path_pattern: str, syncs_left: int, code: int) -> None:
        self.path_pattern = path_pattern
        self.syncs_left = syncs_left
        self.code = code


class SimFaults:
    """I1: after a power cut every further call raises PowerCut: no clean-up reaches the disk."""

    __slots__ = ("_cold", "_cut_at", "_failing_calls", "_failing_syncs", "calls", "is_off")

    def __init__(self) -> None:
        self.calls: list[DiskCall] = []
        self.is_off = False
        self._failing_calls: dict[int, int] = {}
        self._failing_syncs: list[_FailingSync] = []
        self._cut_at: int | None = None
        self._cold: list[str] = []

    def fail_call(self, n: int, code: int = errno.EIO) -> None:
        """The n-th call from now raises OSError(code) and does nothing (a sync: see below)."""
        self._failing_calls[len(self.calls) + n] = code

    def fail_sync(self, path_pattern: str = "*", n: int = 1, code: int = errno.EIO) -> None:
        """The n-th sync from now of a file whose path matches fails, once. What was dirty can
        never become durable, the cache still shows it, and the next sync says OK: this is what
        Linux does. A sync that `fail_call` hits behaves the same."""
        self._failing_syncs.append(_FailingSync(path_pattern, n, code))

    def power_cut_at(self, n: int) -> None:
        """The n-th call from now raises PowerCut before it does anything."""
        self._cut_at = len(self.calls) + n

    def make_cold(self, path_pattern: str) -> None:
        """From now on no range of these files is resident. No bytes change."""
        self._cold.append(path_pattern)

    def is_cold(self, path: str) -> bool:
        return any(fnmatchcase(path, pattern) for pattern in self._cold)

    def enter(self, name: str, path: str, *, is_sync: bool = False) -> None:
        """Count a call; raise what it is to suffer."""
        if self.is_off:
            raise PowerCut(f"{name} {path} after the power cut")
        self.calls.append(DiskCall(name, path))
        if len(self.calls) == self._cut_at:
            self.is_off = True
            raise PowerCut(f"call {len(self.calls)}: {name} {path}")
        code = self._failing_calls.pop(len(self.calls), 0)
        if is_sync:
            code = self._sync_failure(path) or code
        if code:
            raise OSError(code, f"{name}: {os.strerror(code)}", path)

    def _sync_failure(self, path: str) -> int:
        found = 0
        for failing in self._failing_syncs:
            if fnmatchcase(path, failing.path_pattern):
                failing.syncs_left -= 1
                if failing.syncs_left == 0:
                    found = failing.code
        return found
