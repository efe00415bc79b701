"""The commands and examples of docs/pipeline.md are tried, as far as they go without a cluster."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from aerobee.cli.main import main
from aerobee.pipeline.jobs.registry import JOBS
from aerobee.pipeline.sink.sink_options import SINK_COLUMNS, SINK_OPTIONS
from aerobee.pipeline.source.source_options import SOURCE_OPTIONS
from tests.server_kit import Server
from tests.sink_kit import all_values

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "pipeline.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("aerobee pipeline ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_there_is(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)[1:]
    if words[:2] == ["pipeline", "run"] and "--print-submit" not in words:
        words.append("--print-submit")  # everything is checked, and Spark is not started
    assert main(words) == 0
    assert capsys.readouterr().out


def test_every_job_has_a_command_on_the_page() -> None:
    run = {shlex.split(command)[3] for command in COMMANDS if " run " in command}
    assert run == set(JOBS)


def test_every_option_of_the_source_is_on_the_page() -> None:
    assert [name for name in SOURCE_OPTIONS if f"`{name}`" not in PAGE] == []


def test_every_option_and_column_of_the_sink_is_on_the_page() -> None:
    for name in (*SINK_OPTIONS, *SINK_COLUMNS):
        assert f"`{name}`" in PAGE


def test_the_examples_read_a_topic_and_write_one(spark: SparkSession, server: Server) -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    server.send("orders", [b"x"] * 3, tag="new")
    printed = io.StringIO()
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(printed):
        for example in examples:
            exec(example.replace("localhost:9876", server.name_server), names)
    assert "| new|    3|" in printed.getvalue()
    assert all_values(server, "copies") == [b"x"] * 3
