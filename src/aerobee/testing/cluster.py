"""A name server and brokers in this process: the product's own, on loopback sockets, with small
files in a folder that is gone afterwards, in memory where the system has such a folder.

Brokers and the cluster's clients live by `clock`, which a test may move: what is due an hour later
is due at once, and nobody is taken for silent over it. Name servers live by the machine's.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self, Unpack

from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.nameserver_process import NameServerPart
from aerobee.app.settings import broker_settings, nameserver_settings
from aerobee.app.settings.config import Given
from aerobee.client.api.client_options import ClientKeywords, options_for
from aerobee.client.client import Client
from aerobee.errors import AerobeeError, Misuse
from aerobee.service.broker.assembly import build_broker
from aerobee.testing.movable_clock import MovableClock

PATIENCE_SECONDS = 60.0
"""How long clients of a cluster wait for an answer, unless they are told otherwise."""
_MEMORY = "/dev/shm"
_PLACE = "aerobee.testing"
_NEVER_MS = 2**31 - 1
_SETTINGS = {
    "mappedFileSizeCommitLog": str(16 << 20),
    "mappedFileSizeConsumeQueue": "60000",
    "maxHashSlotNum": "1000",
    "maxIndexNum": "4000",
    # A message for an exact time is at most so late, whatever the clock was moved by.
    "timerPrecisionMs": "20",
    "timerRollWindowSlot": "180000",
    "timerWheelSlots": "360000",
    "mappedFileSizeTimerLog": str(68 * 1000),
    "listenPort": "0",
    "bindAddress": "127.0.0.1",
    "brokerIP1": "127.0.0.1",
    # Clients beat by the machine's clock: nobody is gone because a test has moved the other.
    "channelExpiredTimeout": str(_NEVER_MS),
    "recallMessageEnable": "true",
}


class Cluster:
    """C1. After `async with` nothing is left of it: no task, no thread, no file."""

    def __init__(
        self,
        *,
        brokers: int = 1,
        folder: str | os.PathLike[str] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`folder` is kept, where one is given. `settings` are of all brokers, under RocketMQ's
        names."""
        if not 0 < brokers <= 26:
            raise Misuse(f"a cluster of {brokers} brokers", hint="from 1 to 26")
        self.clock = MovableClock()
        self._names = [f"broker-{chr(ord('a') + number)}" for number in range(brokers)]
        self._settings = {**_SETTINGS, **(settings or {})}
        self._given_folder = os.fspath(folder) if folder is not None else None
        self._folder = ""
        self._nameserver: NameServerPart | None = None
        self._brokers: dict[str, BrokerPart] = {}
        self._client: Client | None = None
        self._undo = contextlib.AsyncExitStack()
        self.clock.watch(self._moved)

    @property
    def address(self) -> str:
        """Of the name server: what to connect to."""
        if self._nameserver is None:
            raise Misuse("the cluster does not run", hint="use it inside `async with Cluster()`")
        return self._nameserver.address

    @property
    def client(self) -> Client:
        """A client of it, open as long as it runs."""
        if self._client is None:
            raise Misuse("the cluster does not run", hint="use it inside `async with Cluster()`")
        return self._client

    @property
    def brokers(self) -> list[str]:
        """The names of those that run; the first is `broker-a`."""
        return list(self._brokers)

    def connect(self, **options: Unpack[ClientKeywords]) -> Client:
        """One more client, with the cluster's clock: `async with cluster.connect() as client`. It
        waits longer than others for answers: machines that run tests are busy."""
        options.setdefault("timeout", PATIENCE_SECONDS)
        options.setdefault("connect_timeout", PATIENCE_SECONDS)
        return Client(options_for(self.address, **options), clock=self.clock)

    async def start_broker(self, name: str, *, port: int = 0) -> None:
        """Start one, or start it again on what it left."""
        given = {
            **self._settings,
            "storePathRootDir": os.path.join(self._folder, name),
            "brokerName": name,
        }
        if port:
            given["listenPort"] = str(port)
        settings = broker_settings.read_settings(
            None, {}, [Given(key, text, _PLACE) for key, text in given.items()], []
        )
        # A disk that is at work while the clock jumps is not a slow one.
        storage = replace(settings.storage, flush_lag_ms_max=_NEVER_MS)
        settings = replace(settings, storage=storage)
        broker = BrokerPart(settings, build_broker, lambda: [self.address], self.clock)
        await broker.start(_failed)
        self._brokers[name] = broker

    async def stop_broker(self, name: str) -> None:
        """As a signal would: it says goodbye, and keeps what it has."""
        await self._brokers.pop(name).stop()

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as undo:
            self._folder = self._given_folder or _temporary_folder()
            if self._given_folder is None:
                undo.callback(shutil.rmtree, self._folder, ignore_errors=True)
            nameserver = self._nameserver = NameServerPart(_nameserver_settings(self._folder))
            await nameserver.start(_failed)
            undo.push_async_callback(nameserver.stop)
            undo.push_async_callback(self._stop_brokers)
            for name in self._names:
                await self.start_broker(name)
            self._client = await undo.enter_async_context(self.connect())
            self._undo = undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._undo.aclose()
        self._nameserver = self._client = None

    async def _stop_brokers(self) -> None:
        for name in reversed(self.brokers):
            await self.stop_broker(name)

    def _moved(self) -> None:
        for broker in tuple(self._brokers.values()):
            broker.wake()


class ServerFailed(AerobeeError):
    """A server of the cluster could not go on."""


def _failed(error: BaseException) -> None:
    raise ServerFailed(f"a server of the cluster failed: {error!r}") from error


def _temporary_folder() -> str:
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    return tempfile.mkdtemp(prefix="aerobee-", dir=place)


def _nameserver_settings(folder: str) -> nameserver_settings.NameServerSettings:
    given = {
        "kvConfigPath": os.path.join(folder, "namesrv", "kvConfig.json"),
        "configStorePath": os.path.join(folder, "namesrv", "namesrv.properties"),
        "bindAddress": "127.0.0.1",
        "listenPort": "0",
    }
    return nameserver_settings.read_settings(
        None, {}, [Given(key, text, _PLACE) for key, text in given.items()]
    )
