"""Sessions: who has logged in, by a random token that the browser keeps in a cookie.

S1. A session ends after 30 minutes without a request, 12 hours after its log-in, and with its
    log-out, whichever is first. Nothing but the server's table makes it valid.
S2. Every log-in makes a new token. The table has the hash of a token: a copy of it opens nothing.
S3. There are at most SESSIONS_MAX; the one that was used least lately goes first.
S4. The end of a session, however it comes, is told to all that wait for it (`on_end`): streams of
    its browser end with it.

Time is an argument, in monotonic seconds.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from aerobee.console.session.accounts import Account
from aerobee.console.session.visitor import Role

IDLE_SECONDS = 30 * 60.0
LIFE_SECONDS = 12 * 3600.0
SESSIONS_MAX = 1000
_TOKEN_BYTES = 32


@dataclass(slots=True)
class Session:
    account: Account
    """As it was at the log-in: when it changes, the session ends."""
    begun: float
    used: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))
    on_end: set[Callable[[], None]] = field(default_factory=set)
    """Called once, when the session is over."""

    @property
    def user(self) -> str:
        return self.account.name

    @property
    def role(self) -> Role:
        return self.account.role


class Sessions:
    def __init__(self) -> None:
        self._by_hash: dict[bytes, Session] = {}

    def __len__(self) -> int:
        return len(self._by_hash)

    def begin(self, account: Account, now: float) -> tuple[str, Session]:
        """Begin a session; returns its token, which is not kept."""
        self.drop_ended(now)
        while len(self._by_hash) >= SESSIONS_MAX:
            self._drop(min(self._by_hash, key=lambda one: self._by_hash[one].used))
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        session = self._by_hash[_hash(token)] = Session(account, now, now)
        return token, session

    def accounts(self) -> set[Account]:
        """Return the accounts that have sessions."""
        return {one.account for one in self._by_hash.values()}

    def find(self, token: str, now: float) -> Session | None:
        """Return the session of a token, and count it as used now."""
        key = _hash(token)
        session = self._by_hash.get(key)
        if session is None:
            return None
        if _is_over(session, now):
            self._drop(key)
            return None
        session.used = now
        return session

    def known(self, token: str) -> Session | None:
        """Return the session of a token, which is not used by that."""
        return self._by_hash.get(_hash(token))

    def end(self, token: str) -> None:
        self._drop(_hash(token))

    def end_of(self, account: Account) -> None:
        """End all sessions of an account."""
        self._drop_all(key for key, one in self._by_hash.items() if one.account == account)

    def drop_ended(self, now: float) -> None:
        """End what is over by its time."""
        self._drop_all(key for key, one in self._by_hash.items() if _is_over(one, now))

    def _drop_all(self, keys: Iterable[bytes]) -> None:
        for key in list(keys):
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        session = self._by_hash.pop(key, None)
        if session is not None:
            for tell in list(session.on_end):
                tell()


def _is_over(session: Session, now: float) -> bool:
    return now - session.used >= IDLE_SECONDS or now - session.begun >= LIFE_SECONDS


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
