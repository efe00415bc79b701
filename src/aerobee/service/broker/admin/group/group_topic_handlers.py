"""Requests about groups and topics: who consumes a topic, the topics and subscriptions of a group.

Answered from online members and from committed offsets. Two old requests about offsets are here as
well: CLONE_GROUP_OFFSET, and QUERY_CORRECTION_OFFSET, which compares groups.
"""

from aerobee.protocol.bodies.group_offsets import (
    encode_correction,
    encode_group_list,
    encode_group_subscription,
)
from aerobee.protocol.bodies.small_tables import encode_topic_list
from aerobee.protocol.headers.group_status import (
    CloneOffsetsHeader,
    CorrectionHeader,
    GroupTopicHeader,
)
from aerobee.protocol.headers.groups import GroupHeader
from aerobee.protocol.headers.topics import TopicHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.groups import Groups
from aerobee.service.request import OK, Answer, Request

_INT64_MAX = 2**63 - 1


class GroupTopicHandlers:
    def __init__(
        self,
        identity: BrokerIdentity,
        offsets: ConsumerOffsets,
        queues: QueueFacts,
        groups: Groups,
        consumers: Consumers,
    ) -> None:
        self._identity = identity
        self._offsets = offsets
        self._queues = queues
        self._groups = groups
        self._consumers = consumers

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.QUERY_TOPIC_CONSUME_BY_WHO, TopicHeader, self._groups_of, lane),
            row(code.QUERY_TOPICS_BY_CONSUMER, GroupHeader, self._topics_of, lane),
            row(code.QUERY_SUBSCRIPTION_BY_CONSUMER, GroupTopicHeader, self._show, lane),
            row(code.CLONE_GROUP_OFFSET, CloneOffsetsHeader, self._clone, lane),
            row(code.QUERY_CORRECTION_OFFSET, CorrectionHeader, self._correction, lane),
        ]

    def _groups_of(self, request: Request, header: TopicHeader) -> Answer:
        online = self._consumers.groups_of(header.topic)
        known = self._offsets.groups_of(header.topic)
        return Answer(body=encode_group_list(sorted({*online, *known})))

    def _topics_of(self, request: Request, header: GroupHeader) -> Answer:
        topics = self._offsets.topics_of(header.group)
        return Answer(body=encode_topic_list(topics, self._identity.address))

    def _show(self, request: Request, header: GroupTopicHeader) -> Answer:
        group = self._consumers.find(header.group)
        found = group.subscriptions.get(header.topic) if group is not None else None
        return Answer(body=encode_group_subscription(header.group, header.topic, found))

    def _clone(self, request: Request, header: CloneOffsetsHeader) -> Answer:
        if self._groups.ensure(header.dest_group, request.now) is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"the group {header.dest_group[:255]} does not exist, and may not be made",
            )
        source = header.src_group
        topics = [header.topic] if header.topic else self._offsets.topics_of(source)
        online = self._consumers.find(source)
        for topic in topics:
            if header.offline or online is None or topic in online.subscriptions:
                self._offsets.clone(source, header.dest_group, topic)
        return OK

    def _correction(self, request: Request, header: CorrectionHeader) -> Answer:
        """The lowest committed offset of the groups by queue; the largest int64 where the compared
        group is ahead of it."""
        left_out = header.filter_groups.split(",")
        least: dict[int, int] = {}
        for group in self._offsets.groups_of(header.topic):
            if group not in left_out:
                for queue_id, offset in self._offsets.of(group, header.topic).items():
                    if offset >= self._queues.min_offset(header.topic, queue_id):
                        least[queue_id] = min(offset, least.get(queue_id, offset))
        for queue_id, offset in self._offsets.of(header.compare_group, header.topic).items():
            if queue_id in least and offset > least[queue_id]:
                least[queue_id] = _INT64_MAX
        return Answer(body=encode_correction(least))
