"""`StampCounter` stamps the requests of one connection: a recorded one cannot be sent again.

    RequestStamp: <request code>.<wall time, ms>.<session>.<count>

The stamp is a field like others, and signed with them. An Aerobee server refuses a stamp that it
has seen, or that is not of now; other servers do not look at it.
"""

import secrets

_SESSIONS = 10**18


class StampCounter:
    """The session of one connection. Requests must be written in the order of their stamps."""

    def __init__(self) -> None:
        self._session = secrets.randbelow(_SESSIONS)
        self._count = 0

    def next(self, code: int, wall_ms: int) -> str:
        self._count += 1
        return f"{code}.{wall_ms}.{self._session}.{self._count}"
