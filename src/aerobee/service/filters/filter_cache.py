"""FilterCache compiles each expression of a group once, and logs undecidable messages once per
kind.

A filter that rejects everything because a property is always missing, or never a number, looks like
a consumer without work. So this is logged, by kind and not by message: once for each missing
property and each comparison that could not be made.

Bounded in entries and in characters; the least recently used go first. A holder of a dropped entry
may go on using it.
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
"""Limit for all expressions: a compiled one takes up to 60 bytes for each of its characters."""


class FilterKey(NamedTuple):
    group: str
    topic: str
    expression: str


class FilterInUse:
    """A compiled filter, or the fault of its expression."""

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
        """The filter of an expression, compiled if need be."""
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
        """Log problems with messages that were found since the last call."""
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
