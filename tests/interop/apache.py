"""Apache RocketMQ's broker, run from its own jars on a store directory and a free loopback port.

`install` lets Maven fetch the release that `pom.xml` names into `build/interop/` and compiles the
programs in `java/` against it; both are done again only when their sources change. A `Broker` is
one JVM: ready when it says so on standard output, stopped cleanly by SIGTERM or at once by
SIGKILL, with its logs and home in a folder of its own. `Broker.ask` and `Broker.send` run the
Java client against it.

There is no name server: the client programs are told the broker's address. See java/Direct.java.

Prerequisites: Java 11 or newer with `javac`, and Maven. `missing` says what is not there.
"""

import fcntl
import hashlib
import json
import os
import queue
import random
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
BUILD = HERE.parent.parent / "build" / "interop"

SERVER_PORTS = (12_000, 32_000)
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60
PROGRAM_SECONDS_MAX = 90

# The cheap collector and compiler: these JVMs live for seconds.
_JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_BROKER_HEAP = ("-Xms128m", "-Xmx512m")
_CLIENT_HEAP = ("-Xms64m", "-Xmx256m")

# A broker that does nothing by itself: it deletes no files by age, turns no timer wheel, makes no
# topics and checks no half messages.
QUIET_SETTINGS: Mapping[str, object] = {
    "brokerClusterName": "DefaultCluster",
    "brokerName": "broker-a",
    "brokerId": 0,
    "brokerIP1": "127.0.0.1",
    "bindAddress": "127.0.0.1",
    "brokerRole": "ASYNC_MASTER",
    "flushDiskType": "ASYNC_FLUSH",
    "autoCreateTopicEnable": "false",
    "timerWheelEnable": "false",
    "fileReservedTime": 480,
    "deleteWhen": "04",
    "diskMaxUsedSpaceRatio": 95,
    "transactionTimeOut": 864_000_000,
    "transactionCheckInterval": 864_000_000,
}


class ApacheError(Exception):
    """A JVM did not start, stop or answer as it should; the text holds the end of its output."""


def missing() -> str | None:
    """What is missing to run Apache here, or None."""
    absent = [name for name in ("java", "javac", "mvn") if shutil.which(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else None


def install() -> "Jars":
    """The jars that pom.xml names and our own programs, fetched and compiled where need be."""
    pom = HERE / "pom.xml"
    programs = sorted((HERE / "java").glob("*.java"))
    jars, classes = _fetched(pom, BUILD / "jars"), BUILD / "classes"

    def compile_programs() -> None:
        shutil.rmtree(classes, ignore_errors=True)
        options = ["-nowarn", "-proc:none", "-cp", f"{jars}/*", "-d", str(classes)]
        run_tool(["javac", *options, *map(str, programs)])

    redo_when_changed(BUILD / "classes.stamp", [pom, *programs], compile_programs)
    return Jars(f"{classes}{os.pathsep}{jars}/*")


def install_4_9() -> "Jars":
    """The last RocketMQ 4 that can be had, without programs of ours."""
    return Jars(f"{_fetched(HERE / 'apache49' / 'pom.xml', BUILD / 'jars49')}/*")


def install_proxy() -> "Jars":
    """Apache's proxy, which speaks gRPC, and the broker that it may have in itself."""
    return Jars(f"{proxy_jars()}/*")


def proxy_jars() -> Path:
    return _fetched(HERE / "apache_proxy" / "pom.xml", BUILD / "jars-proxy")


def _fetched(pom: Path, jars: Path) -> Path:
    def fetch() -> None:
        shutil.rmtree(jars, ignore_errors=True)
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        run_tool(["mvn", "-q", "-B", "-f", str(pom), *goal])

    redo_when_changed(jars.with_suffix(".stamp"), [pom], fetch)
    return jars


def redo_when_changed(stamp: Path, sources: Iterable[Path], redo: Callable[[], None]) -> None:
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    with stamp.with_suffix(".lock").open("w") as lock:
        # Several processes of one run may want the same.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == digest:
            return
        redo()
        stamp.write_text(digest)


def run_tool(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        output = (done.stdout + done.stderr)[-3000:]
        raise ApacheError(f"{command[0]} ended with {done.returncode}:\n{output}")


class Jars:
    """A class path with Apache RocketMQ and our programs on it."""

    def __init__(self, class_path: str) -> None:
        self._class_path = class_path

    def command(self, main: str, *arguments: str, options: Sequence[str]) -> list[str]:
        return ["java", *_JVM_OPTIONS, *options, "-cp", self._class_path, main, *arguments]

    def broker(self, folder: Path, store: Path, settings: Mapping[str, object]) -> "Broker":
        return Broker(self, folder, store, settings)


class DirectClient:
    """Runs the Java client against one broker, of any make, whose address it is told."""

    def __init__(self, jars: Jars, folder: Path, address: str) -> None:
        self._jars = jars
        self._folder = folder
        self._address = address

    def ask(self, questions: Sequence[Mapping[str, Any]]) -> list[Any]:
        """What the Java client answers, in order; see java/StoreDump.java for the questions.

        The answer to a `dump` is a dict with minOffset, maxOffset, count and messages.
        """
        lines = map(json.loads, self._run("StoreDump", questions))
        answers = []
        for question in questions:
            answer = next(lines)
            if question["ask"] == "dump":
                messages = []
                while "minOffset" not in answer:
                    messages.append(answer)
                    answer = next(lines)
                assert answer["count"] == len(messages)
                answer["messages"] = messages
            answers.append(answer)
        return answers

    def send(self, sends: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Send with the Java client; see java/StoreWrite.java. One answer for each send."""
        return [json.loads(line) for line in self._run("StoreWrite", sends)]

    def _run(self, main: str, lines: Sequence[Mapping[str, Any]]) -> list[str]:
        options = (*_CLIENT_HEAP, f"-Duser.home={self._folder}")
        done = subprocess.run(
            self._jars.command(main, self._address, options=options),
            input="".join(json.dumps(line) + "\n" for line in lines),
            capture_output=True,
            encoding="utf-8",
            timeout=PROGRAM_SECONDS_MAX,
            check=False,
        )
        if done.returncode != 0:
            raise ApacheError(f"{main} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return done.stdout.splitlines()


class Broker:
    """A running broker on the store directory `store`; `settings` go over QUIET_SETTINGS.

    As a context manager it is killed at the end, unless it was stopped: a clean stop takes ten
    seconds, and is asked for where it matters.
    """

    def __init__(
        self, jars: Jars, folder: Path, store: Path, settings: Mapping[str, object]
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self._client = DirectClient(jars, folder / "client", self.address)
        where = {"listenPort": port, "storePathRootDir": store}
        config = folder / "broker.conf"
        lines = {**QUIET_SETTINGS, **settings, **where}.items()
        config.write_text("".join(f"{name}={value}\n" for name, value in lines))
        self._process = subprocess.Popen(
            jars.command(
                "org.apache.rocketmq.broker.BrokerStartup",
                "-c",
                str(config),
                # It unpacks a library, which nobody removes after a kill.
                options=(*_BROKER_HEAP, f"-Duser.home={folder}", f"-Djava.io.tmpdir={folder}"),
            ),
            cwd=folder,
            env={**os.environ, "ROCKETMQ_HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read_output)
        self._reader.start()
        self._wait_for("boot success")

    def ask(self, questions: Sequence[Mapping[str, Any]]) -> list[Any]:
        """See `DirectClient.ask`."""
        return self._client.ask(questions)

    def send(self, sends: Sequence[Mapping[str, Any]]) -> list[Any]:
        """See `DirectClient.send`."""
        return self._client.send(sends)

    def stop(self) -> None:
        """Stop cleanly: Apache's shutdown hook runs."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop at once, as a crash of the process would."""
        self._end(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _wait_for(self, ready: str) -> None:
        seen: list[str] = []
        while not seen or ready not in seen[-1]:
            try:
                line = self._lines.get(timeout=START_SECONDS_MAX)
            except queue.Empty:
                line = None
            if line is None:
                self.kill()
                raise ApacheError(f"no {ready!r} in:\n{''.join(seen)[-3000:]}")
            seen.append(line)

    def _end(self, number: signal.Signals) -> None:
        assert self._process.stdout is not None
        if self._process.returncode is not None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise ApacheError(f"still running {STOP_SECONDS_MAX} s after {number.name}") from None
        finally:
            self._reader.join()
            self._process.stdout.close()


def free_port() -> int:
    """A loopback port for a broker, which also listens two below and one above it.

    Below those that the system gives to outgoing connections: such a one would take the port
    between this look and the start of the broker."""
    while True:
        port = random.randrange(*SERVER_PORTS)
        try:
            for neighbour in (port - 2, port, port + 1):
                socket.create_server(("127.0.0.1", neighbour)).close()
        except OSError:
            continue
        return port
