"""A real Spark cluster on this machine: a master and a worker, each in a process of its own; and
whom a test may want to kill there.

    worker ─▶ executor (one for each application) ─▶ pyspark.daemon ─▶ a Python worker for each task
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

import pyspark

from aerobee.pipeline.spark.java import java_home
from tests.process_kit import SECONDS_MAX

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_DAEMON = b"\0pyspark.daemon\0pyspark.worker\0"


class Cluster:
    """Executors have all cores of the one worker."""

    def __init__(self, folder: Path, cores: int = 2) -> None:
        self._folder = folder
        self._cores = cores
        self._processes: list[subprocess.Popen[bytes]] = []
        self.port = _free_port()

    @property
    def master(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        here = ("--host", "127.0.0.1")
        ports = ("--port", str(self.port), "--webui-port", str(_free_port()))
        self._start("I have been elected leader", _MASTER, *here, *ports)
        ports = ("--port", str(_free_port()), "--webui-port", str(_free_port()))
        room = ("-c", str(self._cores), "-m", "1g", "-d", str(self._folder / "work"))
        self._start("Successfully registered", _WORKER, *here, *ports, *room, self.master)
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait(timeout=SECONDS_MAX)

    def executors(self) -> list[int]:
        """Their process ids, of those that run now."""
        worker = self._processes[-1].pid
        return [one for one in children(worker) if b"CoarseGrainedExecutorBackend" in words_of(one)]

    def _start(self, ready: str, *words: str) -> None:
        """Returns when it has said so."""
        log = self._folder / f"{words[0].rpartition('.')[2]}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [SPARK_CLASS, *words],
                stdout=subprocess.DEVNULL,
                stderr=file,
                env={
                    **os.environ,
                    "JAVA_HOME": str(java_home(os.environ)),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "PYSPARK_PYTHON": sys.executable,
                },
            )
        self._processes.append(process)
        while ready not in log.read_text("utf-8", "replace"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.05)
                raise AssertionError(log.read_text("utf-8", "replace"))


def python_workers(executor: int) -> list[int]:
    """Of an executor, or of a local session's Java: those that run tasks, or wait for one."""
    return [
        worker
        for daemon in children(executor)
        if words_of(daemon).endswith(_DAEMON)
        for worker in children(daemon)
    ]


def children(parent: int) -> list[int]:
    """The processes that a process has started, and that run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _parent_and_session(entry)[0] == parent:
            found.append(int(entry.name))
    return found


def session_of(leader: int) -> list[int]:
    """All processes of a session, whoever has started them."""
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _parent_and_session(entry)[1] == leader
    ]


def words_of(process: int) -> bytes:
    """Its command line; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _parent_and_session(entry: Path) -> tuple[int, int]:
    """Of a folder in /proc; -1 each of a process that has ended, or waits to be buried."""
    try:
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1, -1
    return (-1, -1) if fields[0] == "Z" else (int(fields[1]), int(fields[3]))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
