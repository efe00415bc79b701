"""BrokerTables: the tables of topics or groups of all masters, each read again when it has changed.

Also the way in which all masters are asked: some at a time, and each by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from aerobee.client.core.known_table import KnownTable
from aerobee.errors import AerobeeError

T = TypeVar("T")
A = TypeVar("A")

AT_ONCE = 2
"""Masters that are asked about all that they have."""
CLIENT_SECONDS = 1.0
"""That a client may take: a page does not wait for one that hangs."""


class Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)


class AskSome(Protocol[A]):
    """A question to some masters."""

    def __call__(self, *, on: Sequence[str]) -> Awaitable[dict[str, A]]: ...


class AskTables(Protocol[N]):
    """A question for tables, of which some are known, to some masters."""

    def __call__(
        self, known: Mapping[str, KnownTable[N]], *, on: Sequence[str]
    ) -> Awaitable[dict[str, KnownTable[N]]]: ...


class BrokerTables(Generic[N]):
    def __init__(self, ask: AskTables[N]) -> None:
        self._ask = ask
        self._masters: dict[str, str] = {}
        self._known: dict[str, KnownTable[N]] = {}
        """By address."""

    async def by_name(self, masters: Mapping[str, str]) -> dict[str, dict[str, N]] | None:
        """Return all rows by their name and broker, of the masters that answer; None: they are as
        before. `masters`: addresses by broker name."""
        before = self._known

        async def ask(*, on: Sequence[str]) -> dict[str, KnownTable[N]]:
            return await self._ask(before, on=on)

        found: dict[str, KnownTable[N]] = {}
        async for part in in_parts(ask, list(masters.values())):
            found |= part
        is_same = self._masters == masters and found.keys() == before.keys()
        is_same = is_same and all(found[place] is before[place] for place in found)
        self._known, self._masters = found, dict(masters)
        return None if is_same else self.joined()

    def joined(self) -> dict[str, dict[str, N]]:
        """Return the rows that were told last, by their name and broker."""
        found: dict[str, dict[str, N]] = {}
        for broker, address in self._masters.items():
            for row in self._known[address].rows if address in self._known else ():
                found.setdefault(row.name, {})[broker] = row
        return found


async def in_parts(ask: AskSome[T], places: Sequence[str]) -> AsyncIterator[dict[str, T]]:
    """Ask some masters at a time, and yield the answers of those that answer: the answers of all
    about ten thousand names, half read, would fill the memory. Raises if nobody answers."""
    is_answered = False
    failed: AerobeeError | None = None
    for start in range(0, len(places), AT_ONCE):
        # Each by itself: together, one that fails would leave the others' answers unread.
        asked = (or_none(ask(on=(place,))) for place in places[start : start + AT_ONCE])
        for answer, error in await asyncio.gather(*asked):
            if answer is not None:
                is_answered = True
                yield answer
            failed = error or failed
    if failed is not None and not is_answered:
        raise failed


async def or_none(asking: Awaitable[T]) -> tuple[T | None, AerobeeError | None]:
    """Return an answer, or the error that came instead."""
    try:
        return await asking, None
    except AerobeeError as error:
        return None, error


async def in_time(asking: Awaitable[T]) -> T | None:
    """Return the answer of a client, or None: it hangs, or refuses."""
    try:
        async with asyncio.timeout(CLIENT_SECONDS):
            return (await or_none(asking))[0]
    except TimeoutError:
        return None
