"""`DeadLetterAdmin` lists, counts and resends dead letters: messages whose group gave them up.

A dead letter that is resent goes to the retry topic of its group, so no other group consumes it a
second time. It keeps its id, its tag, its keys and its application's properties, and begins with
its first attempt; the dead letter itself stays where it is.
"""

import asyncio
from collections.abc import AsyncIterator

from aerobee.client.admin.fan_out import FanOut
from aerobee.client.admin.messages import MessageAdmin
from aerobee.client.admin.offsets import Moment
from aerobee.client.core.routes import client_route
from aerobee.errors import Misuse, TopicNotFound
from aerobee.model.message import StoredMessage
from aerobee.model.names import DEAD_LETTER_PREFIX, dead_letter_topic, retry_topic
from aerobee.model.properties import (
    DEAD_LETTER_ORIGIN_TOPIC,
    KEYS,
    RETRY_TOPIC,
    SHARDING_KEY,
    TAGS,
    UNIQUE_KEY,
    encode_properties,
    is_reserved,
)
from aerobee.protocol.bodies.small_tables import decode_topic_list
from aerobee.protocol.bodies.topic_stats import decode_topic_stats
from aerobee.protocol.headers.topics import TopicHeader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode

GROUP = "CLIENT_INNER_PRODUCER"
_KEPT = frozenset({TAGS, KEYS, UNIQUE_KEY, SHARDING_KEY})


class DeadLetterAdmin:
    def __init__(self, fan_out: FanOut, messages: MessageAdmin) -> None:
        self._fan_out = fan_out
        self._messages = messages

    async def groups(self) -> list[str]:
        """Groups that have, or once had, dead letters."""
        answer = await self._fan_out.name_server(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
        names = decode_topic_list(bytes(answer.body))
        prefix = DEAD_LETTER_PREFIX
        return sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))

    async def count(self, group: str) -> int:
        """The number of dead letters of a group."""
        topic = dead_letter_topic(group)
        try:
            answers = await self._fan_out.on_masters_of(
                topic, None, RequestCode.GET_TOPIC_STATS_INFO, TopicHeader(topic)
            )
        except TopicNotFound:
            return 0
        return sum(
            one.max_offset - one.min_offset
            for answer in answers.values()
            for one in decode_topic_stats(bytes(answer.body)).queues.values()
        )

    async def of(
        self,
        group: str,
        *,
        start: Moment = "earliest",
        end: Moment = "latest",
        limit: int | None = None,
    ) -> AsyncIterator[StoredMessage]:
        """Dead letters stored in a span of time; none, if the group has no dead-letter topic."""
        topic = dead_letter_topic(group)
        try:
            async for message in self._messages.between(topic, start=start, end=end, limit=limit):
                yield message
        except TopicNotFound:
            return

    async def resend(self, message: StoredMessage, *, group: str, topic: str = "") -> str:
        """Send one again, to its group only or to a topic. Returns the broker's id of the new
        message.
        """
        target = topic or retry_topic(group)
        route = client_route(target, await self._fan_out.route(target))
        if not route.writable:
            raise Misuse(f"nothing can be sent to {target}", hint="see its permission")
        queue = route.writable[message.queue_offset % len(route.writable)]
        properties = {
            name: text
            for name, text in message.properties.items()
            if name in _KEPT or not is_reserved(name)
        }
        if not topic:
            properties[RETRY_TOPIC] = origin_of(message)
        fields = {
            "producerGroup": GROUP,
            "topic": target,
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4",
            "queueId": str(queue.queue_id),
            "sysFlag": "0",
            "bornTimestamp": str(self._fan_out.now_ms()),
            "flag": str(message.flag),
            "properties": encode_properties(properties).decode(),
            "reconsumeTimes": "0",
            "unitMode": "false",
            "batch": "false",
        }
        address = route.master_of(queue)
        assert address is not None  # only such queues are writable
        command = RemotingCommand(RequestCode.SEND_MESSAGE, ext_fields=fields, body=message.body)
        answer = await self._fan_out.command(address, command)
        return answer.ext_fields.get("msgId", "")

    async def resend_all(
        self,
        group: str,
        *,
        start: Moment = "earliest",
        end: Moment = "latest",
        limit: int | None = None,
        per_second: float = 100.0,
    ) -> int:
        """Send all of them again, no faster than this. Returns their number. The first failure ends
        it and is raised.
        """
        if per_second <= 0:
            raise Misuse("a rate must be more than nothing")
        begun = asyncio.get_running_loop().time()
        count = 0
        async for message in self.of(group, start=start, end=end, limit=limit):
            await self.resend(message, group=group)
            count += 1
            wait = begun + count / per_second - asyncio.get_running_loop().time()
            if wait > 0:
                await asyncio.sleep(wait)
        return count


def origin_of(message: StoredMessage) -> str:
    """The topic that a dead letter was sent to at first."""
    found = message.properties.get(DEAD_LETTER_ORIGIN_TOPIC)
    return found or message.properties.get(RETRY_TOPIC, message.topic)
