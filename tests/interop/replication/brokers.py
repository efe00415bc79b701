"""Name servers and brokers as single processes on loopback, Apache's or ours, for a master and its
slave.

A broker keeps its port, its store and its settings over `kill`, `stop` and `start`. `starts_as`
gives it other settings for its next start.
"""

import random
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from aerobee.protocol.bodies.small_tables import decode_text_table
from tests.interop.apache import Jars
from tests.interop.features.servers import CLUSTER, ServerProcess
from tests.interop.features.waiting import until
from tests.process_kit import SECONDS_MAX
from tests.wire_client import WireClient

APACHE, AEROBEE = MAKES = ("apache", "aerobee")
LOG_FILE_BYTES = 1 << 20

_RUNTIME_INFO = 28
_SETTINGS: Mapping[str, object] = {
    "brokerClusterName": CLUSTER,
    "brokerName": "broker-a",
    "brokerIP1": "127.0.0.1",
    "brokerIP2": "127.0.0.1",  # Apache's: of its HA port
    "bindAddress": "127.0.0.1",
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "messageDelayLevel": "1s 2s 1h",
    "mappedFileSizeCommitLog": LOG_FILE_BYTES,
    "maxMessageSize": LOG_FILE_BYTES // 2,
    "fileReservedTime": 480,
    "slaveReadEnable": "true",
    "transactionCheckInterval": 2_000,  # then offsets of half messages move, too
    "registerNameServerPeriod": 10_000,  # the least: a slave hears of its master by registering
    # A busy machine says nothing of the code under test.
    "osPageCacheBusyTimeOutMills": 600_000,
    "waitTimeMillsInSendQueue": 600_000,  # Apache's
}
MASTER: Mapping[str, object] = {"brokerRole": "ASYNC_MASTER", "brokerId": 0}
SLAVE: Mapping[str, object] = {"brokerRole": "SLAVE", "brokerId": 1}
_HEAP = {"namesrv": ("-Xms32m", "-Xmx128m"), "broker": ("-Xms64m", "-Xmx512m")}


class NameServer:
    """A running name server."""

    def __init__(self, make: str, folder: Path, jars: Jars) -> None:
        if make == APACHE:
            port = steady_port()
            folder.mkdir(parents=True)
            config = folder / "namesrv.conf"
            config.write_text(f"listenPort={port}\nbindAddress=127.0.0.1\n")
            main = "org.apache.rocketmq.namesrv.NamesrvStartup"
            self._process = _apache("namesrv", main, folder, config, jars)
            self.address = f"127.0.0.1:{port}"
        else:
            self._process = _aerobee("nameserver", folder, "--port", "0")
            self.address = self._process.ready_line.rpartition(" ")[2]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.end(signal.SIGKILL)


class Broker:
    """A broker of either make; not running until `start`. Killed at the end."""

    def __init__(
        self,
        make: str,
        folder: Path,
        name_server: str,
        jars: Jars,
        settings: Mapping[str, object],
    ) -> None:
        """`settings` go over those that all have."""
        self.make = make
        self.folder = folder
        self.store = folder / "store"
        self._name_server = name_server
        self._port = steady_port()
        self._jars = jars
        self._settings = {**_SETTINGS, **settings}
        self._starts = 0
        self._process: ServerProcess | None = None

    @property
    def name_server(self) -> str:
        return self._name_server

    @property
    def broker_port(self) -> int:
        return self._port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def starts_as(self, settings: Mapping[str, object]) -> None:
        """These settings go over the others from the next start on."""
        self._settings |= settings

    def start(self) -> Self:
        """Start it with a folder of its own for its logs, beside those of earlier starts."""
        self._starts += 1
        folder = self.folder / f"life-{self._starts}"
        folder.mkdir(parents=True)
        config = folder / "broker.conf"
        where = {
            "listenPort": self.broker_port,
            "storePathRootDir": self.store,
            "namesrvAddr": self.name_server,
        }
        lines = {**self._settings, **where}.items()
        config.write_text("".join(f"{name}={value}\n" for name, value in lines))
        if self.make == APACHE:
            main = "org.apache.rocketmq.broker.BrokerStartup"
            self._process = _apache("broker", main, folder, config, self._jars)
        else:
            self._process = _aerobee("broker", folder, "-n", self.name_server, "-c", str(config))
        return self

    def stop(self) -> None:
        """Stop cleanly; Apache's takes ten seconds."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Let it do nothing until `thaw`, with its connections open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill_broker(self) -> None:
        self.kill()

    def start_broker(self) -> None:
        self.start()

    def figures(self) -> dict[str, str]:
        """Its own figures; nothing while it cannot tell them, which is Apache's first second."""
        with WireClient(self.broker_port) as broker:
            answer = broker.ask(_RUNTIME_INFO)
        return decode_text_table(bytes(answer.body)) if answer.code == 0 else {}

    def log_begin(self) -> int:
        return int(self._figure("commitLogMinOffset"))

    def log_end(self) -> int:
        return int(self._figure("commitLogMaxOffset"))

    def said(self) -> str:
        """The log lines of its current life."""
        folder = self.folder / f"life-{self._starts}"
        files = [*folder.glob("*.err"), *folder.glob("logs/**/*.log")]
        return "".join(file.read_text(errors="replace") for file in files)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def _figure(self, name: str) -> str:
        return until(self.figures, SECONDS_MAX, f"{self.make}'s broker tells its figures")[name]

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.end(number)
            self._process = None


def steady_port() -> int:
    """A free port for a broker, which also listens two below and one above it. It is below the
    ports that systems give to clients, so that nobody takes it while its broker is down."""
    while True:
        port = random.randrange(12_000, 30_000, 4)
        try:
            for neighbour in (port - 2, port, port + 1):
                socket.create_server(("127.0.0.1", neighbour)).close()
        except OSError:
            continue
        return port


def _apache(name: str, main: str, folder: Path, config: Path, jars: Jars) -> ServerProcess:
    # It unpacks a library, which nobody removes after a kill.
    options = (*_HEAP[name], f"-Duser.home={folder}", f"-Djava.io.tmpdir={folder}")
    command = jars.command(main, "-c", str(config), options=options)
    return ServerProcess(name, folder, command, "boot success")


def _aerobee(noun: str, folder: Path, *arguments: str) -> ServerProcess:
    command = [sys.executable, "-m", "aerobee.cli.main", noun, "start", *arguments]
    return ServerProcess(noun, folder, command, f"ready: {noun} ")


class Pair:
    """A name server, and a master and its slave that it knows; these two are not running yet."""

    def __init__(
        self,
        makes: tuple[str, str, str],
        folder: Path,
        jars: Jars,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """`makes`: of the master, the slave and the name server. `settings` are of both brokers."""
        master, slave, name_server = makes
        self.folder = folder
        self.jars = jars
        self._name_server = NameServer(name_server, folder / "nameserver", jars)
        self.name_server = self._name_server.address
        self.master = self.broker(master, "master", {**(settings or {}), **MASTER})
        self.slave = self.broker(slave, "slave", {**(settings or {}), **SLAVE})

    def broker(self, make: str, name: str, settings: Mapping[str, object]) -> Broker:
        return Broker(make, self.folder / name, self.name_server, self.jars, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._name_server, self.master, self.slave:
            pass
