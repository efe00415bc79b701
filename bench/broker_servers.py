"""The servers that are compared, each a process of its own in a folder of its own.

    Aerobee   a broker of this checkout
    Apache    RocketMQ 5.5.0, fetched by Maven, with the options of its own start script, 4 GiB heap
    Redis     Debian's package, from the path or unpacked into `build/`, AOF synced every second

All listen on free loopback ports. Both brokers register with one name server of ours. A server that
is not measured is frozen (SIGSTOP): it stays warm and costs nothing.
"""

import contextlib
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from bench.broker_load import BUILD
from tests.interop import apache

START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 60
REDIS_PACKAGES = (
    "redis-server redis-tools libjemalloc2 liblua5.1-0 liblzf1 libatomic1 lua-cjson lua-bitop"
)
# Of Apache's bin/runbroker.sh, but for the sizes and the collector's log.
JVM_OPTIONS = (
    "-server -Xms4g -Xmx4g -XX:+UseG1GC -XX:G1HeapRegionSize=16m -XX:G1ReservePercent=25 "
    "-XX:InitiatingHeapOccupancyPercent=30 -XX:SoftRefLRUPolicyMSPerMB=0 "
    "-XX:-OmitStackTraceInFastThrow -XX:+AlwaysPreTouch -XX:MaxDirectMemorySize=4g "
    "-XX:-UseLargePages"
)
BROKER_SETTINGS: Mapping[str, object] = {
    "brokerClusterName": "DefaultCluster",
    "brokerName": "broker-a",
    "brokerId": 0,
    "brokerIP1": "127.0.0.1",
    "bindAddress": "127.0.0.1",
    "autoCreateTopicEnable": "false",
    "fileReservedTime": 480,
    "diskMaxUsedSpaceRatio": 95,
}


class ServerError(Exception):
    """A server did not start or stop as it should; the text holds the end of its output."""


def free_port() -> int:
    """A loopback port whose neighbours are free, too: Apache takes two below and one above."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port: int = probe.getsockname()[1]
        try:
            for neighbour in (port - 2, port, port + 1):
                socket.create_server(("127.0.0.1", neighbour)).close()
        except (OSError, OverflowError):
            continue
        return port


class Server:
    """One process that says on standard output when it is ready."""

    title: ClassVar[str]
    ready: ClassVar[str]
    """What the line holds that says so; a regular expression."""

    def __init__(self, folder: Path, settings: Mapping[str, object], port: int = 0) -> None:
        """`port`: that of an earlier one in the same folder; 0: any."""
        self.folder = folder
        self.port = port or free_port()
        folder.mkdir(parents=True, exist_ok=True)
        command = self.command(settings)
        began = time.perf_counter()
        with (folder / "stderr").open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **self.environment()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read_output, daemon=True).start()
        self._wait_until_ready()
        self.start_seconds = time.perf_counter() - began

    def command(self, settings: Mapping[str, object]) -> list[str]:
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        return {}

    @property
    def process_id(self) -> int:
        return self._process.pid

    def empty(self) -> None:
        """Forget what is kept in memory, where that is all there is."""

    def place(self, cpus: Iterable[int]) -> None:
        """Every thread that it has, and so those that they start."""
        wanted = set(cpus)
        for thread in os.listdir(f"/proc/{self._process.pid}/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.sched_setaffinity(int(thread), wanted)

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def memory(self) -> dict[str, int]:
        """Bytes by the names of smaps_rollup: Rss, Anonymous, Private_Dirty and more."""
        text = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text()
        found = re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)
        return {name: int(kib) * 1024 for name, kib in found}

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))

    def disk_bytes(self) -> int:
        """Blocks in use, which a file with holes has fewer of than its size says."""
        return sum(file.stat().st_blocks * 512 for file in self.folder.rglob("*"))

    def stop(self) -> None:
        """Stop it, cleanly if it will, and remove what it wrote."""
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        """End it at once, as a crash would, and keep what it wrote."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Stop it, cleanly if it will, and keep what it wrote."""
        if self._process.poll() is None:
            self.thaw()
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(None)

    def _wait_until_ready(self) -> None:
        seen: list[str] = []
        while not seen or not re.search(self.ready, seen[-1]):
            try:
                line = self._lines.get(timeout=START_SECONDS_MAX)
            except queue.Empty:
                line = None
            if line is None:
                said = "".join(seen) + (self.folder / "stderr").read_text(errors="replace")
                self.stop()
                raise ServerError(f"{self.title} did not get ready:\n{said[-3000:]}")
            seen.append(line)


def _write_settings(path: Path, settings: Mapping[str, object]) -> str:
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return str(path)


class NameServer(Server):
    title = "name server"
    ready = "^ready: nameserver"

    def command(self, settings: Mapping[str, object]) -> list[str]:
        start = [sys.executable, "-m", "aerobee.cli.main", "nameserver", "start"]
        return [*start, "--port", str(self.port)]

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.folder)}


class Aerobee(Server):
    title = "Aerobee"
    ready = "^ready: broker"

    def command(self, settings: Mapping[str, object]) -> list[str]:
        own = {"listenPort": self.port, "storePathRootDir": self.folder / "store"}
        told = {name: value for name, value in settings.items() if name != "namesrvAddr"}
        config = _write_settings(self.folder / "broker.conf", {**BROKER_SETTINGS, **told, **own})
        start = [sys.executable, "-m", "aerobee.cli.main", "broker", "start", "-c", config]
        return [*start, "-n", str(settings["namesrvAddr"])]

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.folder)}


class Apache(Server):
    title = "Apache 5.5.0"
    ready = "boot success"
    jvm_options = JVM_OPTIONS

    def command(self, settings: Mapping[str, object]) -> list[str]:
        apache.install()
        own = {"listenPort": self.port, "storePathRootDir": self.folder / "store"}
        # What it would otherwise do by itself while it is measured, or refuse while it warms up.
        calm = {"timerWheelEnable": "false", "waitTimeMillsInSendQueue": 10_000}
        everything = {**BROKER_SETTINGS, **calm, **settings, **own}
        # It takes those of TLS as properties of its JVM.
        tls = [name for name in everything if name.startswith("tls.")]
        home = [f"-D{name}={everything.pop(name)}" for name in tls]
        config = _write_settings(self.folder / "broker.conf", everything)
        home += [f"-Duser.home={self.folder}", f"-Djava.io.tmpdir={self.folder}"]
        path = [*home, "-cp", f"{apache.BUILD / 'jars'}/*"]
        main = "org.apache.rocketmq.broker.BrokerStartup"
        return ["java", *self.jvm_options.split(), *path, main, "-c", config]

    def environment(self) -> dict[str, str]:
        return {"ROCKETMQ_HOME": str(self.folder)}


class Redis(Server):
    title = "Redis 7.0 Streams"
    ready = "Ready to accept connections"

    def command(self, settings: Mapping[str, object]) -> list[str]:
        # Without a rewrite of the file in the middle of a measurement, which only costs it time.
        where = f"--port {self.port} --bind 127.0.0.1 --dir {self.folder}"
        log = "--appendonly yes --appendfsync everysec --auto-aof-rewrite-percentage 0"
        return [_redis_program(), *where.split(), *log.split(), "--save", ""]

    def environment(self) -> dict[str, str]:
        folders = map(str, (BUILD / "redis").rglob("*-linux-gnu"))
        return {"LD_LIBRARY_PATH": os.pathsep.join(folders)}

    def empty(self) -> None:
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(b"FLUSHALL\r\n")
            if not connection.recv(64).startswith(b"+OK"):
                raise ServerError("Redis refused FLUSHALL")


def _redis_program() -> str:
    """Of the system, or of the packages unpacked where nothing of the system's changes."""
    found = shutil.which("redis-server")
    if found is not None:
        return found
    folder = BUILD / "redis"
    program = folder / "usr" / "bin" / "redis-server"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run_tool(["apt-get", "download", *REDIS_PACKAGES.split()], folder)
        for package in folder.glob("*.deb"):
            _run_tool(["dpkg-deb", "-x", package.name, "."], folder)
    return str(program)


def _run_tool(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServerError(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")


SERVERS: Mapping[str, type[Server]] = {"aerobee": Aerobee, "apache": Apache, "redis": Redis}
