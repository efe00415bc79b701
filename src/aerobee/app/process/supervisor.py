"""Supervisor runs several processes of one application: restarts those that end, and stops all.

Each process has an event loop, a client and connections of its own; they share the queues of a
group as any members do. Each is started anew, not forked.

    a process ends      it is restarted, with growing delays if it keeps ending
    it cannot start     status 2: all are stopped; with `reload`, until the source changes
    the source changes  with `reload`: all are stopped and started
    SIGTERM, SIGINT     all get the signal, are waited for, and killed after the grace period
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Sequence

from aerobee.app.process.lifecycle import STOPPED, WRONG_CONFIG
from aerobee.app.process.restart_delays import RestartDelays
from aerobee.app.process.source_watch import SourceWatch

_log = logging.getLogger(__name__)

STOP_SECONDS = 40.0
"""How long a process may take to end: longer than its consumers wait for their handlers."""
LOOK_SECONDS = 0.5

Ended = Callable[[], None]


class Supervisor:
    def __init__(
        self,
        command: Sequence[str],
        workers: int,
        *,
        watch: SourceWatch | None = None,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """`command` runs one process; `watch` detects changes of its source."""
        self._command = command
        self._workers = workers
        self._watch = watch
        self._look_seconds = look_seconds
        self._status = STOPPED
        self._ending = asyncio.Event()
        self._reloading = asyncio.Event()
        self._processes: set[asyncio.subprocess.Process] = set()

    async def run(self) -> int:
        """Run until a signal, or until processes cannot start; returns the exit status."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ending.set)
        watching = asyncio.ensure_future(self._look()) if self._watch is not None else None
        try:
            while not self._ending.is_set():
                self._reloading.clear()
                async with asyncio.TaskGroup() as keeping:
                    for worker in range(self._workers):
                        keeping.create_task(self._keep(worker))
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
        return self._status

    async def _keep(self, number: int) -> None:
        """Run one process after the other, until all are to end."""
        loop = asyncio.get_running_loop()
        restarts = RestartDelays()
        while not self._is_over():
            restarts.begun(loop.time())
            status = await self._one()
            if self._is_over():
                return
            if status == WRONG_CONFIG:
                await self._give_up()
                return
            wait = restarts.wait_seconds(loop.time())
            _log.warning("worker %d ended with status %d: again in %.1f s", number, status, wait)
            await self._until_over(wait)

    async def _one(self) -> int:
        process = await asyncio.create_subprocess_exec(*self._command)
        self._processes.add(process)
        ended = asyncio.ensure_future(process.wait())
        over = asyncio.ensure_future(self._until_over(None))
        try:
            await asyncio.wait((ended, over), return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                await self._stop(process, ended)
            return await ended
        finally:
            over.cancel()
            self._processes.discard(process)
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _stop(
        self, process: asyncio.subprocess.Process, ended: "asyncio.Future[int]"
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await asyncio.wait((ended,), timeout=STOP_SECONDS)
        if not ended.done():
            _log.error("process %d does not end: it is killed", process.pid)
            process.kill()

    async def _give_up(self) -> None:
        """Handle a process that cannot start: with `reload`, wait for a change of the source; else
        stop all."""
        if self._watch is not None:
            _log.error("the application cannot begin: waiting for a change of its source")
            await self._until_over(None)
            return
        self._status = WRONG_CONFIG
        self._ending.set()

    async def _look(self) -> None:
        assert self._watch is not None
        while True:
            await asyncio.sleep(self._look_seconds)
            changed = await asyncio.to_thread(self._watch.changed)
            if changed:
                _log.info("changed: %s", ", ".join(changed[:5]))
                self._reloading.set()

    def _is_over(self) -> bool:
        return self._ending.is_set() or self._reloading.is_set()

    async def _until_over(self, seconds: float | None) -> None:
        """Wait until all are to end, or for so long."""
        waits = [asyncio.ensure_future(one.wait()) for one in (self._ending, self._reloading)]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
