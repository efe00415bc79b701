"""Promotion prepares the tables of a slave for its time as master.

- **The next term.** The version of the topics begins with a term (`stateVersion`), which rises with
  every promotion. Name servers keep the master of the highest term: an old master that comes back
  and does not know of its successor cannot take its place.
- **Topics that have messages and no config.** A topic that was made just before the master was lost
  may not have been copied, while its messages were. It is made with as many queues as the log has
  of it, so that they can be read.
"""

import logging

from aerobee.model.names import is_system_topic
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.service.broker.state.topics import Topics
from aerobee.storage.metadata.saved_value import Done
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)


class Promotion:
    def __init__(self, topics: Topics, store: Store) -> None:
        self._topics = topics
        self._store = store

    def prepare(self, now: Now, done: Done) -> None:
        """Save the topics as those of the next term; `done` is called when they are on the disk,
        or with the reason why they are not."""
        missing = self._missing()
        for topic in missing:
            _log.warning(
                "the topic %s was not copied before the master was lost: it is made with %d queues",
                topic.name,
                topic.write_queues,
            )
        self._topics.begin_term(missing, now, done)

    def _missing(self) -> list[TopicConfig]:
        queues: dict[str, int] = {}
        for queue in self._store.queues():
            name = queue.topic.decode()
            is_ours = is_system_topic(name, cluster="", broker="")
            if self._topics.find(name) is None and not is_ours:
                queues[name] = max(queues.get(name, 0), queue.queue_id + 1)
        return [TopicConfig(name, count, count) for name, count in sorted(queues.items())]
