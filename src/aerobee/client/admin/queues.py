"""`QueueAdmin` reads queues without consuming: messages by offset, units, and previews of a pop.

Looking changes nothing: no offset is committed, no group joined. Messages come as the log holds
them, their bodies expanded and batches taken apart.
"""

from collections.abc import AsyncIterator
from dataclasses import replace

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.admin.offsets import OffsetAdmin
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue, QueueOffset
from aerobee.model.subscription import ALL, BY_TAG
from aerobee.protocol.bodies.queue_units import QueueUnits, decode_queue_units
from aerobee.protocol.headers.popping import (
    ANY_QUEUE,
    PeekHeader,
    PollingInfoAnswerHeader,
    PollingInfoHeader,
)
from aerobee.protocol.headers.pulling import SUBSCRIPTION, PullAnswerHeader, PullHeader
from aerobee.protocol.headers.status import QueueUnitsHeader
from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.message.tag_filter import tags_of
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

GROUP = "TOOLS_CONSUMER"
PULL_COUNT = 32
NO_LIMIT = 2**63 - 1


class QueueAdmin:
    def __init__(self, fan_out: FanOut, offsets: OffsetAdmin) -> None:
        self._fan_out = fan_out
        self._offsets = offsets

    async def at(self, queue: MessageQueue, offset: int) -> StoredMessage | None:
        async for message in self.read(queue, start=offset, limit=1):
            return message if message.queue_offset == offset else None
        return None

    async def read(
        self,
        queue: MessageQueue,
        *,
        start: int = 0,
        end: int | None = None,
        limit: int | None = None,
        tags: str = ALL,
    ) -> AsyncIterator[StoredMessage]:
        """The messages of a queue from one offset to another, or to its present end."""
        low, high = await self._offsets.bounds(queue)
        offset, end = max(start, low), high if end is None else min(end, high)
        wanted = tags_of(tags)
        left = NO_LIMIT if limit is None else limit
        while offset < end and left > 0:
            messages, offset = await self._pull(queue, offset, min(PULL_COUNT, left), tags)
            for message in messages:
                if message.queue_offset >= end or left <= 0:
                    return
                if not wanted or message.tag in wanted:  # brokers compare hashes
                    left -= 1
                    yield message

    async def units(
        self, queue: MessageQueue, *, start: int = 0, count: int = 10, group: str = ""
    ) -> QueueUnits:
        """Units of the consume queue: log offset, size and tag code of each message."""
        address = await self._fan_out.master_of(queue)
        header = QueueUnitsHeader(queue.topic, queue.queue_id, start, count, group)
        answer = await self._fan_out.broker(address, RequestCode.QUERY_CONSUME_QUEUE, header)
        return decode_queue_units(bytes(answer.body))

    async def peek(
        self, group: str, topic: str, *, count: int = PULL_COUNT, on: Where = None
    ) -> dict[str, list[StoredMessage]]:
        """By broker, the messages that the next pop of a group would get; they are not hidden."""
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.PEEK_MESSAGE, PeekHeader(group, topic, ANY_QUEUE, count)
        )
        return {
            name: client_messages(bytes(one.body)) if one.code == ResponseCode.SUCCESS else []
            for name, one in answers.items()
        }

    async def waiting_pops(
        self, group: str, topic: str, *, queue_id: int = ANY_QUEUE, on: Where = None
    ) -> dict[str, int]:
        """By broker, the number of pops of a group that wait there for messages: in all queues, or
        in one.
        """
        header = PollingInfoHeader(group, topic, queue_id)
        answers = await self._fan_out.on_masters_of(topic, on, RequestCode.POLLING_INFO, header)
        return {
            name: read_header(PollingInfoAnswerHeader, one.ext_fields).polling_num
            for name, one in answers.items()
        }

    async def _pull(
        self, queue: MessageQueue, offset: int, count: int, tags: str
    ) -> tuple[list[StoredMessage], int]:
        """Some messages, perhaps none, and the offset of the next pull."""
        address = await self._fan_out.master_of(queue)
        header = PullHeader(
            GROUP,
            queue.topic,
            queue.queue_id,
            offset,
            count,
            SUBSCRIPTION,
            subscription=tags,
            expression_type=BY_TAG,
        )
        answer = await self._fan_out.broker(address, RequestCode.PULL_MESSAGE, header)
        place = read_header(PullAnswerHeader, answer.ext_fields)
        found = answer.code == ResponseCode.SUCCESS
        messages = client_messages(bytes(answer.body)) if found else []
        if place.offset_delta:
            messages = [
                replace(
                    one,
                    queue_id=queue.queue_id,
                    queue_offset=QueueOffset(one.queue_offset + place.offset_delta),
                )
                for one in messages
            ]
        return messages, max(place.next_begin_offset, offset + 1)
