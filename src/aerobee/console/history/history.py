"""History: figures of a cluster over time, added second by second, read in the step that fits.

H1. Of each series the present chunk of every step is in memory; those before it are in the file.
    What is in memory is written once a minute: a crash loses a minute.
H2. A value of a coarser step is the mean of the values in its interval.
H3. At most SERIES_MAX series are followed. A new one takes the place of one without a value for
    longest; while all are in use, it is not kept.

All methods run on the event loop; the file is used by one worker thread.
"""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple, ParamSpec, TypeVar

from aerobee.console.history.history_file import HistoryFile, StoredChunk
from aerobee.console.history.steps import STEPS, Chunk, Mean, Step, best_step

P = ParamSpec("P")
T = TypeVar("T")

SERIES_MAX = 2_000
SAVED_MS = 60_000
FORGET_MS = 3_600_000
IDLE_MS = 600_000
"""A series without a value for so long gives way to a new one."""
MARKS_MAX = 1_000


class Mark(NamedTuple):
    """An event that charts show: a rebalance, a change of role."""

    at: int
    kind: str
    of: str
    text: str


class Span(NamedTuple):
    """What a chart shows: one list of values for each series, on the same times."""

    step_ms: int
    times: list[int]
    series: dict[str, list[float | None]]


class _Followed:
    """The present chunks of one series, and the means that the next values go into."""

    __slots__ = ("chunks", "means", "used")

    def __init__(self, at: int) -> None:
        self.chunks = [Chunk(step.chunk_start(at)) for step in STEPS]
        self.means = [Mean(at - at % step.ms) for step in STEPS]
        self.used = at


class History:
    def __init__(self, file: HistoryFile, worker: Executor) -> None:
        self._file = file
        self._worker = worker
        self._followed: dict[str, _Followed] = {}
        self._full: list[StoredChunk] = []
        self._saved_at = 0
        self._forgot_at = 0
        self._marks: list[Mark] = []

    async def open(self) -> None:
        await self._on_worker(self._file.open)

    async def close(self) -> None:
        """Write what is in memory, and close the file."""
        await self._save()
        await self._on_worker(self._file.close)

    async def add(self, at: int, values: Mapping[str, float]) -> None:
        """Add the values of one moment."""
        for name, value in values.items():
            followed = self._followed.get(name) or self._follow(name, at)
            if followed is not None and math.isfinite(value):
                self._put(name, followed, at, value)
        if at - self._saved_at >= SAVED_MS:
            self._saved_at = at
            await self._save()
        if at - self._forgot_at >= FORGET_MS:
            self._forgot_at = at
            await self._on_worker(self._file.forget, at)

    def mark(self, mark: Mark) -> None:
        self._marks = [*self._marks[-MARKS_MAX:], mark]

    def marks(self, start: int, end: int) -> list[Mark]:
        return [one for one in self._marks if start <= one.at < end]

    async def read(self, names: Sequence[str], start: int, end: int, now: int, points: int) -> Span:
        """Return the values of some series in a span of time, in the step that fits."""
        step = best_step(start, end, now, points)
        first, last = start - start % step.ms, end - end % step.ms
        first = max(first, last - step.ms * points)
        count = max(0, (last - first) // step.ms) + 1
        found: dict[str, list[float | None]] = {name: [None] * count for name in names}
        stored = await self._on_worker(self._file.read, step, list(found), first, last + 1)
        here = [
            StoredChunk(step.ms, name, chunk.start, chunk.values.tobytes())
            for name in found
            if (followed := self._followed.get(name)) is not None
            for chunk in [followed.chunks[STEPS.index(step)]]
        ]
        waiting = [one for one in self._full if one.step_ms == step.ms and one.name in found]
        for chunk in (*stored, *waiting, *here):
            _fill(found[chunk.name], chunk, step, first)
        return Span(step.ms, [first + at * step.ms for at in range(count)], found)

    def _follow(self, name: str, at: int) -> _Followed | None:
        if len(self._followed) >= SERIES_MAX:
            idle = min(self._followed, key=lambda one: self._followed[one].used)
            if at - self._followed[idle].used < IDLE_MS:
                return None
            self._full += _dirty(idle, self._followed.pop(idle))
        followed = self._followed[name] = _Followed(at)
        return followed

    def _put(self, name: str, followed: _Followed, at: int, value: float) -> None:
        followed.used = at
        for number, step in enumerate(STEPS):
            mean = followed.means[number]
            if mean.at != at - at % step.ms:
                mean = followed.means[number] = Mean(at - at % step.ms)
            mean.add(value)
            chunk = followed.chunks[number]
            if chunk.start != step.chunk_start(at):
                if chunk.is_dirty:
                    self._full.append(_stored(step, name, chunk))
                chunk = followed.chunks[number] = Chunk(step.chunk_start(at))
            chunk.put(step.place(at), mean.value)

    async def _save(self) -> None:
        ready, self._full = self._full, []
        for name, followed in self._followed.items():
            ready += _dirty(name, followed)
        if ready:
            await self._on_worker(self._file.write, ready)

    async def _on_worker(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, partial(work, *arguments, **named))


def _dirty(name: str, followed: _Followed) -> list[StoredChunk]:
    """Chunks with values that the file does not have; they count as written."""
    found = []
    for step, chunk in zip(STEPS, followed.chunks, strict=True):
        if chunk.is_dirty:
            chunk.is_dirty = False
            found.append(_stored(step, name, chunk))
    return found


def _stored(step: Step, name: str, chunk: Chunk) -> StoredChunk:
    return StoredChunk(step.ms, name, chunk.start, chunk.values.tobytes())


def _fill(row: list[float | None], stored: StoredChunk, step: Step, first: int) -> None:
    values = Chunk(stored.start, stored.values).values
    for place, value in enumerate(values):
        at = (stored.start + place * step.ms - first) // step.ms
        if 0 <= at < len(row) and math.isfinite(value):
            row[at] = value
