"""Servers of the comparison: a Kafka broker, the connector's jars, a Python with their Spark.

    Kafka       4.3.0 from Maven, one node, 1 GiB heap, no replication
    connector   4.2.0, the newest that can be had, and so PySpark 4.2.0 for both sides, in an
                environment of its own below `build/`

All is fetched once. `missing` says what is not there to fetch it with.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from bench.broker_servers import Server, ServerError, free_port
from tests.interop.apache import redo_when_changed, run_tool

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "bench-pipeline"
PYSPARK = "4.2.0"
START_SECONDS_MAX = 240


def missing() -> str | None:
    absent = [name for name in ("java", "mvn") if shutil.which(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else None


def jars(name: str) -> Path:
    """The folder with the jars that a pom of this folder names."""
    pom, folder = HERE / f"{name}.xml", BUILD / name

    def fetch() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        run_tool(["mvn", "-q", "-B", "-f", str(pom), *goal])

    redo_when_changed(BUILD / f"{name}.stamp", [pom], fetch)
    return folder


def python() -> Path:
    """A Python with the connector's Spark."""
    found = BUILD / "venv" / "bin" / "python"
    if not (BUILD / "venv" / "stamp").exists():
        run_tool([sys.executable, "-m", "venv", str(BUILD / "venv")])
        packages = [f"pyspark=={PYSPARK}", "pyarrow", "uvloop"]
        run_tool([str(found), "-m", "pip", "install", "-q", *packages])
        (BUILD / "venv" / "stamp").touch()
    return found


class Kafka(Server):
    title = "Kafka 4.3.0"
    ready = "never said: its logger has no back end here"

    def command(self, settings: Mapping[str, object]) -> list[str]:
        controller = free_port()
        config = self.folder / "server.properties"
        told = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self.folder / "logs",
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "auto.create.topics.enable": "false",
            **settings,
        }
        config.write_text("".join(f"{name}={value}\n" for name, value in told.items()))
        self._class_path = f"{jars('kafka_broker')}/*"
        identity = uuid.uuid4().hex[:22]
        format_storage = ["kafka.tools.StorageTool", "format", "-t", identity, "-c", str(config)]
        done = subprocess.run(
            ["java", "-cp", self._class_path, *format_storage],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ServerError(f"Kafka's storage was not made:\n{done.stdout}{done.stderr}")
        options = ["-Xms1g", "-Xmx1g", "-XX:+UseG1GC"]
        return ["java", *options, "-cp", self._class_path, "kafka.Kafka", str(config)]

    def _wait_until_ready(self) -> None:
        """It takes connections."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        said = (self.folder / "stderr").read_text(errors="replace")
        self.stop()
        raise ServerError(f"{self.title} did not get ready:\n{said[-3000:]}")


def environment() -> dict[str, str]:
    """Of programs that run with `python()`: this checkout's package, this Python for workers."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return {
        **os.environ,
        "PYTHONPATH": paths,
        "PYSPARK_PYTHON": str(python()),
        "PYSPARK_DRIVER_PYTHON": str(python()),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
