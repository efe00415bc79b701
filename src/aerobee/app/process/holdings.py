"""Counts of the topics and messages that applications have in a store.

Retries and dead letters are not counted: each is a copy of a message that is.
"""

from collections.abc import Iterable
from typing import NamedTuple

from aerobee.model.names import is_dead_letter_topic, is_retry_topic, is_system_topic
from aerobee.storage.store import Store


class Holdings(NamedTuple):
    """The topics that have messages, and the number of messages."""

    topics: frozenset[str] = frozenset()
    messages: int = 0


def holdings_of(store: Store, *, cluster: str, broker: str) -> Holdings:
    counts: dict[str, int] = {}
    for queue in store.queues():
        topic = queue.topic.decode()
        is_system = is_system_topic(topic, cluster=cluster, broker=broker)
        if not (is_system or is_retry_topic(topic) or is_dead_letter_topic(topic)):
            count = queue.max_offset - store.first_offset(queue)
            counts[topic] = counts.get(topic, 0) + count
    held = frozenset(topic for topic, count in counts.items() if count > 0)
    return Holdings(held, sum(counts.values()))


def together(parts: Iterable[Holdings]) -> Holdings:
    """Add up several stores: a topic on two brokers is one topic."""
    listed = list(parts)
    topics = frozenset().union(*(one.topics for one in listed))
    return Holdings(topics, sum(one.messages for one in listed))
