"""Hosts, the links between them, and the processes on them.

A link has two directions, each with its latency, and each can be slowed down, cut and healed by
itself. A process has a loop, listens and connects. It can be killed: its system closes what it had
open. A host can be switched off: then nobody is told anything.
"""

import asyncio
import math
import random
from collections.abc import Callable

from aerobee.sim.event_loop import Factory, SimLoop
from aerobee.sim.timeline import HostClock, Timeline
from aerobee.sim.transport import SimTransport, Wire

KNOCK_AGAIN_MS = 1_000  # when nobody answered a connection attempt
FIRST_PORT = 40_000
_JITTER_SHARE = 0.1

Failed = Callable[[BaseException], None]


class HostLink:
    """One direction. `transport.Link`."""

    def __init__(self, generator: random.Random, latency_ms: int, jitter_ms: int) -> None:
        self._random = generator
        self._latency_ms = latency_ms
        self._jitter_ms = jitter_ms
        # When the bytes that it has taken over so far are through, if it is slow.
        self._busy_until_ms = 0.0
        self.is_cut = False
        self.bytes_per_second = 0
        """What it carries, over all connections; 0: anything, at once."""

    def delay_ms(self) -> int:
        if self._jitter_ms and self._random.random() < _JITTER_SHARE:
            return self._latency_ms + self._random.randint(0, self._jitter_ms)
        return self._latency_ms

    def carry_ms(self, size: int, now_ms: int) -> int:
        if not self.bytes_per_second:
            return 0
        begun_ms = max(self._busy_until_ms, now_ms)
        self._busy_until_ms = begun_ms + 1000 * size / self.bytes_per_second
        return math.ceil(self._busy_until_ms - now_ms)


class Process:
    """A program that runs on a host: its loop, what it listens to, its connections."""

    def __init__(self, network: "Network", host: "Host", failed: Failed) -> None:
        self.network = network
        self.host = host
        self.loop = SimLoop(network.timeline, self, failed)
        self._ports: list[int] = []
        self._sides: list[SimTransport] = []

    @property
    def is_over(self) -> bool:
        return self.loop.is_over

    @property
    def sides(self) -> list[SimTransport]:
        """Its connections."""
        self._sides = [side for side in self._sides if not side.is_over]
        return self._sides

    def add(self, side: SimTransport) -> None:
        self._sides.append(side)

    def kill(self) -> None:
        """It ends at once, in the middle of everything."""
        self._end()
        for side in self._sides:
            side.die()

    def vanish(self) -> None:
        """It ends with its host, and nobody hears of it."""
        self._end()
        for side in self._sides:
            side.vanish()

    def _end(self) -> None:
        self.loop.end()
        for port in self._ports:
            self.host.listeners.pop(port, None)

    # For its loop.

    def listen(self, factory: Factory, port: int) -> "Listener":
        assert port not in self.host.listeners, f"{self.host.name}:{port} is taken"
        listener = self.host.listeners[port] = Listener(self, factory, port)
        self._ports.append(port)
        return listener

    async def connect(
        self, factory: Factory, host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        attempt = _Attempt(self.network, self, factory, self.network.host(host), port)
        attempt.knock()
        return await attempt.outcome


class Listener:
    """Where a process accepts connections."""

    def __init__(self, process: Process, factory: Factory, port: int) -> None:
        self.process = process
        self.factory = factory
        self._port = port

    def close(self) -> None:
        self.process.host.listeners.pop(self._port, None)


class Host:
    """A machine. `transport.Machine`."""

    def __init__(self, network: "Network", name: str) -> None:
        self._network = network
        self.name = name
        self.clock = HostClock(network.timeline.clock)
        self.is_dark = False
        self.listeners: dict[int, Listener] = {}
        self.processes: list[Process] = []
        self._port = FIRST_PORT

    def start(self, failed: Failed) -> Process:
        """A new process."""
        assert not self.is_dark
        self.processes = [process for process in self.processes if not process.is_over]
        process = Process(self._network, self, failed)
        self.processes.append(process)
        return process

    def cut_power(self) -> None:
        self.is_dark = True
        for process in self.processes:
            process.vanish()

    def boot(self) -> None:
        if self.is_dark:
            self.is_dark = False
            self.clock.boot()
            self._network.wire.pump()

    def next_port(self) -> int:
        self._port += 1
        return self._port


class Network:
    def __init__(
        self, timeline: Timeline, generator: random.Random, buffer_bytes: int = 1 << 20
    ) -> None:
        """`buffer_bytes` is how much a side may write that the other has not read."""
        self.timeline = timeline
        self.random = generator
        self.wire = Wire(timeline, generator, buffer_bytes)
        self._hosts: dict[str, Host] = {}
        self._links: dict[tuple[str, str], HostLink] = {}
        self._latencies_ms = (0, 1, 1, 2, 5)

    def host(self, name: str) -> Host:
        if name not in self._hosts:
            self._hosts[name] = Host(self, name)
        return self._hosts[name]

    def link(self, source: str, target: str) -> HostLink:
        """From one host to another."""
        key = (source, target)
        if key not in self._links:
            latency_ms = self.random.choice(self._latencies_ms)
            self._links[key] = HostLink(self.random, latency_ms, 4 * latency_ms)
        return self._links[key]

    def cut(self, source: str, target: str) -> None:
        """Nothing gets from one host to the other; the way back is another link."""
        self.link(source, target).is_cut = True

    def slow(self, source: str, target: str, bytes_per_second: int) -> None:
        """No more than this gets from one host to the other."""
        self.link(source, target).bytes_per_second = bytes_per_second

    def heal(self, source: str, target: str) -> None:
        link = self.link(source, target)
        link.is_cut, link.bytes_per_second = False, 0
        self.wire.pump()

    def heal_all(self) -> None:
        for source, target in self._links:
            self.heal(source, target)

    def end(self) -> None:
        """The story is over: nothing happens any more."""
        for host in self._hosts.values():
            for process in host.processes:
                process.loop.end()

    def sides(self) -> list[SimTransport]:
        """Every connection of every process, from both sides."""
        return [
            side
            for host in self._hosts.values()
            for process in host.processes
            for side in process.sides
        ]


class _Attempt:
    """To connect: knock ─▶ accepted, or refused ─▶ heard. Repeated while nobody answers."""

    def __init__(
        self, network: Network, process: Process, factory: Factory, target: Host, port: int
    ) -> None:
        self._network = network
        self._process = process
        self._factory = factory
        self._target = target
        self._port = port
        self._there = network.link(process.host.name, target.name)
        self._back = network.link(target.name, process.host.name)
        self.outcome: asyncio.Future[tuple[asyncio.Transport, asyncio.BaseProtocol]] = (
            process.loop.create_future()
        )

    def knock(self) -> None:
        if not self._process.is_over and not self.outcome.done():
            self._network.timeline.after(self._there.delay_ms(), self._arrive)

    def _arrive(self) -> None:
        timeline = self._network.timeline
        if self._there.is_cut or self._back.is_cut or self._target.is_dark:
            timeline.after(KNOCK_AGAIN_MS, self.knock)
            return
        listener = self._target.listeners.get(self._port)
        if listener is None:
            timeline.after(self._back.delay_ms(), self._refused)
            return
        near_at = (self._process.host.name, self._process.host.next_port())
        far_at = (self._target.name, self._port)
        wire, host = self._network.wire, self._process.host
        near = SimTransport(wire, self._process.loop, host, self._back, near_at, far_at)
        far = SimTransport(wire, listener.process.loop, self._target, self._there, far_at, near_at)
        near.join(far)
        self._process.add(near)
        listener.process.add(far)
        far.begin(listener.factory())
        timeline.after(self._back.delay_ms(), lambda: self._accepted(near))

    def _accepted(self, near: SimTransport) -> None:
        if self._process.is_over:
            return
        if self.outcome.done():
            near.abort()  # given up meanwhile
            return
        protocol = self._factory()
        near.begin(protocol)
        self.outcome.set_result((near, protocol))

    def _refused(self) -> None:
        if not self._process.is_over and not self.outcome.done():
            self.outcome.set_exception(ConnectionRefusedError("nobody listens there"))
