"""Promotion prepares the tables of a slave for its time as master.

- **The next term.** The versions of topics and groups begin with a term (`stateVersion`), which
  rises with every promotion: above that of this broker's own tables, above that of the masters
  that it has compared its log with, whose tables it may not have copied in time, and above what
  name servers have seen (`above_term` of CHANGE_BROKER_ROLE). They keep the master of the highest
  term: an old master that comes back and does not know of its successor cannot take its place. One
  that comes back as a slave takes the tables of its successor, although it may have changed its own
  later.
- **Topics that have messages and no config.** A topic that was made just before the master was lost
  may not have been copied, while its messages were. It is made with as many queues as the log has
  of it, so that they can be read, and without attributes, which the log does not have.
"""

import logging
from collections.abc import Callable

from aerobee.model.names import is_system_topic
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.storage.metadata.saved_value import Done
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)


class Promotion:
    def __init__(
        self, topics: Topics, groups: Groups, store: Store, hold_copies: Callable[[bool], None]
    ) -> None:
        """`hold_copies` stops copying tables from the master, or lets it go on."""
        self._topics = topics
        self._groups = groups
        self._store = store
        self._hold_copies = hold_copies

    def prepare(self, now: Now, done: Done, term: int = 0) -> None:
        """Save topics and groups as those of the next term, or of this one if it is later; `done`
        is called when they are on the disk, or with the reason why they are not."""
        # What is asked of the old master just now would replace them.
        self._hold_copies(True)
        missing = self._missing()
        for topic in missing:
            _log.warning(
                "the topic %s was not copied before the master was lost: it is made with %d queues "
                "and without attributes, `aerobee topic update` sets its type and others again",
                topic.name,
                topic.write_queues,
            )

        def saved(error: BaseException | None) -> None:
            if error is not None:
                self._hold_copies(False)
            done(error)

        def groups_saved(error: BaseException | None) -> None:
            if error is not None:
                saved(error)
            else:
                self._topics.begin_term(missing, now, saved, term)

        self._groups.begin_term(now, groups_saved, term)

    def _missing(self) -> list[TopicConfig]:
        queues: dict[str, int] = {}
        for queue in self._store.queues():
            name = queue.topic.decode()
            is_ours = is_system_topic(name, cluster="", broker="")
            if self._topics.find(name) is None and not is_ours:
                queues[name] = max(queues.get(name, 0), queue.queue_id + 1)
        return [TopicConfig(name, count, count) for name, count in sorted(queues.items())]
