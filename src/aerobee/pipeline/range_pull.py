"""One range of a queue, pulled answer by answer.

The next answer is asked for before the last one is handed out, so that the broker reads and sends
while the caller decodes. A broker that knows bulk reads answers with a megabyte at a time, any
other as it always does.

P1. What is handed out is in order, and whole up to the end of the range; a gap is either what the
    filter leaves out, or it is loss, and loss is an error unless it was allowed.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import NamedTuple

from aerobee.client.session import Session
from aerobee.errors import AerobeeError, NoAnswer, Retriable
from aerobee.model.subscription import BY_SQL, BY_TAG
from aerobee.pipeline.offset_ranges import QueueRange
from aerobee.pipeline.options import SourceOptions
from aerobee.pipeline.queues import address_of
from aerobee.protocol.declared_header import read_header, write_header
from aerobee.protocol.headers.pulling import SUBSCRIPTION, PullAnswerHeader, PullHeader
from aerobee.protocol.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

_log = logging.getLogger(__name__)

READER_GROUP = "AEROBEE_PIPELINE"
"""Of reads that name no group: brokers want one."""
PULL_MESSAGES = 32_768


class DataLoss(AerobeeError):
    """Messages that a query was to read are not there any more."""


class Pulled(NamedTuple):
    """Records, and from which offset on the queue goes on behind them."""

    records: bytes
    next_offset: int


class RangePull:
    def __init__(self, session: Session, options: SourceOptions, wanted: QueueRange) -> None:
        self._session = session
        self._options = options
        self._wanted = wanted

    async def answers(self) -> AsyncIterator[Pulled]:
        offset = self._wanted.start
        coming = asyncio.ensure_future(self._pull(offset))
        try:
            while offset < self._wanted.end:
                pulled = await coming
                if pulled.next_offset < self._wanted.end:
                    coming = asyncio.ensure_future(self._pull(pulled.next_offset))
                    await asyncio.sleep(0)  # on its way, before the caller keeps us busy
                    await asyncio.sleep(0)
                if pulled.records:
                    yield pulled
                offset = pulled.next_offset
        finally:
            coming.cancel()

    async def _pull(self, offset: int) -> Pulled:
        """The answer at an offset; asked again, with patience, if there is none."""
        options = self._options
        for attempt in range(options.retries):
            try:
                return await self._pull_once(offset)
            except (NoAnswer, Retriable) as error:
                _log.info("%s at %d is asked again: %s", self._wanted.key, offset, error)
                await asyncio.sleep(options.retry_seconds * 2**attempt)
        return await self._pull_once(offset)

    async def _pull_once(self, offset: int) -> Pulled:
        key = self._wanted.key
        options = self._options
        header = PullHeader(
            options.group or READER_GROUP,
            key.topic,
            key.queue_id,
            offset,
            min(PULL_MESSAGES, self._wanted.end - offset),
            sys_flag=SUBSCRIPTION,
            subscription=options.sql or options.tags,
            expression_type=BY_SQL if options.sql else BY_TAG,
            is_bulk=True,
        )
        command = RemotingCommand(RequestCode.PULL_MESSAGE, ext_fields=write_header(header))
        address = await address_of(self._session, key)
        answer = await self._session.ask(address, command)
        error = error_for(answer.code, answer.remark)
        if error is not None:
            raise error
        said = read_header(PullAnswerHeader, answer.ext_fields)
        if answer.code == ResponseCode.SUCCESS:
            return Pulled(bytes(answer.body), said.next_begin_offset)
        if answer.code == ResponseCode.PULL_RETRY_IMMEDIATELY and said.next_begin_offset > offset:
            return Pulled(b"", said.next_begin_offset)
        return self._lost(offset, said)

    def _lost(self, offset: int, said: PullAnswerHeader) -> Pulled:
        """The queue does not have what is wanted. It goes on where it does."""
        end = self._wanted.end
        on = min(max(said.next_begin_offset, said.min_offset), end)
        if on <= offset:
            on = end  # it ends before the range does
        message = (
            f"{self._wanted.key} has lost [{offset}, {on}): it holds "
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
