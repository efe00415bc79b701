"""A group that nobody breaks: under full load for minutes, and while an empty follower catches up.

    steady      the generator at full speed, and the term of the group asked for all the time: an
                election without a cause would stop sends
    catch-up    two members of three take a load on a schedule; the third one starts without a log
                and copies it, and the schedule shows what the leader's clients notice of that

Only for our group: Apache's says neither its term nor how far a follower is.
"""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from aerobee import connect_sync
from aerobee.errors import AerobeeError
from bench.broker_cases import BATCH, SEND, say
from bench.broker_load import Figures
from bench.raft_groups import NAME, Group

PIECE_SECONDS = 5.0
_LOOK_SECONDS = 0.2
CATCH_UP_SECONDS_MAX = 600.0
_NEAR_BYTES = 1 << 20
"""The log goes on growing: so near is caught up."""


class Steady(NamedTuple):
    """What a load at full speed has come to."""

    seconds: float
    sends: int
    errors: int
    p99_ms: float
    """The median of its pieces."""
    worst_ms: float
    elections: int
    unanswered: int
    """Looks at the term that nobody answered."""

    def sentence(self) -> str:
        rate = self.sends / self.seconds if self.seconds else 0
        return (
            f"steady: {self.seconds:,.0f} s at {rate:,.0f} sends/s, {self.errors} errors, p99 "
            f"{self.p99_ms:.1f} ms, longest {self.worst_ms:,.0f} ms; {self.elections} elections"
            f" ({self.unanswered} looks without an answer)"
        )


class CatchUp(NamedTuple):
    log_bytes: int
    seconds: float
    before_ms: float
    """p99 of a send on a schedule, without the third member."""
    during_ms: float
    """The same while it copies; the worst of its pieces."""
    errors: int

    def sentence(self) -> str:
        mib = self.log_bytes / (1 << 20)
        return (
            f"catch-up: {mib:,.0f} MiB in {self.seconds:.1f} s ({mib / self.seconds:,.0f} MiB/s); a"
            f" send at 1,000/s, p99: {self.before_ms:.1f} ms before, {self.during_ms:.1f} ms "
            f"meanwhile; {self.errors} errors"
        )


class _Terms(threading.Thread):
    """Looks at the term of a group until it is ended."""

    def __init__(self, name_server: str) -> None:
        super().__init__(daemon=True)
        self._name_server = name_server
        self._stop_asked = threading.Event()
        self.seen: set[int] = set()
        self.unanswered = 0

    def run(self) -> None:
        with connect_sync(self._name_server, timeout=5) as client:
            while not self._stop_asked.wait(_LOOK_SECONDS):
                try:
                    self.seen.add(client.admin.replicas.raft.members(NAME).term)
                except AerobeeError:
                    self.unanswered += 1

    def end(self) -> None:
        self._stop_asked.set()
        self.join()


def run_steady(group: Group, minutes: float) -> Steady:
    terms = _Terms(group.name_server)
    terms.start()
    begun, pieces = time.monotonic(), []
    try:
        while (left := begun + 60 * minutes - time.monotonic()) > 0:
            pieces.append(group.load(SEND, f"--seconds {max(1.0, min(left, PIECE_SECONDS))}"))
    finally:
        terms.end()
    p99s = sorted(float(one["p99_us"]) / 1000 for one in pieces)
    return Steady(
        time.monotonic() - begun,
        sum(int(one["count"]) for one in pieces),
        sum(int(one["errors"]) for one in pieces),
        p99s[len(p99s) // 2],
        max(float(one["max_us"]) / 1000 for one in pieces),
        max(0, len(terms.seen) - 1),
        terms.unanswered,
    )


def run_catch_up(group: Group, schedule: str, fill_bytes: int) -> CatchUp:
    """`group` has a member that was never started."""
    while group.end() < fill_bytes:
        group.load(BATCH, "--seconds 2")
    say(f"catch-up: a log of {group.end() >> 20:,} MiB")
    ending = f"--seconds {PIECE_SECONDS}"
    before = [group.load(schedule, ending) for _ in range(3)]
    log_bytes, begun = group.end(), time.monotonic()
    caught: list[float] = []

    def watch() -> None:
        group.start_missing()
        _until(lambda: group.lag_bytes() <= _NEAR_BYTES)
        caught.append(time.monotonic())

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    during: list[Figures] = []
    while watching.is_alive() or not during:
        during.append(group.load(schedule, ending))
    watching.join()
    pieces = [*before, *during]
    return CatchUp(
        log_bytes,
        caught[0] - begun,
        sorted(float(one["p99_us"]) / 1000 for one in before)[len(before) // 2],
        max(float(one["p99_us"]) / 1000 for one in during),
        sum(int(one["errors"]) for one in pieces),
    )


def _until(is_so: Callable[[], bool]) -> None:
    due = time.monotonic() + CATCH_UP_SECONDS_MAX
    while not is_so() and time.monotonic() < due:
        time.sleep(_LOOK_SECONDS)
