"""Action: one call of the API: its path, role, parameters and function, declared once.

The table of actions is what routes are made of (`endpoints.py`), what the API is described by
(`openapi.py`) and what an assistant is offered (`mcp.py`).

A1. GET and nothing else changes nothing.
A2. An action that cannot be undone has a `confirm`: the parameter whose value the body repeats.
A3. With `dry_run` an action says what it would do, and does nothing; then nothing is confirmed.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aerobee.console.http.parameters import BODY, Parameter, Value, ValueKind
from aerobee.console.session.visitor import Role, Visitor

Record: TypeAlias = Mapping[str, Any]
"""An object that JSON can hold."""
GET, POST, PATCH, PUT, DELETE = ("GET", "POST", "PATCH", "PUT", "DELETE")
CONFIRM = "confirm"
DRY_RUN = "dry_run"


@dataclass(frozen=True, slots=True)
class Ask:
    """A checked request."""

    given: Mapping[str, Value]
    visitor: Visitor
    token: str = ""
    """Of the session; empty: there is none."""

    @property
    def is_dry(self) -> bool:
        return self.given.get(DRY_RUN) is True

    def text(self, name: str) -> str:
        """The value of a text; empty: none was given."""
        value = self.given.get(name)
        return value if isinstance(value, str) else ""

    def maybe_text(self, name: str) -> str | None:
        return self.text(name) or None

    def whole(self, name: str) -> int:
        value = self.given[name]
        assert isinstance(value, int)
        return value

    def maybe_whole(self, name: str) -> int | None:
        value = self.given.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def real(self, name: str) -> float:
        value = self.given[name]
        assert isinstance(value, int | float)
        return float(value)

    def maybe_truth(self, name: str) -> bool | None:
        value = self.given.get(name)
        return value if isinstance(value, bool) else None

    def truth(self, name: str) -> bool:
        return self.given.get(name) is True

    def texts(self, name: str) -> list[str]:
        value = self.given.get(name)
        return value if isinstance(value, list) else []

    def table(self, name: str) -> dict[str, str]:
        value = self.given.get(name)
        return value if isinstance(value, dict) else {}

    def moment(self, name: str) -> int | str:
        value = self.given[name]
        assert isinstance(value, int | str)
        return value


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: Record


@dataclass(frozen=True, slots=True)
class EventStream:
    """An answer that goes on until its reader leaves, or its source ends."""

    events: AsyncIterator[Event]


@dataclass(frozen=True, slots=True)
class Download:
    """A file that a browser saves and never shows."""

    name: str
    pieces: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class SessionReply:
    """An answer that begins or ends a session in the browser."""

    content: Record
    token: str
    """The cookie's value; empty: the cookie is removed."""


Answer: TypeAlias = Record | EventStream | Download | SessionReply
Act: TypeAlias = Callable[[Ask], Coroutine[Any, Any, Answer]]


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    """A verb and a noun, as programs spell them: `deleteTopic`."""
    method: str
    path: str
    role: Role | None
    """The least that may; None: everybody, logged in or not."""
    about: str
    act: Act
    parameters: tuple[Parameter, ...] = ()
    confirm: str = ""
    """The parameter whose value is to be repeated; empty: nothing is."""
    has_dry_run: bool = False
    of: str = ""
    """The parameter that names the thing, for the record of actions."""
    command: str = ""
    """The same as a command, with parameters in braces and optional parts in brackets; the page
    fills it in (`console/src/data/recipe.ts` has the signs)."""
    python: str = ""
    """The same as Python, likewise."""
    ends_with_visitor: bool = False
    """It lasts: who goes away ends it. Others are done to their end, whoever waits for it."""
    is_stream: bool = False
    is_download: bool = False
    example: Record = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        return self.method != GET

    def all_parameters(self) -> tuple[Parameter, ...]:
        """The parameters with those that follow from the other fields."""
        more: list[Parameter] = []
        if self.confirm:
            about = f"{self.confirm} once more: this cannot be undone"
            more.append(Parameter(CONFIRM, BODY, about))
        if self.has_dry_run:
            about = "say what would happen, and do nothing"
            more.append(Parameter(DRY_RUN, BODY, about, ValueKind.TRUTH, default=False))
        return (*self.parameters, *more)
