"""How the store cleans up a topic, as its attributes say.

    cleanup.policy=COMPACTION    the newest message of each key stays
    reserve.time=24              messages are seen for 24 hours, then they are hidden; their records
                                 go with the log, which is kept for `fileReservedTime`

In Apache's broker only the tiered store heeds the second.
"""

from aerobee.model.topic import TopicConfig
from aerobee.storage.store import Store

HOUR_MS = 3_600_000


def set_cleanup(store: Store, topic: TopicConfig) -> None:
    """The store remembers neither: it is told at every start and change."""
    name = topic.name.encode()
    store.compaction.set(name, topic.is_compacted)
    store.set_topic_retention(name, topic.reserved_hours * HOUR_MS or None)
