"""Servers that the clients are measured at, started when they are first needed, and kept.

    aerobee   our broker and name server
    apache    Apache RocketMQ 5.5.0's proxy and broker in one JVM, and a name server of ours
    kafka     Kafka 4.3.0, one node, 4 partitions, no replication
    nats      nats-server 2.15.2 with JetStream, built by Go unless there is one on the path
    redis     Redis 7.0, an append-only file

An acknowledged message is in the server's memory, and none syncs before it answers: ours and
Apache's flush every half second, Redis every second, Kafka and JetStream leave it to the system.
Servers that are not measured are frozen: they stay warm and cost nothing.
"""

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.broker_servers import (
    BROKER_SETTINGS,
    JVM_OPTIONS,
    Aerobee,
    Apache,
    NameServer,
    Redis,
    Server,
    ServerError,
    free_port,
)
from bench.client.meter import FETCH
from bench.client.packages import BUILD
from bench.pipeline.servers import Kafka
from tests.interop.apache import ApacheError, proxy_jars, run_tool

NATS_SERVER = "v2.15.2"
PULLS = {"maxTransferCountOnMessageInMemory": FETCH}
"""Brokers hand out 32 messages at once unless told otherwise; other servers have no such limit."""


class PatientNameServer(NameServer):
    """Never misses its broker: both are frozen for minutes."""

    def environment(self) -> dict[str, str]:
        hour_ms = "3600000"
        own = {"AEROBEE_NAMESRV_SCAN_NOT_ACTIVE_BROKER_INTERVAL": hour_ms}
        return {**super().environment(), **own}


class Proxy(Apache):
    """Speaks gRPC on `grpc_port`; its broker's own port is `port`."""

    title = "Apache 5.5.0, proxy"
    ready = "startup successfully"

    def command(self, settings: Mapping[str, object]) -> list[str]:
        self.grpc_port = free_port()
        own = {"listenPort": self.port, "storePathRootDir": self.folder / "store"}
        # A queue of sends may take its time while the JVM warms up.
        everything = {
            **BROKER_SETTINGS,
            "waitTimeMillsInSendQueue": 10_000,
            **settings,
            **own,
        }
        broker = self.folder / "broker.conf"
        broker.write_text("".join(f"{name}={value}\n" for name, value in everything.items()))
        proxy = self.folder / "rmq-proxy.json"
        told = {
            "rocketMQClusterName": BROKER_SETTINGS["brokerClusterName"],
            "namesrvAddr": settings["namesrvAddr"],
            "grpcServerPort": self.grpc_port,
            "remotingListenPort": free_port(),
        }
        proxy.write_text(json.dumps(told))
        home = [f"-Duser.home={self.folder}", f"-Djava.io.tmpdir={self.folder}"]
        main = ["-cp", f"{proxy_jars()}/*", "org.apache.rocketmq.proxy.ProxyStartup"]
        files = ["-pm", "LOCAL", "-bc", str(broker), "-pc", str(proxy)]
        return ["java", *JVM_OPTIONS.split(), *home, *main, *files]

    def environment(self) -> dict[str, str]:
        return {"ROCKETMQ_HOME": str(self.folder), "RMQ_PROXY_HOME": str(self.folder)}


class Nats(Server):
    title = "nats-server"
    ready = "never said on standard output"

    def command(self, settings: Mapping[str, object]) -> list[str]:
        where = ["--addr", "127.0.0.1", "--port", str(self.port)]
        return [_nats_program(), *where, "--jetstream", "--store_dir", str(self.folder / "store")]

    def _wait_until_ready(self) -> None:
        """It takes connections."""
        while self._process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
        said = (self.folder / "stderr").read_text(errors="replace")
        raise ServerError(f"{self.title} did not get ready:\n{said[-3000:]}")


def _nats_program() -> str:
    found = shutil.which("nats-server")
    if found is not None:
        return found
    program = BUILD / "nats-server"
    if not program.exists():
        if shutil.which("go") is None:
            raise ServerError("no nats-server: put one on the path, or Go, which builds one")
        module = f"github.com/nats-io/nats-server/v2@{NATS_SERVER}"
        run_tool(["env", f"GOBIN={BUILD}", "go", "install", module])
    return str(program)


class ServerFigures(NamedTuple):
    """The size of a broker's process: without its name server, where it has one."""

    title: str
    start_seconds: float
    """Until it is ready."""
    fresh_bytes: int
    """Anonymous memory after the start."""
    loaded_bytes: int
    """The same after all runs."""


class Host:
    """Servers that belong together, and the address that clients are given."""

    def __init__(self, servers: list[Server], address: str) -> None:
        self.address = address
        self._servers = servers
        self._broker = servers[-1]
        self._fresh_bytes = self._broker.memory()["Anonymous"]

    def figures(self) -> ServerFigures:
        broker = self._broker
        loaded_bytes = broker.memory()["Anonymous"]
        return ServerFigures(broker.title, broker.start_seconds, self._fresh_bytes, loaded_bytes)

    def freeze(self) -> None:
        for server in reversed(self._servers):
            server.freeze()

    def thaw(self) -> None:
        for server in self._servers:
            server.thaw()

    def stop(self) -> None:
        for server in reversed(self._servers):
            server.stop()


def _registered(kind: type[Server], folder: Path) -> tuple[list[Server], str]:
    """A broker, and the name server that knows it."""
    name_server = PatientNameServer(folder / "namesrv", {})
    address = f"127.0.0.1:{name_server.port}"
    try:
        settings = {"namesrvAddr": address, **PULLS}
        return [name_server, kind(folder / "broker", settings)], address
    except BaseException:
        name_server.stop()
        raise


def _aerobee(folder: Path) -> Host:
    return Host(*_registered(Aerobee, folder))


def _apache(folder: Path) -> Host:
    """The proxy's address and, after a comma, the name server's."""
    servers, address = _registered(Proxy, folder)
    proxy = servers[1]
    assert isinstance(proxy, Proxy)
    return Host(servers, f"127.0.0.1:{proxy.grpc_port},{address}")


def _alone(kind: type[Server], **settings: object) -> Callable[[Path], Host]:
    def start(folder: Path) -> Host:
        server = kind(folder, {name.replace("_", "."): told for name, told in settings.items()})
        return Host([server], f"127.0.0.1:{server.port}")

    return start


HOSTS: Mapping[str, Callable[[Path], Host]] = {
    "aerobee": _aerobee,
    "apache": _apache,
    # It is frozen for longer than the nine seconds after which its controller would miss it.
    "kafka": _alone(Kafka, broker_session_timeout_ms=3_600_000),
    "nats": _alone(Nats),
    "redis": _alone(Redis),
}


class Hosts:
    """Those that run; all but one are frozen."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, Host] = {}

    def start(self, name: str) -> Host:
        """Start it, and leave it frozen. ServerError says why it cannot be had."""
        try:
            host = HOSTS[name](self._folder / name)
        except (ApacheError, OSError) as error:
            raise ServerError(str(error)) from error
        self._running[name] = host
        host.freeze()
        return host

    @contextlib.contextmanager
    def awake(self, name: str) -> Iterator[str]:
        """Its address, while it is the only one that is not frozen."""
        host = self._running[name]
        os.sync()  # what the others wrote is not written out on its time
        host.thaw()
        try:
            yield host.address
        finally:
            host.freeze()

    def figures(self) -> list[ServerFigures]:
        return [host.figures() for host in self._running.values()]

    def stop(self) -> None:
        for host in self._running.values():
            host.stop()
        self._running.clear()
