"""How long requests took, from the read that brought them until their answers went out.

Sends and pulls that take the short way are counted together: those of one turn of the loop go out
together when it ends. The others are noted when they are answered, and measured at the end of that
turn, too. So it costs one look at the clock per turn, and times are whole milliseconds, as
RocketMQ's are.
"""

from collections.abc import Iterator
from typing import NamedTuple

from aerobee.model.histogram import Histogram
from aerobee.protocol.request_codes import find_request_code, request_name
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Request

BOUNDS_MS = (1, 3, 5, 7, 10, 100, 1_000, 2_000, 3_000)
"""RocketMQ's."""
UNKNOWN_CODE = -1
"""Stands for all codes that nobody knows: peers choose them."""


class RequestOutcome(NamedTuple):
    """What is told apart."""

    request: int
    response: ResponseCode
    is_held: bool
    """Whether it was held until there was something to answer: long polling."""

    @property
    def request_name(self) -> str:
        return "unknown" if self.request == UNKNOWN_CODE else request_name(self.request).lower()


class RequestTimes:
    """T1. There is at most one histogram for each pair of known codes, and one more if held."""

    def __init__(self) -> None:
        self._histograms: dict[RequestOutcome, Histogram] = {}
        # What was answered in this turn, when it came, and how many.
        self._answered: list[tuple[RequestOutcome, int, int]] = []

    def of_successes(self, request: int) -> Histogram:
        """For whoever measures requests of one code by itself, all of them answered at once and
        with success."""
        return self._of(RequestOutcome(request, ResponseCode.SUCCESS, False))

    def heard(self, request: Request, response: ResponseCode) -> None:
        """A request is answered, and the answer goes out with this turn."""
        code = request.command.code
        if find_request_code(code) is None:
            code = UNKNOWN_CODE
        outcome = RequestOutcome(code, response, request.is_held)
        self._answered.append((outcome, request.now.monotonic_ms, 1))

    def note(self, request: int, response: ResponseCode, since_ms: int, count: int) -> None:
        """The same, for so many that came together by a short way."""
        self._answered.append((RequestOutcome(request, response, False), since_ms, count))

    def measure(self, monotonic_ms: int) -> None:
        """The turn is over."""
        for outcome, since_ms, count in self._answered:
            self._of(outcome).add(max(0, monotonic_ms - since_ms), count)
        self._answered.clear()

    def __iter__(self) -> Iterator[tuple[RequestOutcome, Histogram]]:
        return iter(list(self._histograms.items()))

    def _of(self, outcome: RequestOutcome) -> Histogram:
        found = self._histograms.get(outcome)
        if found is None:
            found = self._histograms[outcome] = Histogram(BOUNDS_MS)
        return found
