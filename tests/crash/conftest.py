"""Prints what the crash tests counted (`score`)."""

import pytest

from tests.crash.score import LINES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if LINES:
        terminalreporter.section("crash tests")
        for line in LINES:
            terminalreporter.write_line(line)
