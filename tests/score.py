"""Numbers that a run should show: how much was tried, how much was caught.

Tests add lines; `run_report` prints them under the results.
"""

LINES: list[str] = []


def show(line: str) -> None:
    LINES.append(line)
