"""UPDATE_AND_CREATE_TOPIC, its list form, and DELETE_TOPIC_IN_BROKER.

A change is on the disk first, and answered when name servers have been told: a route that is looked
up next has the topic, or has it no more. With a topic are deleted its queues, the groups' offsets
in it, and the retry topics that popping it has made. A deletion is answered when it is complete on
the disk: no crash brings the messages back, and a topic that is made under the same name takes
messages at once.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from aerobee.model.names import (
    RETRY_PREFIX,
    find_topic_fault,
    pop_retry_topic,
)
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.topic_table import decode_topic_configs
from aerobee.protocol.headers.topics import CreateTopicHeader, TopicHeader
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.admin.table_pages import answer_change, invalid
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.attributes import edited_topic, parse_changes
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.topic_faults import (
    find_config_fault,
    is_system,
    system_conflict,
)
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request
from aerobee.storage.metadata.saved_value import Done

Announce: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls back once name servers have been told of the changes."""
DeleteMessages: TypeAlias = Callable[[Sequence[str], Done], object]
"""Deletes the messages of topics; calls back when they are gone from the disk."""


class TopicHandlers:
    def __init__(
        self,
        topics: Topics,
        offsets: ConsumerOffsets,
        identity: BrokerIdentity,
        delete_messages: DeleteMessages,
        set_cleanup: Callable[[TopicConfig], object],
        announce: Announce,
    ) -> None:
        """`set_cleanup` tells the store how to clean up a topic, `announce` calls back when name
        servers have been told."""
        self._topics = topics
        self._offsets = offsets
        self._identity = identity
        self._delete_messages = delete_messages
        self._set_cleanup = set_cleanup
        self._announce = announce

    def rows(self) -> list[Row]:
        lane = Lane.ADMIN
        code = RequestCode
        return [
            row(code.UPDATE_AND_CREATE_TOPIC, CreateTopicHeader, self._make, lane),
            row(code.UPDATE_AND_CREATE_TOPIC_LIST, NoHeader, self._make_many, lane),
            row(code.DELETE_TOPIC_IN_BROKER, TopicHeader, self._delete, lane),
        ]

    # Making and changing.

    def _make(self, request: Request, header: CreateTopicHeader) -> Answer | None:
        wanted = TopicConfig(
            header.topic,
            read_queues=header.read_queue_nums,
            write_queues=header.write_queue_nums,
            permission=header.perm,
            sys_flag=header.topic_sys_flag,
            is_order=header.order,
            filter_type=header.topic_filter_type,
            attributes=parse_changes(header.attributes),
        )
        return self._put(request, [wanted])

    def _make_many(self, request: Request, header: NoHeader) -> Answer | None:
        return self._put(request, decode_topic_configs(request.body))

    def _put(self, request: Request, wanted: Sequence[TopicConfig]) -> Answer | None:
        """Save all of the topics or none; their attributes are changes."""
        for config in wanted:
            fault = find_config_fault(config, self._identity)
            if fault is not None:
                return invalid(fault)
        answer = answer_change(request)

        def saved(error: BaseException | None) -> None:
            if error is not None:
                answer(error)
                return
            self._note([config.name for config in wanted])
            self._announce(lambda: answer(None))

        self._topics.edit(
            lambda find: [
                edited_topic(config, find(config.name), request.user) for config in wanted
            ],
            request.now,
            saved,
        )
        return None

    def _note(self, names: Sequence[str]) -> None:
        """Tell the store how the topics are cleaned up."""
        for name in names:
            config = self._topics.find(name)
            if config is not None:
                self._set_cleanup(config)

    def _is_system(self, name: str) -> bool:
        return is_system(name, self._identity)

    # Deleting.

    def _delete(self, request: Request, header: TopicHeader) -> Answer | None:
        topic = header.topic
        if not topic.strip():
            return invalid("The specified topic is blank.")
        if self._is_system(topic):
            return invalid(system_conflict(topic))
        # Names of newer pop retry topics have a plus, which is illegal in other names.
        fault = find_topic_fault(topic.replace("+", "_") if _is_retry(topic) else topic)
        if fault is not None:
            return invalid(fault)
        names = [topic, *self._pop_retry_topics(topic)]
        answer = answer_change(request)

        def removed(error: BaseException | None) -> None:
            if error is not None:
                answer(error)
                return
            for name in names:
                self._offsets.remove_topic(name)
            # The tool deletes it from the name servers next: an upload under way that still has
            # the topic would bring it back after that.
            self._delete_messages(names, lambda failure: self._announce(lambda: answer(failure)))

        def unmapped(error: BaseException | None) -> None:
            if error is not None:
                answer(error)
            else:
                self._topics.remove(names, request.now, removed)

        # First: a mapping without its topic would be one of the next topic of this name.
        self._topics.mappings.remove([topic], request.now, unmapped)
        return None

    def _pop_retry_topics(self, topic: str) -> list[str]:
        """The pop retry topics of groups that have consumed it, by both name forms."""
        return [
            name
            for group in self._offsets.groups_of(topic)
            for name in (f"{RETRY_PREFIX}{group}+{topic}", pop_retry_topic(group, topic))
            if self._topics.find(name) is not None
        ]


def _is_retry(topic: str) -> bool:
    return topic.startswith(RETRY_PREFIX)
