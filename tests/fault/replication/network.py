"""Networks of brokers whose links can be cut and slowed down.

    namespaces   a network namespace for each broker, and one for the name server and all clients;
                 needs root, `ip` and `tc` (Debian: iproute2)
    loopback     everything on 127.0.0.1; each slave reaches its master through a proxy

A cut link drops everything and tells nobody: both ends keep a connection that looks alive. In
namespaces packets go to a hardware address that nobody has; a proxy stops reading.
"""

import asyncio
import contextlib
import ctypes
import functools
import itertools
import os
import shutil
import subprocess
import threading
from abc import ABC, abstractmethod
from typing import NamedTuple

from tests.interop.replication.brokers import steady_port

_TOOLS = ("ip", "tc")
_NOBODY = "02:00:00:00:00:01"
_CLONE_NEWNET = 0x40000000
_PORT = 10_911
_HUB = "10.77.0.1"
_tags = itertools.count(1)


class Place(NamedTuple):
    """Where a broker runs; its HA port is the one after its port."""

    host: str
    port: int
    command: tuple[str, ...] = ()
    """Runs what follows it there."""


class Network(ABC):
    """Brokers have numbers from 0 on. A link is that of a slave to its master."""

    kind: str
    clients: str
    """The host of the name server and of all clients."""

    @abstractmethod
    def place(self, number: int) -> Place: ...

    @abstractmethod
    def master_ha(self, number: int) -> str:
        """The HA address of its master, as a slave is told; empty: name servers tell it."""

    @abstractmethod
    def lead(self, number: int) -> None:
        """This broker is the master from now on."""

    @abstractmethod
    def cut(self, number: int) -> None:
        """Carry nothing between a slave and its master any more."""

    @abstractmethod
    def join(self, number: int) -> None:
        """Undo `cut`, also if the master is another by now."""

    @abstractmethod
    def limit(self, number: int, bytes_per_second: int) -> None:
        """Carry no more than so much to a slave; 0: without a limit."""

    @abstractmethod
    def close(self) -> None: ...


def network(count: int) -> Network:
    """The best one that is possible here."""
    return Loopback(count) if missing() else Namespaces(count)


@functools.cache
def missing() -> str:
    """Why there can be no namespaces here; empty if there can."""
    if os.environ.get("FAULT_NETWORK") == "loopback":
        return "FAULT_NETWORK=loopback"
    if os.geteuid() != 0:
        return "needs root"
    absent = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if absent:
        return f"needs {', '.join(absent)}"
    name = f"aerobee-{os.getpid()}-try"
    try:
        _run("ip", "netns", "add", name)
        try:
            _run("ip", "-n", name, "link", "add", "try0", "type", "veth", "peer", "name", "try1")
            _run("ip", "-n", name, "link", "add", "try2", "type", "bridge")
            _run("tc", "-n", name, "qdisc", "add", "dev", "try0", "root", *_slow(1 << 20))
        finally:
            _run("ip", "netns", "del", name)
    except RuntimeError as error:
        return str(error)
    return ""


class Namespaces(Network):
    """The thread that makes it is among the clients until `close`, with all that it starts."""

    kind = "network namespaces"
    clients = _HUB

    def __init__(self, count: int) -> None:
        tag = f"aerobee-{os.getpid()}-{next(_tags)}"
        self._hub = f"{tag}-hub"
        self._names = [f"{tag}-{number}" for number in range(count)]
        self._leader = 0
        # By slave, the master that it is cut off from.
        self._cuts: dict[int, int] = {}
        self._home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            self._build()
            with open(f"/run/netns/{self._hub}") as hub:
                _enter(hub.fileno())
        except BaseException:
            self.close()
            raise

    def _build(self) -> None:
        hub = ("ip", "-n", self._hub)
        _run("ip", "netns", "add", self._hub)
        _run(*hub, "link", "set", "lo", "up")
        _run(*hub, "link", "add", "bridge", "type", "bridge")
        _run(*hub, "addr", "add", f"{_HUB}/24", "dev", "bridge")
        _run(*hub, "link", "set", "bridge", "up")
        for number, name in enumerate(self._names):
            port, node = f"port{number}", ("ip", "-n", name)
            _run("ip", "netns", "add", name)
            peer = ("peer", "name", "eth0", "netns", name)
            _run(*hub, "link", "add", port, "type", "veth", *peer)
            _run(*hub, "link", "set", port, "master", "bridge", "up")
            _run(*node, "addr", "add", f"{_host(number)}/24", "dev", "eth0")
            _run(*node, "link", "set", "eth0", "up")
            _run(*node, "link", "set", "lo", "up")

    def place(self, number: int) -> Place:
        return Place(_host(number), _PORT, ("ip", "netns", "exec", self._names[number]))

    def master_ha(self, number: int) -> str:
        return ""

    def lead(self, number: int) -> None:
        self._leader = number

    def cut(self, number: int) -> None:
        leader = self._cuts[number] = self._leader
        # The master's way first: its last bytes are lost, and not their acknowledgement.
        for here, there in ((leader, number), (number, leader)):
            where = (_host(there), "lladdr", _NOBODY, "nud", "permanent", "dev", "eth0")
            _run("ip", "-n", self._names[here], "neigh", "replace", *where)

    def join(self, number: int) -> None:
        leader = self._cuts.pop(number)
        for here, there in ((number, leader), (leader, number)):
            _run("ip", "-n", self._names[here], "neigh", "del", _host(there), "dev", "eth0")

    def limit(self, number: int, bytes_per_second: int) -> None:
        queue = ("dev", f"port{number}", "root")
        if bytes_per_second:
            _run("tc", "-n", self._hub, "qdisc", "replace", *queue, *_slow(bytes_per_second))
        else:
            _run("tc", "-n", self._hub, "qdisc", "del", *queue)

    def close(self) -> None:
        _enter(self._home)
        os.close(self._home)
        for name in (*self._names, self._hub):
            if os.path.exists(f"/run/netns/{name}"):
                _run("ip", "netns", "del", name)


class Loopback(Network):
    kind = "loopback with proxies"
    clients = "127.0.0.1"

    def __init__(self, count: int) -> None:
        self._places = [Place("127.0.0.1", steady_port()) for _ in range(count)]
        self._doors = [_Door(steady_port()) for _ in range(count)]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.lead(0)
        for door in self._doors:
            asyncio.run_coroutine_threadsafe(door.open(), self._loop).result()

    def place(self, number: int) -> Place:
        return self._places[number]

    def master_ha(self, number: int) -> str:
        return f"127.0.0.1:{self._doors[number].port + 1}"

    def lead(self, number: int) -> None:
        for door in self._doors:
            door.leads_to = self._places[number].port

    def cut(self, number: int) -> None:
        self._loop.call_soon_threadsafe(self._doors[number].is_open.clear)

    def join(self, number: int) -> None:
        self._loop.call_soon_threadsafe(self._doors[number].is_open.set)

    def limit(self, number: int, bytes_per_second: int) -> None:
        self._doors[number].bytes_per_second = bytes_per_second

    def close(self) -> None:
        async def close() -> None:
            for door in self._doors:
                await door.close()

        asyncio.run_coroutine_threadsafe(close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Door:
    """A proxy of two ports: requests, and the HA port beside it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.leads_to = 0
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.bytes_per_second = 0
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        for more in (0, 1):

            async def serve(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, more: int = more
            ) -> None:
                task = asyncio.current_task()
                assert task is not None
                self._tasks.add(task)
                await self._serve(reader, writer, self.leads_to + more)
                self._tasks.discard(task)

            self._servers.append(await asyncio.start_server(serve, "127.0.0.1", self.port + more))

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
    ) -> None:
        with contextlib.suppress(OSError), contextlib.closing(writer):
            await self.is_open.wait()
            there, back = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.closing(back):
                ways = {
                    asyncio.create_task(self._carry(reader, back, 0)),
                    asyncio.create_task(self._carry(there, writer, 1)),
                }
                try:
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in ways:
                        way.cancel()
                    await asyncio.gather(*ways, return_exceptions=True)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limited: int
    ) -> None:
        never = asyncio.Event()
        while data := await reader.read(16_384):
            await self.is_open.wait()
            if limited and self.bytes_per_second:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(never.wait(), len(data) / self.bytes_per_second)
            writer.write(data)
            await writer.drain()


def _slow(bytes_per_second: int) -> tuple[str, ...]:
    rate = f"{8 * bytes_per_second}bit"
    return ("tbf", "rate", rate, "burst", "64kb", "latency", "400ms")


def _host(number: int) -> str:
    return f"10.77.0.{11 + number}"


def _enter(descriptor: int) -> None:
    """Move this thread to a network namespace."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
