"""GET_TOPIC_STATS_INFO: offsets and last store time of a topic's queues, and its put rate.

The rate is over the last minute.
"""

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.topic_stats import QueueStats, encode_topic_stats
from aerobee.protocol.headers.topics import TopicHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.topics import Topics
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.request import Answer, Request


class TopicStatsHandlers:
    def __init__(
        self,
        topics: Topics,
        queues: QueueFacts,
        identity: BrokerIdentity,
        statistics: Statistics,
    ) -> None:
        self._topics = topics
        self._queues = queues
        self._identity = identity
        self._statistics = statistics

    def rows(self) -> list[Row]:
        return [row(RequestCode.GET_TOPIC_STATS_INFO, TopicHeader, self._stats, Lane.ADMIN)]

    def _stats(self, request: Request, header: TopicHeader) -> Answer:
        topic = header.topic
        config = self._topics.find(topic)
        if config is None:
            return Answer(ResponseCode.TOPIC_NOT_EXIST, f"topic[{topic[:255]}] not exist")
        stats = {
            MessageQueue(topic, self._identity.name, QueueId(queue_id)): self._queue_stats(
                topic, queue_id
            )
            for queue_id in range(max(config.read_queues, config.write_queues))
        }
        return Answer(body=encode_topic_stats(stats, self._statistics.put_tps(topic, request.now)))

    def _queue_stats(self, topic: str, queue_id: int) -> QueueStats:
        end = self._queues.max_offset(topic, queue_id)
        stored_ms = self._queues.stored_ms(topic, queue_id, end - 1) if end > 0 else 0
        return QueueStats(self._queues.min_offset(topic, queue_id), end, max(0, stored_ms))
