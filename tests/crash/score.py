"""Numbers that a run of the crash tests should show: how much was tried, how much was caught.

Tests add lines; the conftest of this folder prints them under the results.
"""

LINES: list[str] = []


def show(line: str) -> None:
    LINES.append(line)
