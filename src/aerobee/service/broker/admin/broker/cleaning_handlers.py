"""CLEAN_UNUSED_TOPIC, CLEAN_EXPIRED_CONSUMEQUEUE, DELETE_EXPIRED_COMMITLOG: cleaning by an
operator.

The last two have nothing to do: the store removes expired files by itself, at any hour, and queue
files go with the log files that they point into.

The first removes queues of unknown topics: an operator may have lost `topics.json`, or copied a
store without it. Queues with messages are kept in any case: creating the topic again makes them
readable, and deleting the topic by its name removes them. The answer says what was done; tools show
its code only, so it is logged, too.
"""

import logging
from collections.abc import Callable

from aerobee.model.names import LIGHT_QUEUE_PREFIX, is_system_topic
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

NAMES_SHOWN_MAX = 10


class CleaningHandlers:
    def __init__(
        self,
        topics: Topics,
        offsets: ConsumerOffsets,
        store: Store,
        identity: BrokerIdentity,
        delete_queues: Callable[[bytes], object],
    ) -> None:
        """`delete_queues` removes a topic's queues from the store."""
        self._topics = topics
        self._offsets = offsets
        self._store = store
        self._identity = identity
        self._delete_queues = delete_queues

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.CLEAN_UNUSED_TOPIC, NoHeader, self._unused, lane),
            row(code.CLEAN_EXPIRED_CONSUMEQUEUE, NoHeader, self._expired_queues, lane),
            row(code.DELETE_EXPIRED_COMMITLOG, NoHeader, self._expired_log, lane),
        ]

    def _unused(self, request: Request, header: NoHeader) -> Answer:
        kept: list[str] = []
        removed: list[str] = []
        for name, has_messages in self._unknown().items():
            if has_messages:
                kept.append(name)
                continue
            self._delete_queues(name.encode())
            self._offsets.remove_topic(name)
            removed.append(name)
        done = f"removed the queues of {len(removed)} unknown topics without messages"
        if kept:
            done += (
                f"; kept those of {len(kept)} unknown topics with messages ({_listed(kept)}): "
                "create them to read them, or delete them by name"
            )
        return _done(done)

    def _unknown(self) -> dict[str, bool]:
        """Topics that have queues and no config, and whether the queues have messages."""
        found: dict[str, bool] = {}
        for queue in self._store.queues():
            name = queue.topic.decode()
            if self._topics.find(name) is None and not self._is_kept(name):
                # Appended messages count, whether or not they can be read yet.
                has_messages = queue.next_offset > self._store.first_offset(queue)
                found[name] = found.get(name, False) or has_messages
        return found

    def _is_kept(self, name: str) -> bool:
        identity = self._identity
        return name.startswith(LIGHT_QUEUE_PREFIX) or is_system_topic(
            name, cluster=identity.cluster, broker=identity.name
        )

    def _expired_queues(self, request: Request, header: NoHeader) -> Answer:
        return _done("nothing to do: files of queues go with the log files that they lead into")

    def _expired_log(self, request: Request, header: NoHeader) -> Answer:
        return _done(
            "nothing to do: log files go when they expire, at any hour; "
            f"the log begins at {self._store.min_offset}"
        )


def _done(what: str) -> Answer:
    _log.info("cleaned up by request: %s", what)
    return Answer(remark=what)


def _listed(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:NAMES_SHOWN_MAX])
    more = len(names) - NAMES_SHOWN_MAX
    return f"{shown} and {more} more" if more > 0 else shown
