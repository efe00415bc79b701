"""Additions to the report of a test run: a command for each failed test, the times, and the numbers
that tests have counted.

A command runs its one test again, from the same folder, with the same Python and in the same
environment, as far as the tests look at it.

TEST_TIMES=file  write `seconds test` for every test into this file (tools/slowest_tests.py)
"""

import os
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.score import LINES

VARIABLES = (
    "EXPECT_COMPILED",
    "FAULT_NETWORK",
    "CHAOS_MINUTES",
    "CHAOS_SEED",
    "FAULT_ROUNDS",
    "HYPOTHESIS_PROFILE",
    "KILL_CYCLES",
    "POWER_CUTS",
    "PYTHONPATH",
    "REQUIRE_CLIENTS",
    "REQUIRE_JAVA",
    "REQUIRE_MARIADB",
    "SPARK_ROUNDS",
    "SPARK_SEED",
)
"""The variables of the environment that change how a test runs."""

Report = pytest.TestReport | pytest.CollectReport


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if LINES:
        terminalreporter.section("counted")
        for line in LINES:
            terminalreporter.write_line(line)
    stats = terminalreporter.stats
    wrong = [*stats.get("error", []), *stats.get("failed", [])]
    commands = [_command(report, config) for report in wrong]
    if commands:
        terminalreporter.section("to run one of them again")
        for command in dict.fromkeys(commands):
            terminalreporter.line(command)
    place = os.environ.get("TEST_TIMES")
    if place:
        Path(place).write_text("".join(_lines(stats)), "utf-8")


def _command(report: Report, config: pytest.Config) -> str:
    """A line for a shell in the folder where pytest was started."""
    folder = config.invocation_params.dir
    python = Path(sys.executable)
    if python.is_relative_to(folder):
        python = python.relative_to(folder)
    path, colons, name = report.nodeid.partition("::")
    test = os.path.relpath(config.rootpath / path, folder) + colons + name
    # A plain run leaves marked tests out, so the choice of this run is made again.
    choice = config.getoption("markexpr")
    chosen = ["-m", choice] if choice and choice not in config.getini("addopts") else []
    settings = [
        f"{variable}={shlex.quote(os.environ[variable])}"
        for variable in VARIABLES
        if variable in os.environ
    ]
    return " ".join([*settings, shlex.join([str(python), "-m", "pytest", *chosen, test])])


def _lines(stats: dict[str, list[object]]) -> Iterator[str]:
    """The time of each test, with the fixtures that were made for it first."""
    seconds: dict[str, float] = defaultdict(float)
    for reports in stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid] += report.duration
    for test, duration in seconds.items():
        yield f"{duration:.2f} {test}\n"
