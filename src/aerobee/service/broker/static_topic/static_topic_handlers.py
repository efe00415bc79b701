"""UPDATE_AND_CREATE_STATIC_TOPIC: makes or changes a static topic on this broker.

A topic that is new here gets its mapping before its configuration: a crash between the two leaves
no topic, never one whose logical queues are taken for physical ones. A topic that is known gets new
queues before they are mapped. Either way the tool's next plan goes on from what a crash left. The
version of the topics is moved last, because name servers and slaves take a change only with a
version that they have not seen. Then name servers are told, and the change is answered.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from aerobee.model.mapping_rules import find_mapping_fault
from aerobee.model.queue_mapping import TopicMapping
from aerobee.model.topic import QUEUES_MAX, TopicConfig
from aerobee.protocol.bodies.queue_mapping import decode_mapping
from aerobee.protocol.headers.topics import CreateStaticTopicHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.topic_faults import find_config_fault
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request

Announce: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls back once name servers have been told of the changes."""


class StaticTopicHandlers:
    def __init__(
        self,
        topics: Topics,
        identity: BrokerIdentity,
        announce: Announce,
    ) -> None:
        self._mappings = topics.mappings
        self._topics = topics
        self._identity = identity
        self._announce = announce

    def rows(self) -> list[Row]:
        return [
            row(
                RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,
                CreateStaticTopicHeader,
                self._make,
                Lane.ADMIN,
            )
        ]

    def _make(self, request: Request, header: CreateStaticTopicHeader) -> Answer | None:
        wanted = TopicConfig(
            header.topic,
            read_queues=header.read_queue_nums,
            write_queues=header.write_queue_nums,
            permission=header.perm,
            sys_flag=header.topic_sys_flag,
            is_order=header.order,
            filter_type=header.topic_filter_type,
        )
        mapping = decode_mapping(request.body)
        fault = (
            find_config_fault(wanted, self._identity)
            or find_mapping_fault(mapping, header.topic, self._identity.name, QUEUES_MAX)
            or _find_queue_fault(mapping, wanted)
        )
        if fault is not None:
            return Answer(ResponseCode.INVALID_PARAMETER, fault)

        def refused(error: BaseException) -> None:
            request.answer(Answer(ResponseCode.SYSTEM_ERROR, str(error)))

        def configured(error: BaseException | None) -> None:
            if error is not None:
                refused(error)
            else:
                self._announce(lambda: request.answer_when_saved(None))

        def mapped(error: BaseException | None) -> None:
            if error is not None:
                refused(error)
            else:
                self._topics.put_anew(wanted, request.now, configured)

        def prepared(error: BaseException | None) -> None:
            if error is not None:
                refused(error)
            else:
                self._mappings.put(mapping, request.now, mapped, is_forced=header.force)

        if self._mappings.has(header.topic):
            # No more than that: the mapping may still be refused.
            self._topics.edit(lambda find: _grown(find(wanted.name), wanted), request.now, prepared)
        else:
            prepared(None)
        return None


def _grown(known: TopicConfig | None, wanted: TopicConfig) -> list[TopicConfig]:
    """The known topic with the queues that are wanted, and no fewer than it has."""
    if known is None:
        return []
    return [
        replace(
            known,
            read_queues=max(known.read_queues, wanted.read_queues),
            write_queues=max(known.write_queues, wanted.write_queues),
        )
    ]


def _find_queue_fault(mapping: TopicMapping, config: TopicConfig) -> str | None:
    queues = min(config.read_queues, config.write_queues)
    for number, queue_id in mapping.info().led.items():
        if queue_id >= queues:
            return (
                f"queue {number} is mapped to the physical queue {queue_id}, but the topic has "
                f"{queues} here"
            )
    return None
