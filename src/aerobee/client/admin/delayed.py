"""`DelayedAdmin` looks at messages that wait for their time, and takes one back.

    by level   SCHEDULE_TOPIC_XXXX, a queue for each level: due in the order of their offsets
    by time    rmq_sys_wheel_timer, one queue: due in any order

Looking changes nothing. Only messages with a time can be taken back, and only by brokers with
recallMessageEnable.
"""

from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from aerobee.client.admin.brokers import BrokerAdmin
from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.admin.offsets import OffsetAdmin
from aerobee.client.admin.queues import QueueAdmin
from aerobee.errors import Refused, RemoteAnswer
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC
from aerobee.model.properties import REAL_TOPIC, TIMER_DELETE_UNIQUE_KEY, TIMER_OUT_MS
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.message.recall_handle import RecallHandle, encode_recall_handle
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

GROUP = "TOOLS_PRODUCER"
_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LEVEL = "scheduleMessageOffset_"


class DelayLevelQueue(NamedTuple):
    """The queue of one delay level of one broker."""

    broker: str
    level: int
    delay_ms: int
    offset: int
    """The first message that waits."""
    end: int

    @property
    def waiting(self) -> int:
        return max(0, self.end - self.offset)


class DelayedMessage(NamedTuple):
    broker: str
    topic: str
    """The topic that it will be in."""
    due_ms: int
    level: int
    """0: it has a time, not a level."""
    message: StoredMessage
    """As it waits."""


class DelayedAdmin:
    def __init__(self, fan_out: FanOut, offsets: OffsetAdmin, queues: QueueAdmin) -> None:
        self._fan_out = fan_out
        self._brokers = BrokerAdmin(fan_out)
        self._offsets = offsets
        self._queues = queues

    async def levels(self, *, on: Where = None) -> list[DelayLevelQueue]:
        """The delay levels that have waiting messages, by broker."""
        found = []
        for broker, info in (await self._brokers.runtime(on=on)).items():
            waiting = {
                level: place
                for level, place in _progress(info.figures).items()
                if place[1] > place[0]
            }
            if not waiting:
                continue
            settings = (await self._brokers.config(on=broker))[broker]
            delays = delays_in(settings.get("messageDelayLevel", ""))
            found += [
                DelayLevelQueue(broker, level, delays[level - 1], offset, end)
                for level, (offset, end) in sorted(waiting.items())
                if 0 < level <= len(delays)
            ]
        return found

    async def of_level(
        self, queue: DelayLevelQueue, *, start: int | None = None, limit: int = 32
    ) -> AsyncIterator[DelayedMessage]:
        """Messages of a level, the next due first; `start`: an offset of its queue."""
        place = MessageQueue(SCHEDULE_TOPIC, queue.broker, QueueId(queue.level - 1))
        first = queue.offset if start is None else start
        async for message in self._queues.read(place, start=first, end=queue.end, limit=limit):
            due_ms = message.store_timestamp + queue.delay_ms
            yield DelayedMessage(queue.broker, _real_topic(message), due_ms, queue.level, message)

    async def timed(
        self, broker: str, now_ms: int, *, limit: int = 1_000
    ) -> tuple[list[DelayedMessage], bool]:
        """Messages with a time, of the newest `limit` that came to a broker's timer, and whether
        these are all that it has. Those that were taken back are left out."""
        place = MessageQueue(TIMER_TOPIC, broker, QueueId(0))
        low, end = await self._offsets.bounds(place)
        start = max(low, end - limit)
        found: dict[str, DelayedMessage] = {}
        if start >= end:
            return [], True
        async for message in self._queues.read(place, start=start, end=end):
            taken_back = message.properties.get(TIMER_DELETE_UNIQUE_KEY)
            if taken_back is not None:
                found.pop(taken_back.rpartition("+")[2], None)
                continue
            due = message.properties.get(TIMER_OUT_MS, "")
            if due.isdigit() and int(due) > now_ms:
                topic = _real_topic(message)
                # One that is rolled on is there twice; the later copy counts.
                found[message.message_id] = DelayedMessage(broker, topic, int(due), 0, message)
        return list(found.values()), start == low

    async def recall(self, broker: str, topic: str, due_ms: int, message_id: str) -> None:
        """Take a message with a time back, by the sender's id. Refused: it cannot be."""
        handle = encode_recall_handle(RecallHandle(topic, broker, due_ms, message_id))
        header = RecallHeader(topic, handle, producer_group=GROUP, broker_name=broker)
        address = (await self._fan_out.masters(broker))[broker]
        try:
            await self._fan_out.broker(address, RequestCode.RECALL_MESSAGE, header)
        except RemoteAnswer as error:
            raise Refused(
                f"{message_id} was not taken back: {error.message}",
                code=error.code,
                hint="set recallMessageEnable of the broker"
                if error.code == ResponseCode.NO_PERMISSION
                else "it may have been delivered",
            ) from error


def delays_in(text: str) -> list[int]:
    """Parse `1s 5s 2h`: the delays of a broker's levels, in ms."""
    words = text.split()
    if not all(one[:-1].isdigit() and one[-1] in _UNITS_MS for one in words):
        return []
    return [int(one[:-1]) * _UNITS_MS[one[-1]] for one in words]


def _progress(figures: Mapping[str, str]) -> dict[int, tuple[int, int]]:
    """Parse `scheduleMessageOffset_3: 7,9`: by level, the first that waits, and the end."""
    found = {}
    for name, text in figures.items():
        offset, _, end = text.partition(",")
        level = name.removeprefix(_LEVEL)
        if name.startswith(_LEVEL) and all(one.isdigit() for one in (level, offset, end)):
            found[int(level)] = (int(offset), int(end))
    return found


def _real_topic(message: StoredMessage) -> str:
    return message.properties.get(REAL_TOPIC, message.topic)
