"""Sessions: who has logged in, by a random token that the browser keeps in a cookie.

S1. A session ends after 30 minutes without a request, 12 hours after its log-in, and with its
    log-out, whichever is first. Nothing but the server's table makes it valid.
S2. Every log-in makes a new token. The table has the hash of a token: a copy of it opens nothing.
S3. There are at most SESSIONS_MAX; the one that was used least lately goes first.

Time is an argument, in monotonic seconds.
"""

import hashlib
import secrets
from dataclasses import dataclass, field

from aerobee.console.session.visitor import Role

IDLE_SECONDS = 30 * 60.0
LIFE_SECONDS = 12 * 3600.0
SESSIONS_MAX = 1000
_TOKEN_BYTES = 32


@dataclass(slots=True)
class Session:
    user: str
    role: Role
    begun: float
    used: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))


class Sessions:
    def __init__(self) -> None:
        self._by_hash: dict[bytes, Session] = {}

    def __len__(self) -> int:
        return len(self._by_hash)

    def begin(self, user: str, role: Role, now: float) -> tuple[str, Session]:
        """Begin a session; returns its token, which is not kept."""
        self._drop_ended(now)
        while len(self._by_hash) >= SESSIONS_MAX:
            del self._by_hash[min(self._by_hash, key=lambda one: self._by_hash[one].used)]
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        session = self._by_hash[_hash(token)] = Session(user, role, now, now)
        return token, session

    def find(self, token: str, now: float) -> Session | None:
        """Return the session of a token, and count it as used now."""
        key = _hash(token)
        session = self._by_hash.get(key)
        if session is None:
            return None
        if _is_over(session, now):
            del self._by_hash[key]
            return None
        session.used = now
        return session

    def end(self, token: str) -> None:
        self._by_hash.pop(_hash(token), None)

    def _drop_ended(self, now: float) -> None:
        for key in [key for key, one in self._by_hash.items() if _is_over(one, now)]:
            del self._by_hash[key]


def _is_over(session: Session, now: float) -> bool:
    return now - session.used >= IDLE_SECONDS or now - session.begun >= LIFE_SECONDS


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
