"""`aerobee pipeline run` as people run it: progress, Ctrl-C, going on, and an error in a line."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.cli.output import NOT_FOUND
from aerobee.pipeline.delta.delta_table import opened
from tests.server_kit import Server, running_server
from tests.sink_kit import lag_of

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def started(folder: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "aerobee.cli.main", "pipeline", "run", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_stream_stops_at_ctrl_c_and_goes_on_at_the_next_start(
    server: Server, tmp_path: Path
) -> None:
    words = ("lake", "--topic", "Stopped", "-n", server.name_server, "--to-folder", "lake")
    server.send("Stopped", [b"first"] * 8)
    process = started(tmp_path, *words, "--format", "delta", "--commit-offsets", "--metrics", "0")
    assert process.stderr is not None
    said = ""
    while "   8 rows" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    page = re.search(r"metrics: (\S+)", said)
    assert page is not None
    with urllib.request.urlopen(page[1]) as answer:
        assert 'aerobee_query_rows_total{query="lake"} 8' in answer.read().decode()
    assert lag_of(server, "lake-Stopped") == {"Stopped": 0}
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, rest = process.communicate(timeout=120)
    assert process.returncode == 0, said + rest
    assert "stopping" in rest
    assert "8 rows in 1 batches" in rest
    assert "Exception" not in said + rest
    server.send("Stopped", [b"second"] * 4)
    assert lag_of(server, "lake-Stopped") == {"Stopped": 4}
    again = started(tmp_path, *words, "--format", "delta", "--once", "--commit-offsets")
    _, error = again.communicate(timeout=240)
    assert again.returncode == 0, error
    assert "4 rows in 1 batches" in error
    assert lag_of(server, "lake-Stopped") == {"Stopped": 0}
    table = opened(str(tmp_path / "lake"))
    assert table is not None
    found = [bytes(row["value"]) for row in table.to_pyarrow_table().to_pylist()]
    assert sorted(found) == [b"first"] * 8 + [b"second"] * 4


def test_a_topic_that_is_not_there_is_an_error_in_a_line(server: Server, tmp_path: Path) -> None:
    process = started(tmp_path, "audit", "--topic", "Nowhere", "-n", server.name_server)
    _, error = process.communicate(timeout=240)
    assert process.returncode == NOT_FOUND, error
    assert "Nowhere" in error
    assert "at org.apache" not in error
    assert "Traceback" not in error
    assert not (tmp_path / "spark.log").exists(), "Spark was started for nothing"
