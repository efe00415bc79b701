"""Lookups of a message by an id or a key alone: topic after topic, with progress as it goes.

No request of RocketMQ finds a message without its topic, but an offset id, which says where it is.
So the topics of applications are asked, eight at once: those with the newest messages first, those
without any not at all, dead letters last. Finding one by its id ends it; a key may be in many.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing

from aerobee.client.admin.admin import Admin
from aerobee.console.http.action import GET, Action, Ask, Event, EventStream
from aerobee.console.http.parameters import QUERY, Parameter
from aerobee.console.http.problem import Problem
from aerobee.console.message.message_rows import host_of, message_row
from aerobee.console.session.visitor import Role
from aerobee.console.watch.broker_tables import or_none
from aerobee.console.watch.catalogue import DEAD_LETTER, NORMAL, Catalogue
from aerobee.console.watch.sampler import Sampler
from aerobee.errors import AerobeeError
from aerobee.model.message import StoredMessage
from aerobee.model.message_id import parse_offset_message_id

LOOKUPS_MAX = 20
"""At once."""
AT_ONCE = 8
OF_A_TOPIC = 16
FOUND_MAX = 200
_ID_CHARS = (32, 56)


class LookupPages:
    def __init__(self, admin: Admin, catalogue: Catalogue, sampler: Sampler) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._sampler = sampler
        self._running = 0

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "lookUpMessages",
                GET,
                "/api/messages/lookup",
                Role.VIEWER,
                "Messages with an id or a key, in all topics, with progress",
                self.look_up,
                (Parameter("word", QUERY, "an id or a key", is_required=True, chars_max=1000),),
                command="aerobee explain message {word}",
                is_stream=True,
            ),
        )

    async def look_up(self, ask: Ask) -> EventStream:
        if self._running >= LOOKUPS_MAX:
            raise Problem(429, "too_many", "too many lookups run", retry_seconds=10)
        return EventStream(self._events(ask.text("word").strip()))

    async def _events(self, word: str) -> AsyncIterator[Event]:
        self._running += 1
        try:
            async with aclosing(self._found(word)) as events:
                async for event in events:
                    yield event
        finally:
            self._running -= 1

    async def _found(self, word: str) -> AsyncGenerator[Event, None]:
        names = await self._catalogue.broker_names()
        placed = await self._at_place(word)
        if placed is not None:
            yield _message(placed, names)
            yield _done(0, 1, is_complete=True)
            return
        topics = await self._topics()
        looked = found = 0
        yield _progress(looked, len(topics), found)
        for start in range(0, len(topics), AT_ONCE):
            part = topics[start : start + AT_ONCE]
            for messages in await asyncio.gather(*(self._in(one, word) for one in part)):
                for message in messages:
                    yield _message(message, names)
                    found += 1
            looked += len(part)
            yield _progress(looked, len(topics), found)
            if found >= FOUND_MAX or (found and is_id(word)):
                break
        yield _done(looked, found, is_complete=looked == len(topics) or is_id(word))

    async def _at_place(self, word: str) -> StoredMessage | None:
        """Return the message at the address that an id contains, if a broker is there."""
        if not is_id(word):
            return None
        try:
            place = parse_offset_message_id(word)
        except AerobeeError:
            return None
        # Only what is known is dialled: an id is a text of anybody.
        if f"{place.address}:{place.port}" not in (await self._catalogue.masters()).values():
            return None
        return (await or_none(self._admin.messages.by_offset_id(word)))[0]

    async def _in(self, topic: str, word: str) -> list[StoredMessage]:
        """Return the messages of one topic; a broker that does not answer has none."""
        messages = self._admin.messages
        found, _ = await or_none(messages.by_key(topic, word, limit=OF_A_TOPIC))
        if not found and is_id(word):
            found, _ = await or_none(messages.by_unique_id(topic, word))
        return found or []

    async def _topics(self) -> list[str]:
        entries = await self._catalogue.topics()
        figures = self._sampler.topics

        def worth(name: str) -> tuple[bool, int]:
            known = figures.get(name)
            return entries[name].kind == NORMAL, (known.last_stored or 0) if known else 0

        wanted = (
            name
            for name, one in entries.items()
            if one.kind in (NORMAL, DEAD_LETTER) and (name not in figures or figures[name].messages)
        )
        return sorted(wanted, key=worth, reverse=True)


def is_id(word: str) -> bool:
    """Whether a word may be an id, the sender's or the broker's."""
    return len(word) in _ID_CHARS and all(one in "0123456789abcdefABCDEF" for one in word)


def _message(message: StoredMessage, names: Mapping[str, str]) -> Event:
    host = host_of(message)
    return Event("message", message_row(message, names.get(host, host)))


def _progress(looked: int, topics: int, found: int) -> Event:
    return Event("progress", {"scanned": looked, "total": topics, "found": found})


def _done(looked: int, found: int, *, is_complete: bool) -> Event:
    why = "end" if is_complete else "limit"
    return Event("done", {"scanned": looked, "found": found, "complete": is_complete, "why": why})
