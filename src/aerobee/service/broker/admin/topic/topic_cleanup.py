"""Tells the store how to clean up a topic, by the topic's attributes.

    cleanup.policy=COMPACTION    the newest message of each key stays
    reserve.time=24              messages are visible for 24 hours, then hidden; their records go
                                 with the log, which is kept for `fileReservedTime`

In Apache's broker only the tiered store uses the second.
"""

from aerobee.model.topic import TopicConfig
from aerobee.storage.store import Store

HOUR_MS = 3_600_000


def set_cleanup(store: Store, topic: TopicConfig) -> None:
    """Set both for a topic. The store does not save them: called at every start and change."""
    name = topic.name.encode()
    store.compaction.set(name, topic.is_compacted)
    store.set_topic_retention(name, topic.reserved_hours * HOUR_MS or None)
