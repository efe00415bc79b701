"""`Session`: one running client as its producers and consumers share it.

It has the connections, routes, heartbeats and tasks.

S1. It belongs to one event loop in one process; after a fork, or once closed, every use is Misuse.
S2. It owns every task that it starts: a failure is logged with the task's name, and all have ended
    when `close` returns. Imports more than 15 modules because it puts together what all of a client
    shares.
"""

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from aerobee.client.api.client_options import ClientOptions
from aerobee.client.connection.connections import Connections
from aerobee.client.connection.heartbeats import Heartbeats
from aerobee.client.connection.loop_portal import ClosedPortal, Portal
from aerobee.client.connection.name_servers import NameServers
from aerobee.client.connection.process_id import process_id
from aerobee.client.connection.request_dispatch import RequestDispatch
from aerobee.client.connection.route_cache import RouteCache
from aerobee.client.core.consume.silent_brokers import SilentBrokers
from aerobee.client.core.identity import UniqueIds, client_id
from aerobee.client.core.send.outgoing import Codec
from aerobee.client.core.trace_records import TraceBuffer
from aerobee.errors import AerobeeError, Misuse, Unreachable
from aerobee.ports.clock import Clock
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.system.clock import SystemClock

if TYPE_CHECKING:
    from aerobee.client.api.message import Message

_log = logging.getLogger(__name__)

Periodic = Callable[[], Awaitable[None]]
Reply = Callable[["Message", object, Codec], Awaitable[None]]


class Session:
    def __init__(self, options: ClientOptions, *, clock: Clock | None = None) -> None:
        self.options = options
        self.clock: Clock = clock or SystemClock()
        self._pid = process_id()
        address = _own_address()
        nanoseconds = time.monotonic_ns()
        self.client_id = client_id(address, self._pid, nanoseconds, unit=options.unit)
        self.unique_ids = UniqueIds(address, self._pid, hash(self.client_id) & 0xFFFFFFFF)
        self.dispatch = RequestDispatch()
        self.connections = Connections(
            self.dispatch.serve,
            credentials=options.credentials,
            tls=options.tls,
            connect_timeout=options.connect_timeout,
            wall_ms=lambda: self.clock.now().wall_ms,
        )
        self.name_servers = NameServers(self.connections, options.name_servers, options.timeout)
        self.routes = RouteCache(self.name_servers)
        self.members = Heartbeats(self.client_id, self.connections, self.routes, options.timeout)
        self.silent = SilentBrokers()
        """Brokers that did not answer a read."""
        self._month_start_ms = self._month_end_ms = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._closers: list[Periodic] = []
        self._is_open = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self.reply: Reply = _nobody_replies
        """What answers a message that was requested: its client's."""
        self.traces = TraceBuffer() if options.trace else None
        """What is to be written down of messages; None: nothing is."""
        self.portal: Portal = ClosedPortal()
        """The way into its loop, for other threads."""

    async def start(self) -> None:
        """Start the tasks of the client. No server needs to be there yet."""
        if self._is_open:
            raise Misuse("the client is open already")
        self._is_open = True
        self._loop = asyncio.get_running_loop()
        self.portal = Portal(self._loop, threading.get_ident())
        self.routes.watch(self._route_changed)
        self.spawn(self._keep(self.options.route_seconds, self.routes.refresh_all), "routes")
        self.spawn(self._keep(self.options.heartbeat_seconds, self.members.beat), "heartbeats")

    async def close(self) -> None:
        """Leave every group, end every task, close every connection."""
        if not self._is_open:
            return
        for close in tuple(reversed(self._closers)):
            await close()
        self._is_open = False
        self.portal = ClosedPortal()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.members.leave()
        await self.routes.close()
        await self.connections.close()

    def at_close(self, close: Periodic) -> None:
        """Call this before the client closes: consumers and producers leave first."""
        self._closers.append(close)

    def not_at_close(self, close: Periodic) -> None:
        """Take a callback back that was already done."""
        self._closers.remove(close)

    def check(self) -> None:
        """Raise Misuse unless the client is open in this process."""
        if not self._is_open:
            raise Misuse(
                "the client is not open", hint="use it inside `async with aerobee.connect(...)`"
            )
        if process_id() != self._pid:
            raise Misuse(
                "this client was opened before a fork",
                hint="open one in each process; `aerobee run --workers` does it for you",
            )

    def check_loop(self) -> None:
        """Raise Misuse in another loop than its own. Not part of `check`: asking for the running
        loop is a system call, which is too much for each send.
        """
        if self._is_open and asyncio.get_running_loop() is not self._loop:
            raise Misuse(
                "this client was opened in another event loop",
                hint="open one in each loop; other threads may use aerobee.sync(client)",
            )

    def moment(self) -> tuple[int, int]:
        """The time in ms since 1970, and the start of this month: ids count from there."""
        wall_ms = self.clock.now().wall_ms
        if not self._month_start_ms <= wall_ms < self._month_end_ms:
            self._month_start_ms, self._month_end_ms = _month_of(wall_ms)
        return wall_ms, self._month_start_ms

    def new_id(self) -> str:
        """An id for a message."""
        wall_ms, month_start_ms = self.moment()
        return self.unique_ids.take(wall_ms - month_start_ms)

    def spawn(self, work: Coroutine[object, object, None], name: str) -> "asyncio.Task[None]":
        """Run a task until it ends or the client closes."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def ask(
        self, address: str, command: RemotingCommand, seconds: float | None = None
    ) -> RemotingCommand:
        """A broker's answer, whatever its code. Unreachable names the name server that gave the
        address.
        """
        self.check()
        self.check_loop()
        try:
            return await self.connections.ask(address, command, seconds or self.options.timeout)
        except Unreachable as error:
            raise self.with_advertiser(error) from None

    def with_advertiser(self, error: Unreachable) -> Unreachable:
        """The same error, with a hint if a name server gave the address."""
        advertiser = self.routes.advertiser_of(error.address)
        if not advertiser:
            return error
        return Unreachable(
            f"{error.message}; the name server {advertiser} gave this address",
            address=error.address,
            hint="the broker registered an address that cannot be reached from here: "
            "set its brokerIP1 to one that can",
        )

    def _route_changed(self, topic: str) -> None:
        if self._is_open:
            self.spawn(self.members.beat(), f"heartbeat, for {topic} has moved")

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, AerobeeError):
            _log.warning("%s of %s ended: %s", task.get_name(), self.client_id, error)
        elif error is not None:
            _log.error("%s of %s failed", task.get_name(), self.client_id, exc_info=error)

    async def _keep(self, seconds: float, do: Periodic) -> None:
        """Call a function at an interval. A failure is logged and does not end the loop."""
        while True:
            await asyncio.sleep(seconds)
            try:
                await do()
            except AerobeeError as error:
                _log.warning("%s", error)


async def _nobody_replies(message: "Message", body: object, codec: Codec) -> None:
    raise Misuse("no client is here to reply")


def _own_address() -> str:
    """An address of this machine for ids, found without sending anything. Any address will do that
    differs from other machines'.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a datagram socket: nothing is sent
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def _month_of(wall_ms: int) -> tuple[int, int]:
    """The start of a time's month and of the next month, in local time: ids count from there."""
    start = datetime.fromtimestamp(wall_ms / 1000).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    end = (start + timedelta(days=32)).replace(day=1)
    return int(start.timestamp() * 1000), int(end.timestamp() * 1000)
