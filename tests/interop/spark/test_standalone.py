"""Jobs on a real master and worker, by our own command and by spark-submit."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from aerobee.pipeline.delta.delta_table import opened
from aerobee.pipeline.spark.java import java_home
from tests.server_kit import Server, running_server
from tests.spark_cluster import Cluster

pytestmark = pytest.mark.java

SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
SMALL = ("--set", "spark.executor.memory=512m", "--set", "spark.executor.cores=2")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def run(words: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        words,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={
            **os.environ,
            "JAVA_HOME": str(java_home(os.environ)),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        },
    )


def lake_words(server: Server, cluster: Cluster, topic: str, folder: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "aerobee.cli.main", "pipeline", "run", "lake"),
        *("--topic", topic, "-n", server.name_server, "--to-folder", str(folder / "lake")),
        *("--format", "delta", "--once", "--checkpoint", str(folder / "memory")),
        *("--master", cluster.master, *SMALL),
    ]


def values(folder: Path) -> list[bytes]:
    table = opened(str(folder / "lake"))
    assert table is not None
    return sorted(bytes(row["value"]) for row in table.to_pyarrow_table().to_pylist())


def test_a_job_runs_on_the_cluster(server: Server, cluster: Cluster, tmp_path: Path) -> None:
    sent = [b"%d" % number for number in range(40)]
    server.send("Cluster", sent)
    done = run(lake_words(server, cluster, "Cluster", tmp_path), tmp_path)
    assert done.returncode == 0, done.stderr
    assert values(tmp_path) == sorted(sent)
    assert re.search(r"batch 1   40 rows .* lag 0", done.stderr)
    assert "at org.apache" not in done.stderr


def test_the_line_that_is_shown_does_the_same_by_spark_submit(
    server: Server, cluster: Cluster, tmp_path: Path
) -> None:
    server.send("Submitted", [b"a", b"b"])
    words = lake_words(server, cluster, "Submitted", tmp_path)
    shown = run([*words, "--print-submit"], tmp_path)
    line = shlex.split(shown.stdout)
    assert line[0] == "spark-submit"
    done = run([str(SUBMIT), *line[1:]], tmp_path)
    assert done.returncode == 0, done.stderr
    assert values(tmp_path) == [b"a", b"b"]
