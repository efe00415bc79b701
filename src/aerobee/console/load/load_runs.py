"""LoadRuns: load tests of the cluster, one at a time, watched while they run, and their results.

    start ─▶ points, one a second ─▶ result ─▶ FOLDER/bench/20260101-120000-ab12.json

L1. One run at a time: a second one would measure the first.
L2. A run that is stopped, also by the end of the console, tells what it measured, and removes the
    topics and groups that it made.
L3. At most RESULTS_MAX results are kept; the oldest goes first.

The work is done by processes of their own (`app.load`), which is imported when a run begins.
"""

import asyncio
import json
import os
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from aerobee.console.http.problem import Problem, not_found
from aerobee.errors import AerobeeError

if TYPE_CHECKING:
    from aerobee.app.load.measure.cluster_facts import BrokerFacts
    from aerobee.app.load.result.result import Point
    from aerobee.app.load.workload.workload import Workload

T = TypeVar("T")

FOLDER = "bench"
RESULTS_MAX = 50
WATCHERS_MAX = 50
_LONG = frozenset({"series", "histograms", "usage"})
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
Result = Mapping[str, Any]


class LoadRun:
    """The run that is under way, or the last one."""

    def __init__(self, name: str, workload: "Workload") -> None:
        self.name = name
        self.workload = workload
        self.said = "starting"
        """The step that it is at."""
        self.points: list[dict[str, Any]] = []
        self.problem = ""
        """Why it failed; empty: it did not."""
        self.is_over = False
        self.changed = asyncio.Event()
        """Set, and replaced, whenever there is something new."""

    def tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.workload.kind,
            "workload": self.workload.described(),
            "said": self.said,
            "problem": self.problem,
            "is_over": self.is_over,
            "points": len(self.points),
        }


class LoadRuns:
    def __init__(self, target: str, folder: str, worker: Executor) -> None:
        """`target`: the cluster, as every command takes it."""
        self._target = target
        self._folder = os.path.join(folder, FOLDER)
        self._worker = worker
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._watchers = 0
        self._heads: dict[str, Result] = {}
        self.current: LoadRun | None = None

    def start(self, workload: "Workload", ended: Callable[[], None] = lambda: None) -> LoadRun:
        """Begin a run; `ended` is called when it is over. Problem: one is under way."""
        if self._task is not None and not self._task.done():
            assert self.current is not None
            raise Problem(
                409, "conflict", f"{self.current.name} is under way", hint="stop it, or wait"
            )
        name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        self._stop = asyncio.Event()
        run = self.current = LoadRun(name, workload)
        self._task = asyncio.create_task(self._run(run, self._stop, ended))
        return run

    def stop(self) -> LoadRun:
        """End the run that is under way; its result comes a moment later."""
        if self.current is None or self.current.is_over:
            raise not_found("no load test is under way")
        self._stop.set()
        return self.current

    async def close(self) -> None:
        """Stop the run that is under way, and wait until it has cleaned up."""
        if self._task is not None:
            self._stop.set()
            await asyncio.wait({self._task})

    async def results(self) -> list[Result]:
        """Return the results that are kept, the newest first, without their points."""
        return await self._on_worker(self._read_heads)

    async def result(self, name: str) -> Result:
        if not _NAME.fullmatch(name):
            raise not_found(f"there is no result {name!r}")
        found = await self._on_worker(lambda: _read(self._path(name)))
        if found is None:
            raise not_found(f"there is no result {name!r}")
        return found

    async def delete(self, name: str) -> None:
        await self.result(name)
        await self._on_worker(lambda: os.remove(self._path(name)))

    async def points(self) -> AsyncGenerator[tuple[LoadRun, list[dict[str, Any]]], None]:
        """Yield the run that is under way with its points since the last time, until it is over."""
        run = self.current
        if run is None:
            return
        if self._watchers >= WATCHERS_MAX:
            raise Problem(429, "too_many", "too many pages watch", retry_seconds=10)
        self._watchers += 1
        try:
            told = 0
            while True:
                changed, is_over = run.changed, run.is_over
                yield run, run.points[told:]
                told = len(run.points)
                if is_over:
                    return
                await changed.wait()
        finally:
            self._watchers -= 1

    async def _run(self, run: LoadRun, stop: asyncio.Event, ended: Callable[[], None]) -> None:
        from aerobee.app.load.run.trial import Told, Trial

        def begins(workload: "Workload", brokers: "Sequence[BrokerFacts]") -> None:
            self._say(run, "running")

        def point(one: "Point") -> None:
            run.points.append(one.to_json())
            self._say(run, "running")

        told = Told(begins, lambda text: self._say(run, text), point)
        try:
            result = await Trial(run.workload, self._target, told, stop, keep=False).run()
            kept = {**result.to_json(), "name": run.name}
            await self._on_worker(lambda: self._write(run.name, kept))
            self._say(run, "stopped" if result.is_interrupted else "done")
        except AerobeeError as error:
            run.problem = f"{error.message}; {error.hint}" if error.hint else error.message
            self._say(run, "failed")
        finally:
            run.is_over = True
            ended()
            run.tell()

    def _say(self, run: LoadRun, text: str) -> None:
        run.said = text
        run.tell()

    # Files, on the worker.

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}.json")

    def _names(self) -> list[str]:
        try:
            listed = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        names = [one.removesuffix(".json") for one in listed if one.endswith(".json")]
        return sorted((one for one in names if _NAME.fullmatch(one)), reverse=True)

    def _read_heads(self) -> list[Result]:
        names = self._names()
        for name in names:
            if name not in self._heads and (found := _read(self._path(name))) is not None:
                self._heads[name] = {key: found[key] for key in found.keys() - _LONG}
        self._heads = {name: self._heads[name] for name in names if name in self._heads}
        return list(self._heads.values())

    def _write(self, name: str, result: Result) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        with open(f"{self._path(name)}.new", "w", encoding="utf-8") as file:
            json.dump(result, file)
        os.replace(f"{self._path(name)}.new", self._path(name))
        for old in self._names()[RESULTS_MAX:]:
            os.remove(self._path(old))

    async def _on_worker(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)


def _read(path: str) -> Result | None:
    """Read a result; None: there is none, or it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "figures" in found else None
