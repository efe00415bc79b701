"""A service as a process of the simulated network: the product's own objects, and the product's own
net layer over simulated connections.

    start      build the service on what the disk has, drive it
    stop       as a signal would: the driver first, then what is under the service
    rebuild    the same, and another service in its place, in the same process
    kill       the process is gone; what it wrote is in the memory of its system
    cut_power  the machine is gone, and of what was not synced a choice is left

A disk call can be where the power goes (`SimFaults.power_cut_at`), in the middle of a start, too.
"""

import asyncio
import socket
from typing import cast

from aerobee.errors import StorageError
from aerobee.net.driver import Driver
from aerobee.ports.service import Peer, Rebuild, Service
from aerobee.protocol.remoting.frame import FrameLimits
from aerobee.sim.crash_choice import CrashChoice
from aerobee.sim.disk import SimDisk
from aerobee.sim.event_loop import SimSocket
from aerobee.sim.faults import PowerCut
from aerobee.sim.network import Host, Process
from aerobee.sim.timed_worker import DelayMs, TimedDiskWorker

CONNECTIONS_MAX = 1_000
STOP_MS_MAX = 10_000  # how long a stop may take before somebody kills the process
LOOK_SECONDS = 0.005


class Fate:
    """What a story decides for its nodes, and hears of them."""

    def surviving(self, disk: SimDisk) -> CrashChoice:
        """What of the unsynced is left by a power cut."""
        raise NotImplementedError

    def opened(self, node: "Node") -> None:
        """It has read what it left, and has done nothing yet."""

    def started(self, node: "Node") -> None:
        """It serves."""

    def ended(self, node: "Node", how: str) -> None:
        """Its process is over."""

    def failed(self, node: "Node", error: BaseException) -> None:
        """Something came out of it that must not."""
        raise NotImplementedError


class Node:
    """A service on a host, from process to process."""

    def __init__(self, name: str, host: Host, port: int, fate: Fate, delay_ms: DelayMs) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.disk = SimDisk()
        self.ha_port = 0
        """Where it accepts HA links; 0: nowhere."""
        self.grpc_port = 0
        """Where it takes calls of gRPC; 0: nowhere."""
        self.is_kill_planned = False
        """Whether the next `PowerCut` of the disk takes the process only."""
        self._fate = fate
        self._delay_ms = delay_ms
        self._process: Process | None = None
        self._driver: Driver | None = None
        self._is_rebuilding = False
        self.starts = 0
        self.opened_ms = 0
        """When the last service was built."""

    @property
    def address(self) -> str:
        return str(Peer(self.host.name, self.port))

    @property
    def is_up(self) -> bool:
        return self._process is not None

    # Life and death.

    def start(self) -> None:
        """Switch the machine on if need be, and run a new process on what the last one left."""
        assert self._process is None, f"{self.name} runs"
        self.host.boot()
        self.starts += 1
        process = self._process = self.host.start(self._failed)
        process.loop.run(lambda: self._begin(process))

    def _blame(self, error: BaseException) -> None:
        """Something does not work: is it the disk's fault, and not its own?"""
        if not self.may_fail():
            self._fate.failed(self, error)

    def _begin(self, process: Process) -> None:
        network = process.network
        worker = TimedDiskWorker(network.timeline, process.loop, network.random, self._delay_ms)
        try:
            service = self._build(worker)
        except (StorageError, OSError) as error:
            self._blame(error)
            self._stopped(process, "not started")
            return
        self.opened_ms = network.timeline.now_ms
        self._fate.opened(self)
        driver = Driver(
            service, self.host.clock, FrameLimits(), CONNECTIONS_MAX, rebuild=self.rebuild
        )
        worker.wake = driver.tick_soon
        self._driver = driver
        process.loop.create_task(self._serve(driver))

    async def _serve(self, driver: Driver) -> None:
        bound, ha_bound, grpc_bound = (
            [cast(socket.socket, SimSocket(port))] if port else []
            for port in (self.port, self.ha_port, self.grpc_port)
        )
        await driver.start(bound, self._gave_up, ha_bound, grpc_bound)
        self._fate.started(self)

    def rebuild(self, wanted: Rebuild) -> None:
        """Put another service in the place of this one. A second wish while one is fulfilled is
        dropped, as the product does it."""
        process = self._process
        if process is not None and self._driver is not None and not self._is_rebuilding:
            self._is_rebuilding = True
            process.loop.run(lambda: process.loop.create_task(self._live_on(process, wanted)))

    async def _live_on(self, process: Process, wanted: Rebuild) -> None:
        driver, self._driver = self._driver, None
        assert driver is not None
        await driver.stop()
        try:
            self._close()
        except (StorageError, OSError) as error:
            self._blame(error)
        self._forget()
        self._become(wanted)
        self._is_rebuilding = False
        self._begin(process)

    def stop(self) -> None:
        """As a signal would."""
        if self._process is not None:
            process = self._process
            process.loop.create_task(self._stop(process))
            process.network.timeline.after(STOP_MS_MAX, lambda: self._stopped(process, "hung"))

    async def _stop(self, process: Process) -> None:
        while self._is_rebuilding:
            await asyncio.sleep(LOOK_SECONDS)
        if self._driver is not None:
            driver, self._driver = self._driver, None
            await driver.stop()
            try:
                self._close()
            except (StorageError, OSError) as error:
                self._blame(error)
            self._stopped(process, "stopped")

    def _stopped(self, process: Process, how: str) -> None:
        if self._process is process:
            self.kill(how)

    def kill(self, how: str = "killed") -> None:
        if self._process is not None:
            process, self._process = self._process, None
            self.disk = self.disk.kill()
            process.kill()
            self._over(how)

    def cut_power(self) -> None:
        if self._process is not None:
            self._process = None
            self.disk = self.disk.power_cut(self._fate.surviving(self.disk))
            self.host.cut_power()
            self._over("without power")

    def _over(self, how: str) -> None:
        self._driver = None
        self._is_rebuilding = False
        self.is_kill_planned = False
        self._forget()
        self._fate.ended(self, how)

    def _failed(self, error: BaseException) -> None:
        if not isinstance(error, PowerCut):
            self._fate.failed(self, error)
        elif self.is_kill_planned:
            self.kill()
        else:
            self.cut_power()

    def _gave_up(self, error: BaseException) -> None:
        """The service says that it cannot go on: the process ends, in order."""
        self._blame(error)
        self.stop()

    # What a service is made of.

    def _build(self, worker: TimedDiskWorker) -> Service:
        raise NotImplementedError

    def _close(self) -> None:
        """After the driver has stopped."""
        raise NotImplementedError

    def _become(self, wanted: Rebuild) -> None:
        """The next service is to be like this."""

    def _forget(self) -> None:
        """The service is over: nothing of it may be looked at any more."""

    def may_fail(self) -> bool:
        """Whether something was done to its disk that it need not survive as a process."""
        return False
