"""`MessageAdmin` looks up single messages by id, key or time, and their state for each group.

Looking changes nothing: no offset is committed, no group joined. Messages come as the log holds
them, their bodies expanded and batches taken apart.
"""

from collections.abc import AsyncIterator

from aerobee.client.admin.delayed import DelayedAdmin
from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.admin.message_tracks import MessageTracks, Track
from aerobee.client.admin.offsets import LATEST_MS, Moment, OffsetAdmin, moment_ms
from aerobee.client.admin.queues import NO_LIMIT, QueueAdmin
from aerobee.client.core.routes import client_route
from aerobee.errors import RemoteAnswer, RemoteProtocolError
from aerobee.model.message import StoredMessage
from aerobee.model.message_id import parse_offset_message_id
from aerobee.protocol.bodies.running_info import ConsumeResult, decode_consume_result
from aerobee.protocol.headers.group_status import ConsumeDirectlyHeader
from aerobee.protocol.headers.queries import QueryMessageHeader, ViewMessageHeader
from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

UNIQUE_COUNT_MAX = 32  # whatever is asked for


class MessageAdmin:
    def __init__(
        self, fan_out: FanOut, offsets: OffsetAdmin, queues: QueueAdmin, tracks: MessageTracks
    ) -> None:
        self._fan_out = fan_out
        self._offsets = offsets
        self._queues = queues
        self._tracks = tracks
        self.delayed = DelayedAdmin(fan_out, offsets, queues)

    # By name.

    async def find(self, topic: str, message_id: str) -> StoredMessage | None:
        """Find a message by either id: the sender's or the broker's."""
        found = await self.by_unique_id(topic, message_id)
        if found:
            return found[0]
        try:
            place = parse_offset_message_id(message_id)
            # A sender's id reads as a place, too: only where a broker is does it mean one.
            if f"{place.address}:{place.port}" not in (await self._fan_out.masters()).values():
                return None
            return await self.by_offset_id(message_id)
        except (RemoteAnswer, RemoteProtocolError):
            return None

    async def by_offset_id(self, offset_message_id: str) -> StoredMessage:
        """Find a message by the broker's id, which holds its broker and log offset."""
        place = parse_offset_message_id(offset_message_id)
        answer = await self._fan_out.broker(
            f"{place.address}:{place.port}",
            RequestCode.VIEW_MESSAGE_BY_ID,
            ViewMessageHeader(place.log_offset),
        )
        return client_messages(bytes(answer.body))[0]

    async def by_unique_id(
        self, topic: str, unique_id: str, *, on: Where = None
    ) -> list[StoredMessage]:
        """Find messages by the sender's id: more than one, if it was stored twice."""
        header = QueryMessageHeader(topic, unique_id, UNIQUE_COUNT_MAX, 0, NO_LIMIT, True)
        found = await self._query(header, on)
        return [one for one in found if unique_id in (one.unique_id, one.offset_message_id)]

    async def by_key(
        self,
        topic: str,
        key: str,
        *,
        start: Moment = "earliest",
        end: Moment = "latest",
        limit: int = 64,
        on: Where = None,
    ) -> list[StoredMessage]:
        """Messages with a key, the newest first."""
        end_ms = moment_ms(end)
        header = QueryMessageHeader(
            topic, key, limit, moment_ms(start), NO_LIMIT if end_ms == LATEST_MS else end_ms
        )
        found = [one for one in await self._query(header, on) if key in one.keys]
        return sorted(found, key=lambda one: -one.store_timestamp)[:limit]

    # By time.

    async def between(
        self,
        topic: str,
        *,
        start: Moment = "earliest",
        end: Moment = "latest",
        tags: str = "*",
        limit: int | None = None,
    ) -> AsyncIterator[StoredMessage]:
        """The messages of a topic that were stored in a span of time, queue after queue."""
        route = client_route(topic, await self._fan_out.route(topic))
        left = NO_LIMIT if limit is None else limit
        for queue in route.readable:
            first = await self._offsets.at_time(queue, start)
            last = await self._offsets.at_time(queue, end)
            async for message in self._queues.read(
                queue, start=first, end=last, limit=left, tags=tags
            ):
                left -= 1
                yield message

    # What became of them.

    async def tracks(self, message: StoredMessage) -> dict[str, Track]:
        """The state of a message, by group that consumes its topic."""
        return await self._tracks.of(message)

    async def consume_directly(
        self, message: StoredMessage, group: str, client_id: str
    ) -> ConsumeResult:
        """Have one client consume a message now; returns the result that it reports. Nothing is
        committed.
        """
        address = f"{message.store_host.address}:{message.store_host.port}"
        header = ConsumeDirectlyHeader(group, client_id, message.offset_message_id, message.topic)
        answer = await self._fan_out.broker(address, RequestCode.CONSUME_MESSAGE_DIRECTLY, header)
        return decode_consume_result(bytes(answer.body))

    async def _query(self, header: QueryMessageHeader, on: Where) -> list[StoredMessage]:
        answers = await self._fan_out.on_masters_of(
            header.topic, on, RequestCode.QUERY_MESSAGE, header
        )
        return [
            message
            for answer in answers.values()
            if answer.code == ResponseCode.SUCCESS
            for message in client_messages(bytes(answer.body))
        ]
