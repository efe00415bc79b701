"""A name server and a broker as processes on loopback: Apache's, or ours.

Both have the same settings and the same few methods, so that a test does not know which it talks
to. Apache's is the control: a test that fails there tests something that is not RocketMQ.

gRPC is spoken by our broker itself, and for Apache's by its proxy in cluster mode, which is started
when a client first asks for its address.

The broker keeps its ports and its store over `kill_broker` and `start_broker`: what was
acknowledged must be there again.
"""

import json
import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from aerobee import connect_sync
from aerobee.errors import Retriable
from tests.interop.apache import Jars, free_port, install_proxy
from tests.interop.features.waiting import TooLong, until

START_SECONDS_MAX = 180
"""A start waits for the disk, which may have gigabytes to write."""
STOP_SECONDS_MAX = 60
CLUSTER = "DefaultCluster"
DELAY_SECONDS = (1, 3, 1, 1, 1, 1)
"""Of level 1 and so on. Short, because a retry begins with level 3."""

_SETTINGS: Mapping[str, object] = {
    "brokerClusterName": CLUSTER,
    "brokerName": "broker-a",
    "brokerId": 0,
    "brokerIP1": "127.0.0.1",
    "bindAddress": "127.0.0.1",
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "messageDelayLevel": " ".join(f"{seconds}s" for seconds in DELAY_SECONDS),
    "mappedFileSizeCommitLog": 64 << 20,
    "enablePropertyFilter": "true",
    "recallMessageEnable": "true",
    "traceTopicEnable": "true",
    # Producers are asked soon; and what they said of themselves is written before that.
    "transactionTimeOut": 2000,
    "transactionCheckInterval": 1000,
    "transactionOpBatchInterval": 200,
    # Apache's counts in vain while a group's producers have not said hello again.
    "transactionCheckMax": 1000,
}
_APACHE_OPTIONS = ("-Xms64m", "-Xmx384m")


class ServerProcess:
    """A process whose output goes to a file in its folder."""

    def __init__(self, name: str, folder: Path, command: Sequence[str], ready: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._output = folder / f"{name}.out"
        with self._output.open("wb") as output, (folder / f"{name}.err").open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=folder,
                env={**os.environ, "HOME": str(folder), **_apache_homes(folder)},
            )
        try:
            self.ready_line = until(lambda: self._line_with(ready), START_SECONDS_MAX, name)
        except TooLong:
            self.end(signal.SIGKILL)
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def send_signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> None:
        """Until it has ended by itself."""
        self._process.wait(STOP_SECONDS_MAX)

    def end(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)
        try:
            self._process.wait(STOP_SECONDS_MAX)
        finally:
            self._process.kill()
            self._process.wait()

    def _line_with(self, ready: str) -> str:
        if self._process.poll() is not None:
            errors = self._output.with_suffix(".err").read_text(errors="replace")
            raise TooLong(f"{self._process.args!r} has ended:\n{errors[-3000:]}")
        lines = self._output.read_text(errors="replace").splitlines()
        return next((line for line in lines if ready in line), "")


def _apache_homes(folder: Path) -> dict[str, str]:
    return {"ROCKETMQ_HOME": str(folder), "RMQ_PROXY_HOME": str(folder)}


class ApacheProxy:
    """Apache's proxy in cluster mode, in front of the brokers that a name server knows."""

    def __init__(self, folder: Path, name_server: str, options: Sequence[str] = ()) -> None:
        """`options` of its JVM."""
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "rmq-proxy.json"
        told = {
            "rocketMQClusterName": CLUSTER,
            "namesrvAddr": name_server,
            "grpcServerPort": port,
            "remotingListenPort": free_port(),
        }
        config.write_text(json.dumps(told))
        command = install_proxy().command(
            "org.apache.rocketmq.proxy.ProxyStartup",
            *("-pm", "CLUSTER", "-pc", str(config)),
            options=(*_jvm_options(folder), *options),
        )
        self._process = ServerProcess("proxy", folder, command, "startup successfully")

    def end(self) -> None:
        self._process.end(signal.SIGKILL)


def _jvm_options(folder: Path) -> Sequence[str]:
    # It unpacks a library, which nobody removes after a kill.
    return (*_APACHE_OPTIONS, f"-Duser.home={folder}", f"-Djava.io.tmpdir={folder}")


class Server(ABC):
    """A running name server and broker; killed at the end."""

    def __init__(self, folder: Path, settings: Mapping[str, object] | None = None) -> None:
        """`settings` of the broker go over those that all have."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._broker_port = free_port()
        self._name_server = self._start_name_server()
        self._config = folder / "broker.conf"
        where = {"listenPort": self._broker_port, "storePathRootDir": folder / "store"}
        lines = {**_SETTINGS, **(settings or {}), **where, "namesrvAddr": self.name_server}.items()
        self._config.write_text("".join(f"{name}={value}\n" for name, value in lines))
        try:
            self._broker = self._start_broker()
        except BaseException:
            self._name_server.end(signal.SIGKILL)
            raise

    @property
    @abstractmethod
    def name_server(self) -> str:
        """Its address, which is all that a client is told."""

    @abstractmethod
    def grpc_address(self) -> str:
        """Of its gRPC, which is all that such a client is told."""

    @property
    def broker_port(self) -> int:
        return self._broker_port

    def kill_broker(self) -> None:
        self._broker.end(signal.SIGKILL)

    def start_broker(self) -> None:
        self._broker = self._start_broker()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._broker.end(signal.SIGKILL)
        self._name_server.end(signal.SIGKILL)

    @abstractmethod
    def _start_name_server(self) -> ServerProcess: ...

    @abstractmethod
    def _start_broker(self) -> ServerProcess: ...


class ApacheServer(Server):
    options: Sequence[str] = ()
    """Further ones of its JVMs."""

    def __init__(
        self, folder: Path, jars: Jars, settings: Mapping[str, object] | None = None
    ) -> None:
        self._jars = jars
        self._name_server_port = free_port()
        self._proxy: ApacheProxy | None = None
        super().__init__(folder, settings)

    @property
    def name_server(self) -> str:
        return f"127.0.0.1:{self._name_server_port}"

    def grpc_address(self) -> str:
        if self._proxy is None:
            self._proxy = ApacheProxy(self._folder, self.name_server, self.options)
        return self._proxy.address

    def __exit__(self, *error: object) -> None:
        if self._proxy is not None:
            self._proxy.end()
        super().__exit__(*error)

    @property
    def target(self) -> str:
        """What our client is told."""
        return self.name_server

    def wait_for_figures(self) -> None:
        """Until its broker can tell its own: in its first second it answers with an exception."""

        def tells() -> bool:
            with connect_sync(self.target) as client:
                try:
                    return bool(client.admin.brokers.runtime())
                except Retriable:
                    return False

        until(tells, START_SECONDS_MAX, "Apache's broker tells its figures")

    def _start_name_server(self) -> ServerProcess:
        config = self._folder / "namesrv.conf"
        config.write_text(f"listenPort={self._name_server_port}\nbindAddress=127.0.0.1\n")
        return self._start("namesrv", "org.apache.rocketmq.namesrv.NamesrvStartup", config)

    def _start_broker(self) -> ServerProcess:
        started = self._start("broker", "org.apache.rocketmq.broker.BrokerStartup", self._config)
        until(self._is_registered, START_SECONDS_MAX, "Apache's name server knows its broker")
        return started

    def _is_registered(self) -> bool:
        """A broker says that it has started before its name server knows it."""
        with connect_sync(self.target) as client:
            return bool(client.admin.cluster().brokers)

    def _start(self, name: str, main: str, config: Path) -> ServerProcess:
        options = (*_jvm_options(self._folder), *self.options)
        command = self._jars.command(main, "-c", str(config), options=options)
        return ServerProcess(name, self._folder, command, "boot success")


class AerobeeServer(Server):
    name_server_settings: Mapping[str, object] = {}

    def __init__(self, folder: Path, settings: Mapping[str, object] | None = None) -> None:
        self._grpc_port = free_port()
        super().__init__(folder, {"grpcServerPort": self._grpc_port, **(settings or {})})

    def grpc_address(self) -> str:
        return f"127.0.0.1:{self._grpc_port}"

    @property
    def name_server(self) -> str:
        return self._name_server.ready_line.rpartition(" ")[2]

    def _start_name_server(self) -> ServerProcess:
        config = self._folder / "namesrv.conf"
        lines = self.name_server_settings.items()
        config.write_text("".join(f"{name}={value}\n" for name, value in lines))
        return self._start("nameserver", "--port", "0", "-c", str(config))

    def _start_broker(self) -> ServerProcess:
        return self._start("broker", "-n", self.name_server, "-c", str(self._config))

    def _start(self, noun: str, *arguments: str) -> ServerProcess:
        command = [sys.executable, "-m", "aerobee.cli.main", noun, "start", *arguments]
        return ServerProcess(noun, self._folder, command, f"ready: {noun} ")
