"""RangePull pulls the messages of a range of a queue, answer by answer.

The next answer is requested before the last one is returned, so that the broker reads and sends
while the caller decodes. With several ranges, the first answers of a few ranges are requested
ahead: many small ranges share one round trip. A broker that supports bulk reads answers with a
megabyte at a time, others with an ordinary pull.

P1. Messages are returned in order, and completely up to the end of the range. A gap is either left
    by the filter, or it is data loss, which is an error unless it was allowed.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import NamedTuple

from aerobee.client.connection.remote_call import ask_well
from aerobee.client.connection.session import Session
from aerobee.client.group.group_requests import GroupRequests
from aerobee.errors import AerobeeError
from aerobee.model.subscription import BY_SQL, BY_TAG
from aerobee.pipeline.source.offset_ranges import QueueRange
from aerobee.pipeline.source.source_options import SourceOptions
from aerobee.pipeline.spark.worker_client import insisting
from aerobee.protocol.headers.pulling import SUBSCRIPTION, PullAnswerHeader, PullHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_log = logging.getLogger(__name__)

READER_GROUP = "AEROBEE_PIPELINE"
"""Of reads that name no group: brokers want one."""
PULL_MESSAGES = 32_768
RANGES_AHEAD = 8
"""So many ranges have their first answer on its way."""


class DataLoss(AerobeeError):
    """Messages that a query was to read were deleted."""


class Pulled(NamedTuple):
    """Records, and the offset at which the queue goes on after them."""

    records: bytes
    next_offset: int


class RangePull:
    def __init__(self, session: Session, options: SourceOptions, wanted: QueueRange) -> None:
        self._session = session
        self._options = options
        self._wanted = wanted
        self._calls = GroupRequests(session, options.group or READER_GROUP)
        self._coming: asyncio.Future[Pulled] | None = None

    def begin(self) -> None:
        """Send the first request."""
        if self._coming is None and self._wanted.size > 0:
            self._coming = asyncio.ensure_future(self._pull(self._wanted.start))

    async def answers(self) -> AsyncIterator[Pulled]:
        self.begin()
        offset = self._wanted.start
        try:
            while offset < self._wanted.end:
                assert self._coming is not None
                pulled = await self._coming
                if pulled.next_offset < self._wanted.end:
                    self._coming = asyncio.ensure_future(self._pull(pulled.next_offset))
                    await asyncio.sleep(0)  # on its way, before the caller keeps us busy
                    await asyncio.sleep(0)
                if pulled.records:
                    yield pulled
                offset = pulled.next_offset
        finally:
            self.end()

    def end(self) -> None:
        """Cancel the pending request."""
        coming = self._coming
        if coming is not None and not coming.cancel() and not coming.cancelled():
            coming.exception()  # asked for, so that it is not told to the log

    async def _pull(self, offset: int) -> Pulled:
        """Return the answer at an offset; the request is repeated if there is none."""
        options = self._options
        return await insisting(
            lambda: self._pull_once(offset), options.retries, options.retry_seconds
        )

    async def _pull_once(self, offset: int) -> Pulled:
        queue = self._wanted.queue
        options = self._options
        header = PullHeader(
            self._calls.group,
            queue.topic,
            queue.queue_id,
            offset,
            min(PULL_MESSAGES, self._wanted.end - offset),
            sys_flag=SUBSCRIPTION,
            subscription=options.sql or options.tags,
            expression_type=BY_SQL if options.sql else BY_TAG,
            is_bulk=True,
        )
        address = await self._calls.address(queue.topic, queue.broker_name)
        answer = await ask_well(self._session, address, RequestCode.PULL_MESSAGE, header)
        said = read_header(PullAnswerHeader, answer.ext_fields)
        if answer.code == ResponseCode.SUCCESS:
            return Pulled(bytes(answer.body), said.next_begin_offset)
        if answer.code == ResponseCode.PULL_RETRY_IMMEDIATELY and said.next_begin_offset > offset:
            return Pulled(b"", said.next_begin_offset)
        return self._lost(offset, said)

    def _lost(self, offset: int, said: PullAnswerHeader) -> Pulled:
        """Handle the loss of wanted messages: go on at the first offset that exists. DataLoss."""
        end = self._wanted.end
        on = min(max(said.next_begin_offset, said.min_offset), end)
        if on <= offset:
            on = end  # it ends before the range does
        message = (
            f"{self._wanted.queue} has lost [{offset}, {on}): it holds "
            f"[{said.min_offset}, {said.max_offset}) now"
        )
        if self._options.fails_on_loss:
            raise DataLoss(
                message,
                hint="retention has removed it, or the topic was made anew; "
                "failOnDataLoss=false goes on without",
            )
        _log.warning("%s", message)
        return Pulled(b"", on)


async def answers_of(
    session: Session, options: SourceOptions, ranges: Sequence[QueueRange]
) -> AsyncGenerator[tuple[QueueRange, Pulled], None]:
    """Yield the answers of one range after the other."""
    pulls = [RangePull(session, options, wanted) for wanted in ranges]
    try:
        for index, wanted in enumerate(ranges):
            for pull in pulls[index : index + RANGES_AHEAD]:
                pull.begin()
            async for pulled in pulls[index].answers():
                yield wanted, pulled
    finally:
        for pull in pulls:
            pull.end()
