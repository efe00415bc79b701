"""Filters that are in use: each expression of a group compiled once, and what is wrong with its
messages told once.

A filter that lets nothing through because a property is never there, or never a number, looks like
a consumer that has nothing to do. So the log says it, by kind and not by message: once for each
property that was missing and each comparison that could not be made.

Bounded in entries and in characters; those that were used longest ago go first. Whoever holds one
goes on using it.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.service.filters.sql_lexer import BadExpression

_log = logging.getLogger(__name__)

ENTRIES_MAX = 10_000
CHARS_MAX = 1 << 20
"""Of all expressions: a compiled one takes up to 60 bytes for each of its characters."""


class FilterKey(NamedTuple):
    group: str
    topic: str
    expression: str


class FilterInUse:
    """A filter, or why there is none."""

    __slots__ = ("fault", "filter", "key", "told")

    def __init__(self, key: FilterKey) -> None:
        self.key = key
        self.filter: PropertyFilter | None = None
        self.fault = ""
        self.told: set[str] = set()
        try:
            self.filter = compile_sql(key.expression)
        except BadExpression as error:
            self.fault = str(error)


class FilterCache:
    def __init__(self, entries_max: int = ENTRIES_MAX, chars_max: int = CHARS_MAX) -> None:
        self._entries_max = entries_max
        self._chars_max = chars_max
        self._entries: OrderedDict[FilterKey, FilterInUse] = OrderedDict()
        self._chars = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[FilterInUse]:
        return iter(self._entries.values())

    def find(self, group: str, topic: str, expression: str) -> FilterInUse:
        """The filter of an expression, compiled if it was not yet."""
        key = FilterKey(group, topic, expression)
        found = self._entries.get(key)
        if found is None:
            found = self._entries[key] = FilterInUse(key)
            self._chars += len(expression)
            self._make_room()
        self._entries.move_to_end(key)
        return found

    def _make_room(self) -> None:
        while len(self._entries) > self._entries_max or (
            self._chars > self._chars_max and len(self._entries) > 1
        ):
            key, dropped = self._entries.popitem(last=False)
            self._chars -= len(key.expression)
            _tell(dropped)

    def tell_news(self) -> None:
        """Log what was found wrong with messages since the last time."""
        for entry in self._entries.values():
            _tell(entry)


def _tell(entry: FilterInUse) -> None:
    if entry.filter is not None and entry.filter.has_news:
        for news in entry.filter.take_news(entry.told):
            _log.warning(
                "a filter meets messages that it cannot decide",
                extra={
                    "group": entry.key.group,
                    "topic": entry.key.topic,
                    "expression": entry.key.expression[:200],
                    "why": news,
                },
            )
