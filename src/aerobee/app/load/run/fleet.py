"""Worker processes as the one that asks sees them: started, let go together, heard, ended.

    start ─▶ all ready ─▶ go ─▶ ticks … ─▶ results        (`stop` ends it sooner)

They are in a session of their own: Ctrl-C in the terminal is for the one who asks, and what the
workers have measured until then is still told.

F1. When the block is left, no process is.
"""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from aerobee.app.load.workload.job import Job, to_line
from aerobee.errors import AerobeeError

READY_SECONDS = 60.0
END_SECONDS = 10.0
GO_NS = 50_000_000
"""From the word to the start: everybody has heard it by then."""
COMMAND = (sys.executable, "-m", "aerobee.app.load.worker.worker_process")

Heard = Callable[[int, dict[str, Any]], None]
"""A worker's number, and its tick."""


class LoadFailed(AerobeeError):
    """A load test that could not be run, or ended before its time."""


class Fleet:
    def __init__(
        self,
        jobs: Sequence[Job],
        heard: Heard,
        *,
        command: Sequence[str] = COMMAND,
        end_seconds: float = END_SECONDS,
    ) -> None:
        """One who has not ended by himself after `end_seconds` is killed."""
        self._jobs = jobs
        self._heard = heard
        self._command = command
        self._end_seconds = end_seconds
        self._processes: list[asyncio.subprocess.Process] = []
        self._complaints: list[asyncio.Task[bytes]] = []

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    async def __aenter__(self) -> Self:
        """Start them, and wait until each could begin. LoadFailed: one cannot, and none is left."""
        try:
            for job in self._jobs:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    start_new_session=True,
                    limit=1 << 24,
                )
                self._processes.append(process)
                assert process.stderr is not None
                self._complaints.append(asyncio.ensure_future(process.stderr.read()))
                _tell(process, to_line(job))
            async with asyncio.timeout(READY_SECONDS):
                await asyncio.gather(*map(self._ready, range(len(self._jobs))))
        except TimeoutError:
            await self._end()
            raise LoadFailed(
                f"the workers were not ready after {READY_SECONDS:.0f} s",
                hint="is the machine overloaded? try fewer --processes",
            ) from None
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._end()

    def go(self) -> int:
        """Let them all begin: when, by the machine's monotonic clock."""
        start_ns = time.monotonic_ns() + GO_NS
        self._tell(f"go {start_ns}")
        return start_ns

    def measure_from(self, moment_ns: int) -> None:
        """Those who run already measure from that moment on."""
        self._tell(f"from {moment_ns}")

    def stop(self) -> None:
        """Have them end now and tell what they have."""
        self._tell("stop")

    async def results(self) -> list[dict[str, Any]]:
        """What each measured, when it has ended. LoadFailed: one of them did not end well."""
        return await asyncio.gather(*map(self._result, range(len(self._processes))))

    def _tell(self, word: str) -> None:
        for process in self._processes:
            _tell(process, word)

    async def _ready(self, number: int) -> None:
        said = await self._line(number)
        if "ready" not in said:
            raise LoadFailed(f"worker {number} said {said} and not that it is ready")

    async def _result(self, number: int) -> dict[str, Any]:
        while True:
            said = await self._line(number)
            if "tick" in said:
                self._heard(number, said["tick"])
            if "result" in said:
                result: dict[str, Any] = said["result"]
                return result

    async def _line(self, number: int) -> dict[str, Any]:
        stdout = self._processes[number].stdout
        assert stdout is not None
        line = await stdout.readline()
        if not line:
            complaint = (await self._complaints[number]).decode(errors="replace").strip()
            raise LoadFailed(
                f"worker {number} ended: {complaint.splitlines()[-1] if complaint else 'silently'}",
                hint="run it again with one process; if it ends again, that is a bug",
            )
        said: dict[str, Any] = json.loads(line)
        if "error" in said:
            raise LoadFailed(said["error"]["message"], hint=said["error"]["hint"])
        return said

    async def _end(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            with contextlib.suppress(OSError, RuntimeError):
                process.stdin.close()
        waits = [asyncio.ensure_future(process.wait()) for process in self._processes]
        if waits:
            await asyncio.wait(waits, timeout=self._end_seconds)
        for process, wait in zip(self._processes, waits, strict=True):
            if not wait.done():
                process.kill()
                await wait
        await asyncio.gather(*self._complaints, return_exceptions=True)


def _tell(process: asyncio.subprocess.Process, line: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, RuntimeError):  # it has ended, and that is heard
        process.stdin.write(f"{line}\n".encode())
