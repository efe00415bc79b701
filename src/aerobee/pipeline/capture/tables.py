"""Patterns that choose the captured tables, and the topic of each table.

    shop.*              every table of shop, now and later
    shop.order_*        some of them
    !shop.*_tmp         but not these; an exclusion wins, wherever it stands in the list

A topic is named after its table, `shop-orders`: RocketMQ allows no dots in names. Other characters
that it does not allow become `_`; two tables that would share a topic because of that are an error.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from aerobee.errors import Misuse
from aerobee.pipeline.capture.table_schema import TableName

SYSTEM_SCHEMAS = frozenset({"information_schema", "mysql", "performance_schema", "sys"})
TOPIC_LENGTH_MAX = 127
_NOT_IN_TOPICS = re.compile(r"[^%|a-zA-Z0-9_-]")


class TablePatterns:
    def __init__(self, patterns: Sequence[str]) -> None:
        """Misuse: a pattern is not SCHEMA.TABLE, or nothing is chosen."""
        words = [word.strip() for pattern in patterns for word in pattern.split(",")]
        words = [word for word in words if word]
        for word in words:
            if not re.fullmatch(r"!?[^.!]+\.[^.]+", word):
                raise Misuse(
                    f"{word!r} names no tables",
                    hint="say SCHEMA.TABLE, with * for any text: --tables 'shop.*,!shop.tmp_*'",
                )
        self._wanted = [word for word in words if not word.startswith("!")]
        self._unwanted = [word[1:] for word in words if word.startswith("!")]
        if not self._wanted:
            raise Misuse("no tables are named", hint="--tables 'shop.*'")
        self._known: dict[TableName, bool] = {}

    def has(self, name: TableName) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._matches(name)
        return known

    def _matches(self, name: TableName) -> bool:
        if name.schema.lower() in SYSTEM_SCHEMAS:
            return False
        text = str(name)
        return any(fnmatchcase(text, word) for word in self._wanted) and not any(
            fnmatchcase(text, word) for word in self._unwanted
        )

    def __str__(self) -> str:
        return ",".join([*self._wanted, *(f"!{word}" for word in self._unwanted)])


class TopicNames:
    """Maps each table to its topic."""

    def __init__(self, prefix: str = "", topic: str = "") -> None:
        """`topic`: one topic for all tables."""
        for said, flag in ((prefix, "--topic-prefix"), (topic, "--topic")):
            if _NOT_IN_TOPICS.search(said):
                raise Misuse(
                    f"{flag} {said!r}: a topic's name has letters, digits, - and _",
                    hint=f"for example {flag} {topic_name(said)}",
                )
        self._prefix = prefix
        self._topic = topic
        self._tables: dict[str, TableName] = {}
        self._topics: dict[TableName, str] = {}

    @property
    def is_shared(self) -> bool:
        """Whether rows of several tables share one topic."""
        return bool(self._topic)

    def of(self, name: TableName) -> str:
        """Return the topic of a table. Misuse: another table has it already, or its name is too
        long."""
        if self._topic:
            return self._topic
        known = self._topics.get(name)
        return known or self._chosen(name)

    def _chosen(self, name: TableName) -> str:
        topic = self._prefix + topic_name(f"{name.schema}-{name.table}")
        other = self._tables.setdefault(topic, name)
        if other != name or len(topic) > TOPIC_LENGTH_MAX:
            what = f"{other} has it already" if other != name else "that is too long a name"
            raise Misuse(
                f"{name} would go to the topic {topic}, but {what}",
                hint="capture it by itself, with --name and --topic",
            )
        self._topics[name] = topic
        return topic


def topic_name(text: str) -> str:
    return _NOT_IN_TOPICS.sub("_", text)


def matching(patterns: TablePatterns, names: Iterable[TableName]) -> list[TableName]:
    return sorted(name for name in names if patterns.has(name))
