"""`MessageTracks` tells for each group whether it has consumed a message (RocketMQ's message
track).

Brokers keep no record of that: it is derived from the group's offset, its online members and their
subscriptions.
"""

from enum import Enum

from aerobee.client.admin.connections import ConnectionAdmin
from aerobee.client.admin.fan_out import FanOut
from aerobee.client.admin.offsets import OffsetAdmin
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import MessageModel
from aerobee.protocol.bodies.group_offsets import decode_group_list
from aerobee.protocol.headers.topics import TopicHeader
from aerobee.protocol.request_codes import RequestCode


class Track(Enum):
    """State of a message for one group, as far as brokers can tell."""

    CONSUMED = "consumed"
    WAITING = "not consumed yet"
    FILTERED = "passed over: its tag is not wanted"
    BROADCAST = "broadcast: members keep their own offsets"
    OFFLINE = "nobody of the group is online"


class MessageTracks:
    def __init__(self, fan_out: FanOut, offsets: OffsetAdmin, connections: ConnectionAdmin) -> None:
        self._fan_out = fan_out
        self._offsets = offsets
        self._connections = connections

    async def of(self, message: StoredMessage) -> dict[str, Track]:
        """The state of a message, by group that consumes its topic."""
        address = f"{message.store_host.address}:{message.store_host.port}"
        answer = await self._fan_out.broker(
            address, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, TopicHeader(message.topic)
        )
        queue = MessageQueue(message.topic, address, message.queue_id)
        return {
            group: await self._track(message, queue, group)
            for group in decode_group_list(bytes(answer.body))
        }

    async def _track(self, message: StoredMessage, queue: MessageQueue, group: str) -> Track:
        there = await self._connections.consumers(group, on=queue.broker_name)
        committed = await self._offsets.committed(group, queue)
        if there.manner is not None and there.manner.message_model is MessageModel.BROADCASTING:
            return Track.BROADCAST
        is_past = committed is not None and committed > message.queue_offset
        if there.manner is None:
            return Track.CONSUMED if is_past else Track.OFFLINE
        if not is_past:
            return Track.WAITING
        for one in there.subscriptions:
            if one.topic == message.topic and one.tags and message.tag not in one.tags:
                return Track.FILTERED
        return Track.CONSUMED
