"""GET_CONSUME_STATS, GET_BROKER_CONSUME_STATS, QUERY_CONSUME_TIME_SPAN: progress of groups by
queue.

A topic that an online group does not subscribe to any more is left out, unless it is asked for by
name: its old offsets would be a lag that never shrinks.
"""

from collections.abc import Iterable

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.consume_stats import (
    ConsumeProgress,
    ConsumeStats,
    TimeSpan,
    encode_consume_stats,
    encode_consume_stats_list,
    encode_time_spans,
)
from aerobee.protocol.headers.group_status import (
    BrokerConsumeStatsHeader,
    ConsumeStatsHeader,
    GroupTopicHeader,
)
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.queue_facts import NEVER, QueueFacts
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.request import Answer, Request


class GroupStatusHandlers:
    def __init__(
        self,
        identity: BrokerIdentity,
        offsets: ConsumerOffsets,
        queues: QueueFacts,
        topics: Topics,
        groups: Groups,
        consumers: Consumers,
        statistics: Statistics,
    ) -> None:
        self._identity = identity
        self._offsets = offsets
        self._queues = queues
        self._topics = topics
        self._groups = groups
        self._consumers = consumers
        self._statistics = statistics

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.GET_CONSUME_STATS, ConsumeStatsHeader, self._stats, lane),
            row(code.GET_BROKER_CONSUME_STATS, BrokerConsumeStatsHeader, self._all, lane),
            row(code.QUERY_CONSUME_TIME_SPAN, GroupTopicHeader, self._time_span, lane),
        ]

    def _stats(self, request: Request, header: ConsumeStatsHeader) -> Answer:
        group = header.consumer_group
        if header.topic_list:
            topics = self._existing(header.topic_list.split(";"))
        elif header.topic:
            topics = self._wanted(group, [header.topic])
        else:
            topics = self._wanted(group, self._offsets.topics_of(group))
        queues: dict[MessageQueue, ConsumeProgress] = {}
        tps = 0.0
        for topic in topics:
            stats = self._progress(request, group, topic)
            queues.update(stats.queues)
            tps += stats.tps
        return Answer(body=encode_consume_stats(ConsumeStats(queues, tps)))

    def _all(self, request: Request, header: BrokerConsumeStatsHeader) -> Answer:
        # Once for all groups: a search for each group would take groups times offsets.
        topics = self._offsets.topics_by_group()
        groups = [
            (
                config.name,
                [
                    self._progress(request, config.name, topic)
                    for topic in self._wanted(config.name, topics.get(config.name, ()))
                    if topic.is_order or not header.is_order
                ],
            )
            for config in self._groups.all()
        ]
        return Answer(body=encode_consume_stats_list(groups, self._identity.address))

    def _time_span(self, request: Request, header: GroupTopicHeader) -> Answer:
        topic = self._topics.find(header.topic)
        if topic is None:
            return Answer(ResponseCode.TOPIC_NOT_EXIST, f"topic[{header.topic[:255]}] not exist")
        spans = [
            self._span(header.group, queue, request.now.wall_ms)
            for queue in self._queues_of(topic.name, topic.write_queues)
        ]
        return Answer(body=encode_time_spans(spans))

    def _existing(self, names: Iterable[str]) -> list[TopicConfig]:
        return [topic for name in names if (topic := self._topics.find(name)) is not None]

    def _wanted(self, group: str, names: Iterable[str]) -> list[TopicConfig]:
        """The topics that exist and that the group, if it is online, subscribes to."""
        online = self._consumers.find(group)
        subscribed = online.subscriptions if online is not None else {}
        return [
            topic for topic in self._existing(names) if not subscribed or topic.name in subscribed
        ]

    def _progress(self, request: Request, group: str, topic: TopicConfig) -> ConsumeStats:
        queues = {}
        for queue in self._queues_of(topic.name, topic.read_queues):
            consumed = self._offsets.find(group, topic.name, queue.queue_id)
            if not self._topics.mappings.has(topic.name):
                # Of a static topic it says whether the offset is that of an older queue.
                consumed = max(0, consumed)
            queues[queue] = ConsumeProgress(
                self._queues.max_offset(topic.name, queue.queue_id),
                consumed,
                max(0, self._offsets.find_pulled(group, topic.name, queue.queue_id)),
                self._stored_ms(queue, consumed - 1),
            )
        tps = self._statistics.get_tps(group, topic.name, request.now)
        return ConsumeStats(queues, tps)

    def _span(self, group: str, queue: MessageQueue, wall_ms: int) -> TimeSpan:
        consumed = self._offsets.find(group, queue.topic, queue.queue_id)
        end = self._queues.max_offset(queue.topic, queue.queue_id)
        earliest = self._queues.earliest_ms(queue.topic, queue.queue_id)
        waits_since = self._stored_ms(queue, consumed)
        return TimeSpan(
            queue,
            earliest,
            self._queues.stored_ms(queue.topic, queue.queue_id, end - 1),
            self._stored_ms(queue, consumed - 1) if consumed > 0 else earliest,
            wall_ms - waits_since if 0 <= consumed < end and waits_since > 0 else 0,
        )

    def _stored_ms(self, queue: MessageQueue, offset: int) -> int:
        """The store timestamp of a message; 0 if there is none, as tools expect it."""
        stored_ms = self._queues.stored_ms(queue.topic, queue.queue_id, offset)
        return 0 if stored_ms == NEVER else stored_ms

    def _queues_of(self, topic: str, count: int) -> list[MessageQueue]:
        return [
            MessageQueue(topic, self._identity.name, QueueId(number)) for number in range(count)
        ]
