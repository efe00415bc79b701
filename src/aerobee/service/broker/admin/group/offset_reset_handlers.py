"""INVOKE_BROKER_TO_RESET_OFFSET: an operator moves a group to a time or an offset, online or not.

Nothing is sent to the members: their commits are ignored until their next pull, which is answered
with the new offset. An offline group finds it when it starts.
"""

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.group_offsets import encode_reset_offsets
from aerobee.protocol.headers.group_status import UNSET, ResetOffsetHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request
from aerobee.storage.read.time_search import Boundary


class OffsetResetHandlers:
    def __init__(
        self,
        identity: BrokerIdentity,
        offsets: ConsumerOffsets,
        queues: QueueFacts,
        topics: Topics,
        groups: Groups,
    ) -> None:
        self._identity = identity
        self._offsets = offsets
        self._queues = queues
        self._topics = topics
        self._groups = groups

    def rows(self) -> list[Row]:
        return [
            row(
                RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
                ResetOffsetHeader,
                self._reset,
                Lane.ADMIN,
            )
        ]

    def _reset(self, request: Request, header: ResetOffsetHeader) -> Answer:
        topic = self._topics.find(header.topic)
        if topic is None:
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST, f"Topic {header.topic[:255]} does not exist"
            )
        if self._groups.find(header.group) is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"Group {header.group[:255]} does not exist",
            )
        targets = self._targets(topic, header)
        if isinstance(targets, Answer):
            return targets
        for queue_id, offset in targets.items():
            self._offsets.reset(header.group, topic.name, queue_id, offset)
        return Answer(
            body=encode_reset_offsets(
                {
                    MessageQueue(topic.name, self._identity.name, QueueId(queue_id)): offset
                    for queue_id, offset in targets.items()
                }
            )
        )

    def _targets(self, topic: TopicConfig, header: ResetOffsetHeader) -> dict[int, int] | Answer:
        """The new offset of each queue, or the answer that refuses the reset."""
        if header.queue_id < 0:
            return {
                queue_id: self._offset_at(topic.name, queue_id, header.timestamp)
                for queue_id in range(topic.read_queues)
            }
        if header.queue_id >= max(topic.read_queues, topic.write_queues):
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"queueId[{header.queue_id}] is illegal, topic:[{topic.name}] "
                f"has {topic.read_queues} queues",
            )
        if header.offset == UNSET:
            found = self._offset_at(topic.name, header.queue_id, header.timestamp)
            return {header.queue_id: found}
        low = self._queues.min_offset(topic.name, header.queue_id)
        high = self._queues.max_offset(topic.name, header.queue_id)
        if not low <= header.offset <= high + 1:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"Target offset {header.offset} not in consume queue range [{low}-{high}]",
            )
        # One beyond the end is accepted, as by Apache; the offset is cut to the end.
        return {header.queue_id: min(header.offset, high)}

    def _offset_at(self, topic: str, queue_id: int, time_ms: int) -> int:
        """The offset by time; for a time below 0, the end."""
        if time_ms < 0:
            return self._queues.max_offset(topic, queue_id)
        return self._queues.offset_at(topic, queue_id, time_ms, Boundary.LOWER)
