"""Requests about offsets of a logical queue, as requests about its physical queues.

query        of the newest part that has an offset of the group, then of older ones (RocketMQ's
             "double read check"): commits are not copied when a queue is moved
commit       to the part that has the offset
max, min     of the newest and of the oldest part that can be read
time         of the part that has a message of that time
first stored time    of the oldest part that has a message
"""

from dataclasses import replace

from aerobee.model.queue_mapping import MappingItem, decided_items, find_item
from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    MaxOffsetHeader,
    OffsetAnswerHeader,
    QueryOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
    StoreTimeAnswerHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.translation import (
    Ask,
    AskedOffset,
    LogicalQueue,
    Translation,
    ask_offset,
    undecided,
)
from aerobee.service.request import Answer
from aerobee.storage.read.time_search import Boundary


def query_offset(queue: LogicalQueue, header: QueryOffsetHeader) -> Translation:
    items = decided_items(queue.chain)
    is_as_physical = len(queue.chain) == 1 and queue.chain[0].logic_offset == 0
    for item in reversed(items):
        wanted = replace(header, queue_id=item.queue_id)
        if not is_as_physical:
            wanted = replace(wanted, set_zero_if_not_found=False)
        offset = yield from ask_offset(Ask(item.broker, RequestCode.QUERY_CONSUMER_OFFSET, wanted))
        if not isinstance(offset, Answer):
            return _offset(item.logical(offset))
        if offset.code is not ResponseCode.QUERY_NOT_FOUND:
            return offset
    return Answer(
        ResponseCode.QUERY_NOT_FOUND, "Not found: the group has not consumed of this queue yet"
    )


def commit_offset(queue: LogicalQueue, header: CommitOffsetHeader) -> Translation:
    offset = header.commit_offset
    item = find_item(queue.chain, offset) if offset is not None else queue.chain[-1]
    if item is None:
        return undecided(queue)
    # Before the oldest part, which was behind others when the offset was handed out: its start.
    physical = None if offset is None else max(item.start_offset, item.physical(offset))
    wanted = replace(header, queue_id=item.queue_id, commit_offset=physical)
    answer = yield Ask(item.broker, RequestCode.UPDATE_CONSUMER_OFFSET, wanted)
    return answer


def max_offset(queue: LogicalQueue, header: MaxOffsetHeader) -> Translation:
    items = decided_items(queue.chain)
    if not items:
        return undecided(queue)
    item = items[-1]
    wanted = replace(header, queue_id=item.queue_id)
    offset = yield from ask_offset(Ask(item.broker, RequestCode.GET_MAX_OFFSET, wanted))
    return offset if isinstance(offset, Answer) else _offset(item.logical(offset))


def min_offset(queue: LogicalQueue, header: QueueHeader) -> Translation:
    items = decided_items(queue.chain)
    if not items:
        return undecided(queue)
    item = items[0]
    wanted = replace(header, queue_id=item.queue_id)
    offset = yield from ask_offset(Ask(item.broker, RequestCode.GET_MIN_OFFSET, wanted))
    return offset if isinstance(offset, Answer) else _offset(item.logical_or_undecided(offset))


def search_offset(queue: LogicalQueue, header: SearchOffsetHeader) -> Translation:
    items = decided_items(queue.chain)
    if header.boundary_type.upper() == Boundary.UPPER.value:
        items.reverse()
    answer = undecided(queue)
    for item in items:
        wanted = replace(header, queue_id=item.queue_id)
        offset = yield from ask_offset(
            Ask(item.broker, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, wanted)
        )
        if isinstance(offset, Answer):
            return offset
        answer = _offset(item.logical(offset))
        is_there = item is items[-1] or (yield from _has_time(item, header, offset))
        if isinstance(is_there, Answer):
            return is_there
        if is_there:
            break
    return answer


def _has_time(item: MappingItem, header: SearchOffsetHeader, offset: int) -> AskedOffset:
    """Whether a part has a message stored at or after the time; for the upper boundary, at or
    before it."""
    queue = QueueHeader(header.topic, item.queue_id)
    if header.boundary_type.upper() == Boundary.UPPER.value:
        answer = yield Ask(item.broker, RequestCode.GET_EARLIEST_MSG_STORETIME, queue)
        if answer.code is not ResponseCode.SUCCESS:
            return answer
        return (
            0
            <= read_header(StoreTimeAnswerHeader, answer.fields or {}).timestamp
            <= (header.timestamp)
        )
    wanted = MaxOffsetHeader(header.topic, item.queue_id)
    end = yield from ask_offset(Ask(item.broker, RequestCode.GET_MAX_OFFSET, wanted))
    return end if isinstance(end, Answer) else offset < end


def earliest_time(queue: LogicalQueue, header: QueueHeader) -> Translation:
    answer = undecided(queue)
    for item in decided_items(queue.chain):
        wanted = replace(header, queue_id=item.queue_id)
        answer = yield Ask(item.broker, RequestCode.GET_EARLIEST_MSG_STORETIME, wanted)
        if answer.code is not ResponseCode.SUCCESS:
            break
        if read_header(StoreTimeAnswerHeader, answer.fields or {}).timestamp >= 0:
            break
    return answer


def _offset(offset: int) -> Answer:
    return Answer(fields=write_header(OffsetAnswerHeader(offset)))
