"""WaitingCounts: the requests of one table that wait for messages, counted for each consumer group,
user and address, so that none of them waits more often than it may.

C1. A request is counted once for each of its owners from `add` until `remove`; an owner of whom
    nothing waits takes no room.
"""

from collections import Counter

from aerobee.protocol.response_codes import RETRY_AFTER, ResponseCode
from aerobee.service.access.request_limits import WaitingLimits
from aerobee.service.request import Answer, Request

WAIT_MS = 1_000


class WaitingCounts:
    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def refuse(self, request: Request, group: str, limits: WaitingLimits) -> Answer | None:
        """The answer to a request that may not wait, because too many of its group, its user or its
        address do; None: it may."""
        if not any(limits):
            return None
        for owner, most in zip(_owners(request, group), limits, strict=True):
            if most and owner[1] and self._counts[owner] >= most:
                return Answer(
                    ResponseCode.FLOW_CONTROL,
                    f"too many pulls and pops of the {owner[0]} {owner[1][:255]} wait: "
                    f"try again in {WAIT_MS} ms",
                    {RETRY_AFTER: str(WAIT_MS)},
                )
        return None

    def add(self, request: Request, group: str) -> None:
        self._counts.update(_owners(request, group))

    def remove(self, request: Request, group: str) -> None:
        for owner in _owners(request, group):
            self._counts[owner] -= 1
            if not self._counts[owner]:
                del self._counts[owner]


def _owners(request: Request, group: str) -> tuple[tuple[str, str], ...]:
    """In the order of `WaitingLimits`."""
    user = "" if request.user is None else request.user.name
    return ("group", group), ("user", user), ("address", request.host)
