"""MemberProcess starts, breaks and ends one member of a Raft group in a process of its own.

    start ─▶ ready ─▶ kill │ stop │ pause, go on │ set its clock ─▶ start ─▶ … ─▶ end

It keeps its ports and its store from one process to the next. Its log goes to the log of this
process.

P1. After `end` there is no process; if this process ends in any other way, the member ends with it.
P2. A member is started from the main thread: it would end with another thread.
"""

import asyncio
import contextlib
import json
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from aerobee.app.members.member_job import job_of, to_line
from aerobee.app.process.holdings import Holdings
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.process.log_setup import pass_on
from aerobee.app.settings.up_settings import MemberSettings
from aerobee.ports.service import Peer
from aerobee.replication.config import ReplicationConfig

COMMAND = (sys.executable, "-m", "aerobee.app.members.member_child")
END_SECONDS = 20.0
"""A member that has not ended by then is killed."""
_LAST_LINES = 3
_READY = "ready: "


class MemberProcess:
    def __init__(
        self,
        member: MemberSettings,
        nameserver: Callable[[], str],
        *,
        level: str = "WARNING",
        changed: Callable[[], None] = lambda: None,
        command: Sequence[str] = COMMAND,
    ) -> None:
        """`changed` is called when it begins or ceases to lead, and when its process has ended."""
        self.settings = member.settings
        self._member = member
        self._nameserver = nameserver
        self._level = level
        self._changed = changed
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._facts: dict[str, Any] = {}
        self._ready: asyncio.Future[str] | None = None
        self.leads = False
        self.is_paused = False

    @property
    def node(self) -> int:
        return self.settings.raft.node

    @property
    def name(self) -> str:
        return self.settings.names.name

    @property
    def broker_id(self) -> int:
        return self.settings.as_member(leads=self.leads).broker_id

    @property
    def replication(self) -> ReplicationConfig:
        """Its role now."""
        return self.settings.as_member(leads=self.leads).replication

    @property
    def address(self) -> str:
        """Where clients reach it."""
        return str(Peer(self.settings.listen.host, self.settings.listen.port))

    @property
    def metrics_address(self) -> str:
        """Where its pages are; empty: nowhere."""
        return str(self._facts.get("metrics", ""))

    def holdings(self) -> Holdings:
        """Return what its store had when its process was ready."""
        topics: list[str] = self._facts.get("topics", [])
        return Holdings(frozenset(topics), int(self._facts.get("messages", 0)))

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    # Its process.

    async def start(self) -> str:
        """Start a process, and wait until it serves; returns its places for the line `ready`.
        CannotStart: there is none."""
        self._last_lines.clear()
        process = self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which ends the others
        )
        self._ready = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.ensure_future(one) for one in (self._hear(process), self._log())]
        self._tell(to_line(job_of(self._member, self._nameserver(), self._level)))
        try:
            return await self._ready
        except BaseException:
            await self._gone(0)
            raise

    async def end(self) -> None:
        """End the process, together with those of the other members: nobody is to take over."""
        process = self._process
        if process is None:
            return
        self.go_on()
        assert process.stdin is not None
        with contextlib.suppress(OSError, RuntimeError):
            process.stdin.close()
        await self._gone(END_SECONDS)

    async def until_ended(self) -> None:
        """Wait until its process has ended, and all that it said was heard."""
        if self._tasks:
            await asyncio.wait(self._tasks)  # whoever gives up waiting does not end them

    # Faults.

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._send(signal.SIGKILL)

    def stop(self) -> None:
        """Stop it as planned: a leader hands over first."""
        self._send(signal.SIGTERM)

    def pause(self) -> None:
        self.is_paused = True
        self._send(signal.SIGSTOP)

    def go_on(self) -> None:
        """Undo `pause`."""
        if self.is_paused:
            self.is_paused = False
            self._send(signal.SIGCONT)

    def shift_clock(self, shift_ms: int) -> None:
        """Have its wall clock be so far off from now on."""
        self._tell(f"clock {shift_ms}\n")

    # What it says.

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert self._ready is not None
        places = ""
        async for line in process.stdout:
            text = line.decode(errors="replace").strip()
            if text.startswith(_READY):
                places = text.removeprefix(_READY)
            elif text:
                said = json.loads(text)
                if "ready" in said:
                    self._facts = said["ready"]
                    self._ready.set_result(places)
                self._set_leads(said.get("leads", self.leads))
        await process.wait()
        self.is_paused = False
        self._set_leads(False)
        if not self._ready.done():
            await self._tasks[1]
            why = "; ".join(self._last_lines) or f"status {process.returncode}"
            self._ready.set_exception(
                CannotStart(f"member n{self.node} does not start: {why.removeprefix('aerobee: ')}")
            )
        self._changed()

    def _set_leads(self, leads: bool) -> None:
        if leads != self.leads:
            self.leads = leads
            self._changed()

    async def _log(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            text = line.decode(errors="replace").rstrip()
            self._last_lines.append(text)
            pass_on(text)

    def _tell(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, RuntimeError):  # it has ended, and that is heard
            self._process.stdin.write(line.encode())

    def _send(self, number: int) -> None:
        if self.is_running:
            assert self._process is not None
            self._process.send_signal(number)

    async def _gone(self, seconds: float) -> None:
        """Wait so long until it has ended, then kill it."""
        assert self._process is not None
        if seconds:
            await asyncio.wait(self._tasks, timeout=seconds)
        if self.is_running:
            self._process.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._process = None
