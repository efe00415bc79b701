"""What the servers say of queues: which there are, where they begin and end, and where a time lies.

One question for each queue, all at once. A broker is asked at the address that its topic's route
names; an answer that says no becomes an error.
"""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from aerobee.client.session import Session
from aerobee.errors import Misuse, RemoteProtocolError, TopicNotFound, Unreachable
from aerobee.pipeline.offsets import EARLIEST, QueueKey
from aerobee.pipeline.options import Place, SourceOptions
from aerobee.protocol.bodies.small_tables import decode_topic_list
from aerobee.protocol.declared_header import write_header
from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    MaxOffsetHeader,
    QueryOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
)
from aerobee.protocol.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

Ask = Callable[[QueueKey], Coroutine[Any, Any, int]]


class Queues:
    def __init__(self, session: Session, options: SourceOptions) -> None:
        self._session = session
        self._options = options

    async def found(self) -> list[QueueKey]:
        """Every queue that is to be read, in order."""
        if self._options.assigned:
            return list(self._options.assigned)
        topics = self._options.topics
        if self._options.pattern:
            topics = await self._matching(self._options.pattern)
        keys = []
        for topic in topics:
            route = await self._session.routes.refresh(topic)
            keys += [
                QueueKey(queue.topic, queue.broker_name, queue.queue_id) for queue in route.readable
            ]
        return sorted(keys)

    async def earliest(self, keys: Iterable[QueueKey]) -> dict[QueueKey, int]:
        return await self._of_each(keys, self._earliest)

    async def latest(self, keys: Iterable[QueueKey]) -> dict[QueueKey, int]:
        return await self._of_each(keys, self._latest)

    async def at(self, keys: Iterable[QueueKey], place: Place) -> dict[QueueKey, int]:
        """Where a place is, in each of these queues."""

        async def ask(key: QueueKey) -> int:
            return await self._at(key, place)

        return await self._of_each(keys, ask)

    async def commit(self, group: str, offsets: Mapping[QueueKey, int]) -> None:
        """Write down how far a group has come, for people to see."""

        async def ask(key: QueueKey) -> int:
            header = CommitOffsetHeader(group, key.topic, key.queue_id, offsets[key])
            await self._ask(key, RequestCode.UPDATE_CONSUMER_OFFSET, header)
            return 0

        await self._of_each(offsets, ask)

    # One queue.

    async def _at(self, key: QueueKey, place: Place) -> int:
        time_ms = place.timestamps_ms.get(key, place.timestamp_ms)
        if time_ms is not None:
            return await self._at_time(key, time_ms, place)
        offset = place.offsets.get(key)
        if offset is None and place.is_group:
            offset = await self._committed(key)
        if offset is None:
            offset = place.offset
        if offset >= 0:
            return offset
        return await (self._earliest(key) if offset == EARLIEST else self._latest(key))

    async def _earliest(self, key: QueueKey) -> int:
        header = QueueHeader(key.topic, key.queue_id)
        return _offset_in(await self._ask(key, RequestCode.GET_MIN_OFFSET, header))

    async def _latest(self, key: QueueKey) -> int:
        header = MaxOffsetHeader(key.topic, key.queue_id)
        return _offset_in(await self._ask(key, RequestCode.GET_MAX_OFFSET, header))

    async def _at_time(self, key: QueueKey, time_ms: int, place: Place) -> int:
        header = SearchOffsetHeader(key.topic, key.queue_id, time_ms)
        found = _offset_in(await self._ask(key, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header))
        if place.is_late_refused and found >= await self._latest(key):
            raise Misuse(
                f"{key} has no message of {time_ms} or later",
                hint="startingOffsetsByTimestampStrategy=latest begins at its end then",
            )
        return found

    async def _committed(self, key: QueueKey) -> int | None:
        header = QueryOffsetHeader(self._options.group, key.topic, key.queue_id, False)
        answer = await self._ask(key, RequestCode.QUERY_CONSUMER_OFFSET, header)
        return None if answer.code == ResponseCode.QUERY_NOT_FOUND else _offset_in(answer)

    async def _ask(self, key: QueueKey, code: RequestCode, header: object) -> RemotingCommand:
        address = await address_of(self._session, key)
        command = RemotingCommand(code, ext_fields=write_header(header))
        answer = await self._session.ask(address, command)
        error = error_for(answer.code, answer.remark)
        if error is not None:
            raise error
        return answer

    async def _of_each(self, keys: Iterable[QueueKey], ask: Ask) -> dict[QueueKey, int]:
        asked = list(keys)
        answers = await asyncio.gather(*(ask(key) for key in asked))
        return dict(zip(asked, answers, strict=True))

    async def _matching(self, pattern: str) -> tuple[str, ...]:
        command = RemotingCommand(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
        answer, _ = await self._session.name_servers.ask(command)
        error = error_for(answer.code, answer.remark)
        if error is not None:
            raise error
        names = decode_topic_list(bytes(answer.body))
        found = tuple(sorted(name for name in names if re.fullmatch(pattern, name)))
        if not found:
            raise TopicNotFound(f"no topic matches {pattern!r}", topic=pattern)
        return found


async def address_of(session: Session, key: QueueKey) -> str:
    """Where a queue's broker is."""
    route = await session.routes.of(key.topic)
    address = route.address(key.broker_name)
    if address is None:
        route = await session.routes.refresh(key.topic)
        address = route.address(key.broker_name)
    if address is None:
        raise Unreachable(
            f"no name server knows the broker {key.broker_name} of {key}",
            address=key.broker_name,
            hint="is it running? `aerobee cluster list` shows who is",
        )
    return address


def _offset_in(answer: RemotingCommand) -> int:
    text = answer.ext_fields.get("offset", "")
    if not text.lstrip("-").isdigit():
        raise RemoteProtocolError(f"an answer without its offset: {answer!r}")
    return int(text)
