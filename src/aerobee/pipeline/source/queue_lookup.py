"""QueueLookup asks servers for the queues of a topic, and for an offset in each: by place or time.

It sends one request for each queue, all at once, with the request codes that consumers use.
"""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from aerobee.client.connection.remote_call import checked
from aerobee.client.connection.session import Session
from aerobee.client.group.group_requests import GroupRequests
from aerobee.errors import Misuse, TopicNotFound
from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.source.source_options import SourceOptions, StartPlace
from aerobee.pipeline.source.stream_offsets import EARLIEST
from aerobee.protocol.bodies.small_tables import decode_topic_list
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode

Ask = Callable[[MessageQueue], Coroutine[Any, Any, int]]


class QueueLookup:
    def __init__(self, session: Session, options: SourceOptions) -> None:
        self._session = session
        self._options = options
        self._calls = GroupRequests(session, options.group)

    async def found(self) -> list[MessageQueue]:
        """Return every queue to read, in order."""
        if self._options.assigned:
            return list(self._options.assigned)
        topics = self._options.topics
        if self._options.pattern:
            topics = await self._matching(self._options.pattern)
        routes = [await self._session.routes.refresh(topic) for topic in topics]
        return sorted(queue for route in routes for queue in route.physical("Spark").readable)

    async def earliest(self, queues: Iterable[MessageQueue]) -> dict[MessageQueue, int]:
        return await _of_each(queues, self._calls.beginning_of)

    async def latest(self, queues: Iterable[MessageQueue]) -> dict[MessageQueue, int]:
        return await _of_each(queues, self._calls.end_of)

    async def at(
        self, queues: Iterable[MessageQueue], place: StartPlace
    ) -> dict[MessageQueue, int]:
        """Return the offset of a starting or ending place, in each of these queues."""

        async def ask(queue: MessageQueue) -> int:
            return await self._at(queue, place)

        return await _of_each(queues, ask)

    async def commit(self, group: str, offsets: Mapping[MessageQueue, int]) -> None:
        """Commit the offsets of a group, so that tools for groups show them."""
        calls = GroupRequests(self._session, group)
        await asyncio.gather(
            *(calls.commit(queue, offset, is_certain=True) for queue, offset in offsets.items())
        )

    async def _at(self, queue: MessageQueue, place: StartPlace) -> int:
        time_ms = place.timestamps_ms.get(queue, place.timestamp_ms)
        if time_ms is not None:
            return await self._at_time(queue, time_ms, place)
        offset = place.offsets.get(queue)
        if offset is None and place.is_group:
            offset = await self._calls.committed(queue, is_exact=True)
        if offset is None:
            offset = place.offset
        if offset >= 0:
            return offset
        if offset == EARLIEST:
            return await self._calls.beginning_of(queue)
        return await self._calls.end_of(queue)

    async def _at_time(self, queue: MessageQueue, time_ms: int, place: StartPlace) -> int:
        found = await self._calls.offset_at(queue, time_ms)
        if place.is_late_refused and found >= await self._calls.end_of(queue):
            raise Misuse(
                f"{queue} has no message of {time_ms} or later",
                hint="startingOffsetsByTimestampStrategy=latest begins at its end then",
            )
        return found

    async def _matching(self, pattern: str) -> tuple[str, ...]:
        command = RemotingCommand(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
        answer, _ = await self._session.name_servers.ask(command)
        names = decode_topic_list(bytes(checked(answer).body))
        found = tuple(sorted(name for name in names if re.fullmatch(pattern, name)))
        if not found:
            raise TopicNotFound(f"no topic matches {pattern!r}", topic=pattern)
        return found


async def _of_each(queues: Iterable[MessageQueue], ask: Ask) -> dict[MessageQueue, int]:
    asked = list(queues)
    return dict(zip(asked, await asyncio.gather(*map(ask, asked)), strict=True))
