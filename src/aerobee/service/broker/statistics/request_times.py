"""RequestTimes has histograms of request times, from the read of a request until its answer goes
out.

Sends and pulls on the fast path are counted together: those of one turn of the loop go out together
when it ends. The others are noted when they are answered, and measured at the end of that turn,
too. So it costs one reading of the clock per turn, and times are whole milliseconds, as in
RocketMQ.
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
"""Stands for all unknown codes: peers could send any number of them."""


class RequestOutcome(NamedTuple):
    """The key of a histogram."""

    request: int
    response: ResponseCode
    is_held: bool
    """Whether it was held for long polling."""

    @property
    def request_name(self) -> str:
        return "unknown" if self.request == UNKNOWN_CODE else request_name(self.request).lower()


class RequestTimes:
    """T1. There is at most one histogram for each pair of known codes, and one more if held."""

    def __init__(self) -> None:
        self._histograms: dict[RequestOutcome, Histogram] = {}
        # (outcome, arrival, number of requests) of the answers of this turn.
        self._answered: list[tuple[RequestOutcome, int, int]] = []

    def of_successes(self, request: int) -> Histogram:
        """The histogram of immediate successes of one code, for callers that measure by
        themselves."""
        return self._of(RequestOutcome(request, ResponseCode.SUCCESS, False))

    def heard(self, request: Request, response: ResponseCode) -> None:
        """A request is answered, and the answer goes out with this turn."""
        code = request.command.code
        if find_request_code(code) is None:
            code = UNKNOWN_CODE
        outcome = RequestOutcome(code, response, request.is_held)
        self._answered.append((outcome, request.now.monotonic_ms, 1))

    def note(self, request: int, response: ResponseCode, since_ms: int, count: int) -> None:
        """The same, for `count` requests of a fast path that arrived together."""
        self._answered.append((RequestOutcome(request, response, False), since_ms, count))

    def measure(self, monotonic_ms: int) -> None:
        """The turn is over: measure its answers."""
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
