"""Lines while a load runs: one that changes where somebody looks at it, else one each second.

They go to stderr: stdout is for the result.
"""

import sys
from collections.abc import Sequence
from typing import TextIO

from aerobee.app.load.measure.cluster_facts import BrokerFacts
from aerobee.app.load.result.report import WIDTH, column_names, heading, line_of
from aerobee.app.load.result.result import Point
from aerobee.app.load.run.trial import Told
from aerobee.app.load.workload.workload import Workload


class Live:
    def __init__(self, kind: str, *, is_quiet: bool = False, stream: TextIO | None = None) -> None:
        """`is_quiet`: a program reads the result; who looks on is shown lines all the same."""
        self._kind = kind
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._is_quiet = is_quiet and not self._is_terminal
        self._has_heading = False
        self._has_names = False
        self._is_open = False

    def told(self) -> Told:
        return Told(self._begin, self._put, self._point)

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self._is_quiet:
            self.end()
            print(text, file=self._stream, flush=True)

    def end(self) -> None:
        """What comes next begins on a line of its own."""
        if self._is_open:
            self._is_open = False
            print(file=self._stream, flush=True)

    def _begin(self, workload: Workload, brokers: Sequence[BrokerFacts]) -> None:
        if not self._has_heading:
            self._has_heading = True
            self.say(heading(workload, brokers))

    def _point(self, point: Point) -> None:
        if not self._has_names:
            self._has_names = True
            self.say(column_names(self._kind))
        self._put(line_of(self._kind, point))

    def _put(self, text: str) -> None:
        if self._is_terminal:
            self._is_open = True
            room = WIDTH - 1
            print(f"\r{text[:room]:<{room}}", end="", file=self._stream, flush=True)
        else:
            self.say(text)
