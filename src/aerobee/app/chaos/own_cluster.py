"""OwnCluster: a name server and a Raft group on this machine, started to be broken, in a folder of
its own. Everything ends with it, also if this process is killed."""

import contextlib
import os
import random
import socket
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from aerobee.app.chaos.cluster import ChaosRefused, Fault
from aerobee.app.chaos.member_doors import OUTER_HOST, MemberDoors, inner_host
from aerobee.app.chaos.small_disk import SmallDisk
from aerobee.app.members.member_process import MemberProcess
from aerobee.app.process.nameserver_process import NameServerPart
from aerobee.app.settings import broker_settings
from aerobee.app.settings.config import Given
from aerobee.app.settings.up_settings import PORT_STEP, MemberSettings, UpFlags, read_settings

LOG_FILE_BYTES = 1 << 20
"""Small files: a full disk is noticed when the next one is made."""
SETTINGS = {
    "testCluster": "true",
    "metricsExporterType": "DISABLE",
    "mappedFileSizeCommitLog": str(LOG_FILE_BYTES),
    "osPageCacheBusyTimeOutMills": "600000",  # a busy machine is no fault that is meant here
}
_PLACE = "aerobee chaos"
_PORTS = range(20_000, 50_000)
_TRIES = 200


class OwnMember:
    """A member, as faults see it."""

    def __init__(self, process: MemberProcess, doors: MemberDoors, disk: SmallDisk | None) -> None:
        self._process = process
        self._doors = doors
        self._disk = disk
        self.label = f"n{process.node}"
        self.kill = process.kill
        self.stop = process.stop
        self.pause = process.pause
        self.go_on = process.go_on
        self.shift_clock = process.shift_clock
        self.until_ended = process.until_ended

    @property
    def address(self) -> str:
        return self._process.address

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    def cut(self) -> None:
        self._doors.cut(self._process.node)

    def join(self) -> None:
        self._doors.join(self._process.node)

    def fill_disk(self) -> None:
        assert self._disk is not None
        self._disk.fill()

    def empty_disk(self) -> None:
        assert self._disk is not None
        self._disk.empty()

    async def start(self) -> None:
        await self._process.start()
        await self._doors.open(self._process.node)


class OwnCluster:
    def __init__(
        self, target: str, broker: str, victims: Sequence[OwnMember], no_disks: str
    ) -> None:
        self.target = target
        self.broker = broker
        self.victims = victims
        self._no_disks = no_disks

    def why_not(self, fault: Fault) -> str:
        return self._no_disks if fault is Fault.DISK else ""


@contextlib.asynccontextmanager
async def own_cluster(folder: Path, nodes: int, no_disks: str) -> AsyncIterator[OwnCluster]:
    """`no_disks`: why stores cannot be on disks of their own; empty: they are."""
    flags = UpFlags(
        str(folder),
        port=str(free_port(nodes)),
        nameserver_port="0",
        replication="raft",
        nodes=nodes,
        beside=SETTINGS,
    )
    settings = read_settings(flags, os.environ)
    nameserver = NameServerPart(settings.nameserver)
    async with contextlib.AsyncExitStack() as undo:
        await nameserver.start(_not_expected)
        undo.push_async_callback(nameserver.stop)
        doors = MemberDoors([one.settings.raft.port for one in settings.members])
        undo.push_async_callback(doors.close)
        victims = []
        for one in settings.members:
            disk = None
            if not no_disks:
                disk = SmallDisk(Path(one.settings.paths.root))
                undo.callback(disk.close)
            member = _member(one, nameserver, doors)
            undo.push_async_callback(member.end)
            victims.append(OwnMember(member, doors, disk))
        for victim in victims:
            await victim.start()
        broker = settings.brokers[0].names.name
        yield OwnCluster(nameserver.address, broker, victims, no_disks)


def _member(one: MemberSettings, nameserver: NameServerPart, doors: MemberDoors) -> MemberProcess:
    """A member behind its door, which is shut whenever its process has ended."""
    node = one.settings.raft.node
    host = Given("bindAddress", inner_host(node), _PLACE)
    told = (*one.told, host)
    settings = broker_settings.read_settings(None, os.environ, told, one.defaults)
    behind = MemberSettings(settings, told, one.defaults)

    def changed() -> None:
        if not member.is_running:
            doors.shut(node)

    member = MemberProcess(behind, lambda: nameserver.address, level="ERROR", changed=changed)
    return member


def free_port(nodes: int) -> int:
    """The port of the first of so many members whose ports nobody has now."""
    for _ in range(_TRIES):
        first = random.choice(_PORTS)
        if all(_is_free(node, first + PORT_STEP * node) for node in range(nodes)):
            return first
    raise ChaosRefused("no free ports were found on 127.0.0.1", hint="what uses all of them?")


def _is_free(node: int, port: int) -> bool:
    places = [(inner_host(node), port + step) for step in (-2, 0, 1)]
    for place in (*places, (OUTER_HOST, port + 1)):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(place)
            except OSError:
                return False
    return True


def _not_expected(error: BaseException) -> None:
    raise AssertionError("the name server of a test cluster failed") from error
