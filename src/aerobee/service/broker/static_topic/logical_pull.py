"""PULL_MESSAGE of a logical queue: the pull of the part that has its offset, and the way from one
part to the next.

    answer of the physical queue          the leader      an older part
    ──────────────────────────────        ──────────      ─────────────────────────────
    found                                 found           found
    behind the end                        moved           go on in the next part
    at the end                            not found       go on in the next part
    before the first message              moved if it is the oldest part, else come again

Records keep their physical offsets: the answer has `offsetDelta`, which the client adds. A reader
goes on in the next part only if the queue that it leaves has nothing that is not visible yet; its
broker takes no more for it since the next part has an offset.

An offset that the pull commits is committed as by a request of its own: it may belong to another
part.
"""

from dataclasses import replace
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.queue_mapping import MappingItem, decided_items, find_item, find_next
from aerobee.protocol.headers.offsets import CommitOffsetHeader, MaxOffsetHeader
from aerobee.protocol.headers.pulling import (
    COMMIT_OFFSET,
    SUSPEND,
    PullAnswerHeader,
    PullHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.logical_offsets import commit_offset
from aerobee.service.broker.static_topic.translation import (
    Ask,
    LogicalQueue,
    Translation,
    ask_offset,
    undecided,
)
from aerobee.service.request import Answer

_WITH_OFFSETS = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)


class _Verdict(NamedTuple):
    """The outcome of a pull that found nothing."""

    code: ResponseCode
    next_offset: int
    """Physical."""


def pull(queue: LogicalQueue, header: PullHeader) -> Translation:
    item = find_item(queue.chain, header.queue_offset)
    if item is None:
        return undecided(queue)
    if header.sys_flag & COMMIT_OFFSET:
        group, topic, number = header.consumer_group, header.topic, header.queue_id
        committed = CommitOffsetHeader(group, topic, number, header.commit_offset)
        yield from commit_offset(queue, committed)
    # A message can only come to the leader: a pull of an older part does not wait for one.
    may_wait = item is queue.chain[-1]
    asked = replace(
        header,
        queue_id=item.queue_id,
        queue_offset=item.physical(header.queue_offset),
        sys_flag=header.sys_flag & ~(COMMIT_OFFSET if may_wait else COMMIT_OFFSET | SUSPEND),
        commit_offset=0,
    )
    answer = yield Ask(item.broker, RequestCode.PULL_MESSAGE, asked)
    if answer.code not in _WITH_OFFSETS:
        return answer
    try:
        said = read_header(PullAnswerHeader, answer.fields or {})
    except RemoteProtocolError as error:
        return Answer(ResponseCode.SYSTEM_ERROR, f"{item.broker}: {error.message}")
    if answer.code is ResponseCode.SUCCESS:
        return _shown(queue, item, answer, said)
    later = find_next(queue.chain, item)
    if later is not None and asked.queue_offset >= said.max_offset:
        left = MaxOffsetHeader(queue.topic, item.queue_id, committed=False)
        end = yield from ask_offset(Ask(item.broker, RequestCode.GET_MAX_OFFSET, left))
        if isinstance(end, Answer):
            return end
        if end <= asked.queue_offset:
            return _at_border(queue, later, answer, said)
        answer = answer._replace(code=ResponseCode.PULL_NOT_FOUND)
        return _shown(queue, item, answer, replace(said, next_begin_offset=asked.queue_offset))
    verdict = _verdict(queue, item, asked.queue_offset, answer.code, said)
    said = replace(said, next_begin_offset=verdict.next_offset)
    return _shown(queue, item, answer._replace(code=verdict.code), said)


def _verdict(
    queue: LogicalQueue, item: MappingItem, asked: int, code: ResponseCode, said: PullAnswerHeader
) -> _Verdict:
    if asked < said.min_offset:
        is_oldest = item is decided_items(queue.chain)[0]
        again, moved = ResponseCode.PULL_RETRY_IMMEDIATELY, ResponseCode.PULL_OFFSET_MOVED
        return _Verdict(moved if is_oldest else again, said.min_offset)
    if item is queue.chain[-1]:
        return _Verdict(code, said.next_begin_offset)
    if asked >= said.max_offset:
        # The next part cannot be read yet: come again.
        return _Verdict(ResponseCode.PULL_NOT_FOUND, asked)
    again = ResponseCode.PULL_RETRY_IMMEDIATELY
    return _Verdict(
        again if code is ResponseCode.PULL_OFFSET_MOVED else code, said.next_begin_offset
    )


def _at_border(
    queue: LogicalQueue, later: MappingItem, answer: Answer, said: PullAnswerHeader
) -> Answer:
    """The answer that sends a reader to the first message of the next part."""
    start = later.start_offset
    here = replace(said, next_begin_offset=start, min_offset=start, max_offset=start)
    again = answer._replace(code=ResponseCode.PULL_RETRY_IMMEDIATELY)
    return _shown(queue, later, again, here)


def _shown(
    queue: LogicalQueue, item: MappingItem, answer: Answer, said: PullAnswerHeader
) -> Answer:
    """The answer with logical offsets."""
    next_offset = said.next_begin_offset
    if item.end_offset > item.start_offset:
        next_offset = min(next_offset, item.end_offset)
    shown = replace(
        said,
        # The replicas of the queue's leader, if they are not here, know nothing of this part.
        suggest_which_broker_id=said.suggest_which_broker_id if item is queue.chain[-1] else 0,
        next_begin_offset=item.logical(next_offset),
        min_offset=item.logical(said.min_offset),
        max_offset=max(item.logical(said.max_offset), queue.chain[-1].known_end()),
        offset_delta=item.delta,
    )
    return answer._replace(fields=write_header(shown))
