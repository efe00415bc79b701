"""MarkedCluster: a Raft group that runs on this machine and is marked as a test cluster by its
configuration.

Its processes are found by their ports. A process that was killed or stopped is started again by
whoever keeps it running (systemd, `aerobee up`), or else here, by its own command line.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from aerobee.app.chaos.cluster import ChaosRefused, Fault
from aerobee.app.load.measure.proc import Proc
from aerobee.client.admin.admin import Admin
from aerobee.client.admin.replica_group import ReplicaGroup

MARK = "testCluster"
KEPT_SECONDS = 8.0
"""How long it is waited for whoever keeps a process running."""
START_SECONDS_MAX = 60.0
_LOOK_SECONDS = 0.1
_POSSIBLE = (Fault.KILL, Fault.STOP, Fault.PAUSE)
_HINT = (
    f"`aerobee chaos` without -n starts a cluster of its own; to break this one on purpose, write"
    f" {MARK}=true into the configuration of each of its brokers, and restart them"
)


class Remembered(NamedTuple):
    """A process, and how it was started."""

    pid: int
    command: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    outputs: Sequence[str]
    """Where its stdout and stderr go."""


class MarkedBroker:
    """A broker that somebody else has started, as faults see it."""

    def __init__(
        self,
        address: str,
        process: Remembered,
        proc: Proc,
        kept_seconds: float = KEPT_SECONDS,
    ) -> None:
        self.address = address
        self.label = address
        self._process = process
        self._proc = proc
        self._kept_seconds = kept_seconds
        self._port = int(address.rpartition(":")[2])
        self._started: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._proc.listener(self._port) is not None

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def stop(self) -> None:
        self._send(signal.SIGTERM)

    def pause(self) -> None:
        self._send(signal.SIGSTOP)

    def go_on(self) -> None:
        self._send(signal.SIGCONT)

    def cut(self) -> None:
        raise NotImplementedError

    join = fill_disk = empty_disk = cut

    def shift_clock(self, shift_ms: int) -> None:
        raise NotImplementedError

    async def until_ended(self) -> None:
        while _is_alive(self._process.pid):
            await asyncio.sleep(_LOOK_SECONDS)
        if self._started is not None:
            self._started.wait()

    async def start(self) -> None:
        """Wait until somebody has started it again, or do so."""
        pid = await self._listener(self._kept_seconds)
        if pid is None:
            self._started = _start(self._process)
            pid = await self._listener(START_SECONDS_MAX)
        if pid is None:
            raise ChaosRefused(
                f"{self.address} was killed, and does not start again",
                hint=f"start it by hand: {' '.join(self._process.command)}",
            )
        self._process = self._process._replace(pid=pid)

    async def _listener(self, seconds: float) -> int | None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while (pid := self._proc.listener(self._port)) is None and loop.time() < end:
            await asyncio.sleep(_LOOK_SECONDS)
        return pid

    def _send(self, number: int) -> None:
        try:
            os.kill(self._process.pid, number)
        except PermissionError:
            raise ChaosRefused(
                f"{self.address} belongs to another user", hint="run it as that user, or as root"
            ) from None


class MarkedCluster:
    def __init__(self, target: str, broker: str, victims: Sequence[MarkedBroker]) -> None:
        self.target = target
        self.broker = broker
        self.victims = victims

    def why_not(self, fault: Fault) -> str:
        return "" if fault in _POSSIBLE else "only in a cluster that chaos has started itself"


async def marked_cluster(
    admin: Admin, target: str, broker: str | None, proc: Proc | None = None
) -> MarkedCluster:
    """The group of a cluster, if it may be broken. ChaosRefused: it may not; nothing was done."""
    groups = await admin.replicas.groups(on=broker)
    if len(groups) != 1:
        names = ", ".join(one.name for one in groups) or "none"
        raise ChaosRefused(
            f"there are several brokers: {names}" if groups else "no broker is alive",
            hint="name one with --broker",
        )
    (group,) = groups
    check_marks(group)
    found = proc or Proc()
    victims = [
        MarkedBroker(one.address, remembered(one.address, found), found) for one in group.members
    ]
    if len({one.address for one in victims}) != len({one.pid for one in victims}):
        raise ChaosRefused(
            "several members run in one process: none can be killed alone",
            hint="start each with `aerobee broker start`",
        )
    return MarkedCluster(target, group.name, victims)


def check_marks(group: ReplicaGroup) -> None:
    """ChaosRefused: not every broker says that it is one to be broken, or it is no Raft group."""
    for member in group.members:
        if member.settings.get(MARK) != "true":
            why = member.problem or f"its configuration does not say {MARK}=true"
            raise ChaosRefused(
                f"{group.name} at {member.address} is not marked as a test cluster: {why}",
                hint=_HINT,
            )
        if member.settings.get("enableDLegerCommitLog") != "true":
            raise ChaosRefused(
                f"{group.name} at {member.address} is no member of a Raft group",
                hint="a broker alone loses its clients with every fault: see docs/raft.md",
            )


def remembered(address: str, proc: Proc) -> Remembered:
    """The process of a broker on this machine."""
    pid = proc.listener(int(address.rpartition(":")[2]))
    try:
        if pid is None:
            raise OSError
        place = Path(f"/proc/{pid}")
        command = [os.fsdecode(one) for one in (place / "cmdline").read_bytes().split(b"\0")[:-1]]
        pairs = (os.fsdecode(one).partition("=") for one in _parts(place / "environ"))
        environment = {name: text for name, _, text in pairs}
        outputs = [os.readlink(place / f"fd/{number}") for number in (1, 2)]
        return Remembered(pid, command, os.readlink(place / "cwd"), environment, outputs)
    except OSError:
        raise ChaosRefused(
            f"the process of {address} cannot be seen from here",
            hint="run it on the machine of the brokers, as their user",
        ) from None


def _parts(path: Path) -> list[bytes]:
    return [one for one in path.read_bytes().split(b"\0") if one]


def _start(process: Remembered) -> "subprocess.Popen[bytes]":
    with contextlib.ExitStack() as files:
        outputs: list[int | BinaryIO] = [subprocess.DEVNULL, subprocess.DEVNULL]
        for at, name in enumerate(process.outputs):
            if os.path.isfile(name):
                outputs[at] = files.enter_context(open(name, "ab"))
        return subprocess.Popen(
            process.command,
            cwd=process.folder,
            env=process.environment,
            stdin=subprocess.DEVNULL,
            stdout=outputs[0],
            stderr=outputs[1],
            start_new_session=True,
        )


def _is_alive(pid: int) -> bool:
    """Whether a process has not ended, though nobody may have looked at its end yet."""
    try:
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return False
