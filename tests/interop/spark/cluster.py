"""A real Spark cluster on this machine: a master and a worker, each in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

import pyspark

from aerobee.pipeline.java import java_home

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"


class Cluster:
    def __init__(self, folder: Path, cores: int = 2) -> None:
        self._folder = folder
        self._cores = cores
        self._processes: list[subprocess.Popen[str]] = []
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
            process.communicate(timeout=60)

    def _start(self, ready: str, *words: str) -> None:
        """Returns when it has said so."""
        log = self._folder / f"{words[0].rpartition('.')[2]}.log"
        process = subprocess.Popen(
            [SPARK_CLASS, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "JAVA_HOME": str(java_home(os.environ)),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
            },
        )
        self._processes.append(process)
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if ready in line:
                break
        else:
            raise AssertionError(said)
        # Nobody reads on; what else it says goes where the pipe's reader was.
        _drain(process, log)


def _drain(process: "subprocess.Popen[str]", log: Path) -> None:
    import threading

    def read() -> None:
        assert process.stderr is not None
        with log.open("w") as file:
            file.writelines(process.stderr)

    threading.Thread(target=read, daemon=True).start()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
