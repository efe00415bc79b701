"""LogIn: visitors of requests, and the actions that begin and end sessions.

Without a log-in (on loopback, unless it is configured) everybody who reaches the port is an
administrator; then one token of the process guards changes against other sites.

`watch` ends sessions whose time is over, and those of users that were removed, disabled or changed;
`until_end` is how answers that last (streams, files, long work) end with their session.
"""

import asyncio
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from aerobee.console.http.action import GET, POST, Action, Ask, Record, SessionReply
from aerobee.console.http.parameters import BODY, Parameter
from aerobee.console.http.problem import Problem
from aerobee.console.session.accounts import Account
from aerobee.console.session.attempts import Attempts
from aerobee.console.session.sessions import Sessions
from aerobee.console.session.visitor import Role, Visitor

_log = logging.getLogger(__name__)

WATCH_SECONDS = 2.0
"""Users are looked at so often, while somebody has logged in."""


class PasswordCheck(Protocol):
    """Users with passwords: the console's own, or the cluster's."""

    async def check(self, name: str, password: str) -> Account | None: ...

    async def is_valid(self, account: Account) -> bool:
        """Whether an account is still what it was when its session began."""
        ...


Facts = Callable[[], Awaitable[Record]]
"""What a page needs to know at first, besides its visitor."""


class LogIn:
    def __init__(
        self,
        accounts: PasswordCheck | None,
        facts: Facts,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`accounts`: None if no log-in is needed."""
        self._accounts = accounts
        self._facts = facts
        self._now = now
        self._sessions = Sessions()
        self._attempts = Attempts()
        self._csrf = secrets.token_urlsafe(32)

    def visitor(self, token: str, address: str) -> Visitor:
        """Return the visitor of a request with this cookie."""
        if self._accounts is None:
            return Visitor(address, Role.ADMIN, None, self._csrf)
        session = self._sessions.find(token, self._now()) if token else None
        if session is None:
            # A log-in is a change, too: it carries the process's token.
            return Visitor(address, None, None, self._csrf)
        return Visitor(address, session.role, session.user, session.csrf)

    async def until_end(self, token: str) -> None:
        """Return when the session of a cookie is over; where no log-in is needed, never."""
        over = asyncio.get_running_loop().create_future()
        if self._accounts is None:
            await over
        session = self._sessions.known(token)
        if session is None:
            return

        def tell() -> None:
            if not over.done():
                over.set_result(None)

        session.on_end.add(tell)
        try:
            await over
        finally:
            session.on_end.discard(tell)

    async def watch(self, pause: float = WATCH_SECONDS) -> None:
        """End sessions in time, until this is cancelled."""
        while True:
            await asyncio.sleep(pause)
            try:
                await self.look()
            except Exception:
                _log.exception("users of the console could not be looked at")

    async def look(self) -> None:
        """End the sessions whose time is over, and those of users that are others now."""
        self._sessions.drop_ended(self._now())
        if self._accounts is None:
            return
        for account in self._sessions.accounts():
            if not await self._accounts.is_valid(account):
                self._sessions.end_of(account)

    async def told(self, visitor: Visitor) -> Record:
        """Return what the page of a visitor needs to know at first."""
        own = {
            "user": visitor.user,
            "role": visitor.role.word if visitor.role is not None else None,
            "login_needed": self._accounts is not None,
            "csrf": visitor.csrf,
        }
        return own if visitor.role is None else {**own, **await self._facts()}

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "session",
                GET,
                "/api/session",
                None,
                "The visitor, the token for changes, and the cluster",
                self.show,
            ),
            Action(
                "logIn",
                POST,
                "/api/login",
                None,
                "Begin a session, which the browser keeps in a cookie",
                self.begin,
                (
                    Parameter("user", BODY, "the name of an account", is_required=True),
                    Parameter("password", BODY, "its password", is_required=True),
                ),
                of="user",
            ),
            Action("logOut", POST, "/api/logout", None, "End the session", self.end),
        )

    async def show(self, ask: Ask) -> Record:
        return await self.told(ask.visitor)

    async def begin(self, ask: Ask) -> SessionReply:
        if self._accounts is None:
            raise Problem(409, "conflict", "no log-in is needed here")
        user, address, now = ask.text("user"), ask.visitor.address, self._now()
        wait = self._attempts.wait_seconds(user, address, now)
        if wait > 0:
            raise Problem(
                429,
                "too_many",
                f"too many log-ins failed; the next is looked at in {math.ceil(wait)} s",
                retry_seconds=wait,
            )
        # Counted before the slow part, so that many at once do not all pass.
        self._attempts.failed(user, address, now)
        account = await self._accounts.check(user, ask.text("password"))
        if account is None:
            raise Problem(401, "wrong_login", "no account has this name and password")
        self._attempts.succeeded(user, address)
        if ask.token:
            self._sessions.end(ask.token)
        token, session = self._sessions.begin(account, self._now())
        visitor = Visitor(address, session.role, session.user, session.csrf)
        return SessionReply(await self.told(visitor), token)

    async def end(self, ask: Ask) -> SessionReply:
        if ask.token:
            self._sessions.end(ask.token)
        return SessionReply({"done": "logged out"}, "")
