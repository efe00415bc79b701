"""`OffsetAdmin` reads the bounds of queues and the offsets of groups, and resets or clones offsets.

A moment is a datetime with its zone, milliseconds since 1970, "earliest" or "latest".
"""

from datetime import datetime
from typing import TypeAlias

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueOffset
from aerobee.protocol.bodies.group_offsets import decode_correction, decode_reset_offsets
from aerobee.protocol.headers.group_status import (
    CloneOffsetsHeader,
    CorrectionHeader,
    ResetOffsetHeader,
)
from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    MaxOffsetHeader,
    OffsetAnswerHeader,
    QueryOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
    StoreTimeAnswerHeader,
)
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse

Moment: TypeAlias = datetime | int | str
LATEST_MS = -1
EARLIEST_MS = 0


def moment_ms(moment: Moment) -> int:
    """The moment in milliseconds since 1970; -1 stands for the end of a queue."""
    if moment == "latest":
        return LATEST_MS
    if moment == "earliest":
        return EARLIEST_MS
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise Misuse(f"{moment} has no time zone", hint="say which: tzinfo=datetime.UTC")
        return int(moment.timestamp() * 1000)
    if isinstance(moment, bool) or not isinstance(moment, int) or moment < 0:
        raise Misuse(
            f"{moment!r} is no moment",
            hint='give a datetime, milliseconds since 1970, "earliest" or "latest"',
        )
    return moment


class OffsetAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    # Queues.

    async def bounds(self, queue: MessageQueue) -> tuple[int, int]:
        """The first offset of a queue, and the one that its next message gets."""
        address = await self._fan_out.master_of(queue)
        low, high = (
            await self._fan_out.broker(address, RequestCode.GET_MIN_OFFSET, _place(queue)),
            await self._fan_out.broker(
                address, RequestCode.GET_MAX_OFFSET, MaxOffsetHeader(queue.topic, queue.queue_id)
            ),
        )
        return (
            read_header(OffsetAnswerHeader, low.ext_fields).offset,
            read_header(OffsetAnswerHeader, high.ext_fields).offset,
        )

    async def at_time(self, queue: MessageQueue, moment: Moment, *, is_upper: bool = False) -> int:
        """The first offset stored at a time or later; `is_upper`: the last one that was stored at
        that very time.
        """
        low, high = await self.bounds(queue)
        time_ms = moment_ms(moment)
        if time_ms in (LATEST_MS, EARLIEST_MS):
            return high if time_ms == LATEST_MS else low
        address = await self._fan_out.master_of(queue)
        header = SearchOffsetHeader(
            queue.topic, queue.queue_id, time_ms, "UPPER" if is_upper else "LOWER"
        )
        answer = await self._fan_out.broker(address, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header)
        return read_header(OffsetAnswerHeader, answer.ext_fields).offset

    async def earliest_ms(self, queue: MessageQueue) -> int:
        """The store time of the oldest message of a queue; -1: it has none."""
        address = await self._fan_out.master_of(queue)
        code = RequestCode.GET_EARLIEST_MSG_STORETIME
        answer = await self._fan_out.broker(address, code, _place(queue))
        return read_header(StoreTimeAnswerHeader, answer.ext_fields).timestamp

    # Groups in queues.

    async def committed(self, group: str, queue: MessageQueue) -> int | None:
        """The committed offset of a group in a queue; None: it has none."""
        address = await self._fan_out.master_of(queue)
        header = QueryOffsetHeader(group, queue.topic, queue.queue_id, False)
        code = RequestCode.QUERY_CONSUMER_OFFSET
        answer = await self._fan_out.broker(address, code, header)
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return None
        return read_header(OffsetAnswerHeader, answer.ext_fields).offset

    async def commit(self, group: str, queue: MessageQueue, offset: int, *, on: str = "") -> None:
        """Commit an offset for a group. Members that are online will overwrite it: `reset` moves
        them, too. `on`: the address of a slave, instead of the master.
        """
        address = on or await self._fan_out.master_of(queue)
        header = CommitOffsetHeader(group, queue.topic, queue.queue_id, offset)
        await self._fan_out.broker(address, RequestCode.UPDATE_CONSUMER_OFFSET, header)

    async def all(self, *, on: Where = None) -> dict[str, dict[tuple[str, str], dict[int, int]]]:
        """All committed offsets: by broker, by topic and group, by queue."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_CONSUMER_OFFSET)
        return {name: _offsets_in(bytes(one.body)) for name, one in answers.items()}

    async def reset(
        self, group: str, topic: str, to: Moment, *, is_forced: bool = True, on: Where = None
    ) -> dict[MessageQueue, int]:
        """Move a group to a moment in all queues of a topic; returns the new offsets. Its members
        follow at their next pull.
        """
        header = ResetOffsetHeader(group, topic, moment_ms(to), is_forced)
        code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
        answers = await self._fan_out.on_masters_of(topic, on, code, header)
        found: dict[MessageQueue, int] = {}
        for answer in answers.values():
            found.update(decode_reset_offsets(bytes(answer.body)))
        return dict(sorted(found.items()))

    async def reset_queue(
        self, group: str, queue: MessageQueue, offset: int
    ) -> dict[MessageQueue, int]:
        """Move a group to an offset of one queue."""
        address = await self._fan_out.master_of(queue)
        header = ResetOffsetHeader(
            group, queue.topic, LATEST_MS, True, queue.queue_id, QueueOffset(offset)
        )
        code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
        answer = await self._fan_out.broker(address, code, header)
        return decode_reset_offsets(bytes(answer.body))

    async def skip(self, group: str, topic: str, *, on: Where = None) -> dict[MessageQueue, int]:
        """Move a group to the end of all queues, past messages that it has not consumed."""
        return await self.reset(group, topic, "latest", on=on)

    async def clone(
        self, source: str, target: str, *, topic: str = "", on: Where = None
    ) -> list[str]:
        """Give one group the offsets of another, in a topic or in all of its topics."""
        header = CloneOffsetsHeader(source, target, topic, True)
        return list(await self._fan_out.on_masters(on, RequestCode.CLONE_GROUP_OFFSET, header))

    async def correction(
        self, topic: str, group: str, *, without: tuple[str, ...] = (), on: Where = None
    ) -> dict[str, dict[int, int]]:
        """By broker and queue, the smallest offset of all groups of a topic: the one that `group`
        would be corrected to.
        """
        header = CorrectionHeader(topic, group, ",".join(without))
        code = RequestCode.QUERY_CORRECTION_OFFSET
        answers = await self._fan_out.on_masters_of(topic, on, code, header)
        return {name: decode_correction(bytes(one.body)) for name, one in answers.items()}


def _place(queue: MessageQueue) -> QueueHeader:
    return QueueHeader(queue.topic, queue.queue_id)


def _offsets_in(body: bytes) -> dict[tuple[str, str], dict[int, int]]:
    found = {}
    for key, offsets in Members(parse(body), "the offsets").object("offsetTable").objects():
        topic, _, group = key.partition("@")
        found[topic, group] = offsets.numbers_by_number()
    return found
