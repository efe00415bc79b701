"""QUERY_CONSUMER_OFFSET, UPDATE_CONSUMER_OFFSET and the offsets of queues by position and time.

A group without an offset begins where its client decides; but in a queue that still has its first
message, and that is recent, it begins there: an application that sends and then subscribes misses
nothing.

A commit for a group that never sent a heartbeat makes the group if that is allowed: commits are
one-way, and would be lost silently.
"""

from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    MaxOffsetHeader,
    OffsetAnswerHeader,
    QueryOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
    StoreTimeAnswerHeader,
)
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.json_text import write_standard
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.consumer_offsets import NO_ROOM, UNKNOWN, ConsumerOffsets
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import OK, Answer, Request
from aerobee.storage.read.time_search import Boundary

EMPTY_BATCH_QUEUE = -1
"""The smallest offset of a batch queue that never had a message: RocketMQ's tools know it so."""


class OffsetHandlers:
    def __init__(
        self, offsets: ConsumerOffsets, queues: QueueFacts, topics: Topics, groups: Groups
    ) -> None:
        self._offsets = offsets
        self._queues = queues
        self._topics = topics
        self._groups = groups

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.CLIENT
        return [
            row(code.QUERY_CONSUMER_OFFSET, QueryOffsetHeader, self._query, lane),
            row(code.UPDATE_CONSUMER_OFFSET, CommitOffsetHeader, self._commit, lane),
            row(code.SEARCH_OFFSET_BY_TIMESTAMP, SearchOffsetHeader, self._search, lane),
            row(code.GET_MAX_OFFSET, MaxOffsetHeader, self._max, lane),
            row(code.GET_MIN_OFFSET, QueueHeader, self._min, lane),
            row(code.GET_EARLIEST_MSG_STORETIME, QueueHeader, self._earliest, lane),
            row(code.GET_ALL_CONSUMER_OFFSET, NoHeader, self._all, Lane.ADMIN),
        ]

    def _query(self, request: Request, header: QueryOffsetHeader) -> Answer:
        offset = self._offsets.find(header.consumer_group, header.topic, header.queue_id)
        if (
            offset == UNKNOWN
            and header.set_zero_if_not_found
            and self._queues.is_young(header.topic, header.queue_id)
        ):
            offset = 0
        if offset == UNKNOWN:
            return Answer(
                ResponseCode.QUERY_NOT_FOUND,
                "Not found: the group has not consumed of this queue yet",
            )
        return _offset(offset)

    def _commit(self, request: Request, header: CommitOffsetHeader) -> Answer:
        group, topic, queue_id = header.consumer_group, header.topic, header.queue_id
        if not group or not topic or queue_id is None or header.commit_offset is None:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                "consumerGroup, topic, queueId and commitOffset must all be there",
            )
        # Before the group is made: it is not made for a topic that does not exist.
        config = self._topics.find(topic)
        if config is None:
            return Answer(ResponseCode.TOPIC_NOT_EXIST, f"Topic {topic[:255]} not exist!")
        if not 0 <= queue_id < max(
            config.read_queues, config.write_queues
        ) and not self._queues.exists(topic, queue_id):
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"queueId[{queue_id}] is illegal, topic:[{topic}] has {config.read_queues} queues",
            )
        if self._groups.ensure(group, request.now) is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"Group {group[:255]} not exist!"
            )
        end = self._queues.max_offset(topic, queue_id)
        self._offsets.commit(group, topic, queue_id, header.commit_offset, end)
        if self._offsets.find(group, topic, queue_id) == UNKNOWN:
            return Answer(ResponseCode.SYSTEM_ERROR, NO_ROOM)
        return OK

    def _search(self, request: Request, header: SearchOffsetHeader) -> Answer:
        is_upper = header.boundary_type.upper() == Boundary.UPPER.value
        return _offset(
            self._queues.offset_at(
                header.topic,
                header.queue_id,
                header.timestamp,
                Boundary.UPPER if is_upper else Boundary.LOWER,
            )
        )

    def _max(self, request: Request, header: MaxOffsetHeader) -> Answer:
        end = self._queues.max_offset if header.committed else self._queues.next_offset
        return _offset(end(header.topic, header.queue_id))

    def _min(self, request: Request, header: QueueHeader) -> Answer:
        topic, queue_id = header.topic, header.queue_id
        config = self._topics.find(topic)
        if (
            config is not None
            and config.has_batch_queues
            and not self._queues.exists(topic, queue_id)
        ):
            return _offset(EMPTY_BATCH_QUEUE)
        return _offset(self._queues.min_offset(topic, queue_id))

    def _earliest(self, request: Request, header: QueueHeader) -> Answer:
        stored_ms = self._queues.earliest_ms(header.topic, header.queue_id)
        return Answer(fields=write_header(StoreTimeAnswerHeader(stored_ms)))

    def _all(self, request: Request, header: NoHeader) -> Answer:
        # Apache's slave reads bare numbers as keys where it knows the member, and fails to skip
        # `pullOffsetTable`, which it does not know.
        return Answer(body=write_standard(self._offsets.picture().json()))


def _offset(offset: int) -> Answer:
    return Answer(fields=write_header(OffsetAnswerHeader(offset)))
