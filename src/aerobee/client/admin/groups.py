"""`GroupAdmin` reads and changes consumer groups: names, settings, progress, subscriptions.

Group settings are kept by each broker separately; the progress in a queue is kept by the broker
that has the queue. A `GroupProgress` joins the queues of all brokers: each queue names its own.

Imports more than 15 modules because requests, headers and answers are in one each.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.admin.static_topics import logical_progress, static_topic
from aerobee.client.core.known_table import KnownTable, TableQuestion
from aerobee.errors import RemoteAnswer
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import DEAD_LETTER_PREFIX, retry_topic
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.assignment import (
    RequestMode,
    decode_request_modes,
    encode_request_mode,
)
from aerobee.protocol.bodies.consume_stats import (
    ConsumeProgress,
    ConsumeStats,
    TimeSpan,
    decode_consume_stats,
    decode_consume_stats_list,
    decode_time_spans,
)
from aerobee.protocol.bodies.group_config import (
    decode_group_config,
    decode_group_table,
    decode_is_readable,
    encode_group_config,
    encode_group_configs,
)
from aerobee.protocol.bodies.group_offsets import decode_group_subscription
from aerobee.protocol.bodies.small_tables import decode_topic_list
from aerobee.protocol.headers.group_status import (
    BrokerConsumeStatsHeader,
    ConsumeStatsHeader,
    GroupTopicHeader,
)
from aerobee.protocol.headers.groups import (
    AllGroupsHeader,
    DeleteGroupHeader,
    GroupForbiddenHeader,
    GroupHeader,
)
from aerobee.protocol.headers.topics import TopicHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_TABLE = TableQuestion(
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    AllGroupsHeader,
    "totalGroupNum",
    decode_group_table,
)


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """The progress of a group in all queues that it consumes."""

    group: str
    queues: dict[MessageQueue, ConsumeProgress]
    messages_a_second: float

    @property
    def lag(self) -> int:
        """Messages that the group has not consumed. Never below 0."""
        return sum(max(0, one.lag) for one in self.queues.values())

    @property
    def in_flight(self) -> int:
        """Messages that the group was given and has not consumed yet."""
        return sum(max(0, one.in_flight) for one in self.queues.values())

    def topics(self) -> dict[str, int]:
        """The lag, by topic."""
        found: dict[str, int] = {}
        for queue, one in self.queues.items():
            found[queue.topic] = found.get(queue.topic, 0) + max(0, one.lag)
        return found


class GroupAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    # How they are set up.

    async def names(self, *, on: Where = None) -> list[str]:
        """All groups that a broker has settings of, system groups included."""
        by_broker = await self.configs(on=on)
        return sorted({config.name for configs in by_broker.values() for config in configs})

    async def configs(self, *, on: Where = None) -> dict[str, list[GroupConfig]]:
        """The settings of all groups, by broker."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        return {name: decode_group_table(bytes(one.body))[1] for name, one in answers.items()}

    async def tables(
        self, known: Mapping[str, KnownTable[GroupConfig]], *, on: Where = None
    ) -> dict[str, KnownTable[GroupConfig]]:
        """The settings of all groups with their version, by broker; of brokers whose table has the
        version of the `known` one, that very object: they are not asked for more.
        """
        masters = await self._fan_out.masters(on)
        names = {address: name for name, address in masters.items()}

        async def ask(address: str) -> KnownTable[GroupConfig]:
            return await _TABLE.ask(self._fan_out.broker, address, known.get(names[address]))

        return await self._fan_out.each(masters, ask)

    async def config(self, group: str, *, on: Where = None) -> dict[str, GroupConfig]:
        """Settings by broker, of the brokers that have the group; empty if none has. RocketMQ's
        brokers create a group that they are asked for, if they may create groups automatically.
        """

        async def ask(address: str) -> GroupConfig | None:
            code = RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG
            try:
                answer = await self._fan_out.broker(address, code, GroupHeader(group))
            except RemoteAnswer as error:
                if error.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST:
                    return None
                raise
            return decode_group_config(bytes(answer.body))

        found = await self._fan_out.each(await self._fan_out.masters(on), ask)
        return {name: config for name, config in found.items() if config is not None}

    async def put(self, config: GroupConfig, *, on: Where = None) -> list[str]:
        """Create a group, or replace its settings; returns the brokers that have it now. Its
        attributes are changes: `+name` sets, `-name` removes.
        """
        body = encode_group_config(config)
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        return list(await self._fan_out.on_masters(on, code, body=body))

    async def put_many(self, configs: Iterable[GroupConfig], *, on: Where = None) -> list[str]:
        """Create or replace several groups; a broker takes all of them or none. RocketMQ's brokers
        know this request since 5.3.
        """
        body = encode_group_configs(configs)
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST
        return list(await self._fan_out.on_masters(on, code, body=body))

    async def delete(
        self, group: str, *, keep_offsets: bool = False, keep_topics: bool = False, on: Where = None
    ) -> list[str]:
        """Delete a group, its offsets, and its retry and dead-letter topics, unless the offsets or
        those topics are to be kept.
        """
        header = DeleteGroupHeader(group, not keep_offsets, not keep_offsets)
        code = RequestCode.DELETE_SUBSCRIPTIONGROUP
        done = list(await self._fan_out.on_masters(on, code, header))
        if not keep_offsets and not keep_topics:
            for topic in (retry_topic(group), DEAD_LETTER_PREFIX + group):
                code = RequestCode.DELETE_TOPIC_IN_BROKER
                await self._fan_out.on_masters(on, code, TopicHeader(topic))
                if on is None:
                    code = RequestCode.DELETE_TOPIC_IN_NAMESRV
                    await self._fan_out.name_servers(code, {"topic": topic})
        return done

    # How far they are.

    async def progress(self, group: str, *, topic: str = "", on: Where = None) -> GroupProgress:
        """The progress in all queues of one topic, or of all topics that the group consumes."""
        answers = await self._fan_out.on_masters(
            on, RequestCode.GET_CONSUME_STATS, ConsumeStatsHeader(group, topic)
        )
        stats = [decode_consume_stats(bytes(one.body)) for one in answers.values()]
        progress = _together(group, stats)
        # An offset below 0 is that of a static topic's queue: an older part may have one.
        uncertain = [queue for queue, one in progress.queues.items() if one.consumer_offset < 0]
        for name in {queue.topic for queue in uncertain}:
            known = await static_topic(self._fan_out, name)
            others = {queue: one for queue, one in progress.queues.items() if queue.topic != name}
            others.update(logical_progress(name, known, progress.queues))
            progress = replace(progress, queues=dict(sorted(others.items())))
        return progress

    async def progress_of_all(
        self, *, only_ordered: bool = False, on: Where = None
    ) -> dict[str, GroupProgress]:
        """The progress of every group, with one request to each broker."""
        answers = await self._fan_out.on_masters(
            on, RequestCode.GET_BROKER_CONSUME_STATS, BrokerConsumeStatsHeader(only_ordered)
        )
        found: dict[str, list[ConsumeStats]] = {}
        for answer in answers.values():
            for group, stats in decode_consume_stats_list(bytes(answer.body)).items():
                found.setdefault(group, []).extend(stats)
        return {group: _together(group, stats) for group, stats in sorted(found.items())}

    async def time_spans(self, group: str, topic: str, *, on: Where = None) -> list[TimeSpan]:
        """By queue, the store times of its first and last message, and of the last one consumed."""
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.QUERY_CONSUME_TIME_SPAN, GroupTopicHeader(group, topic)
        )
        spans = [span for one in answers.values() for span in decode_time_spans(bytes(one.body))]
        return sorted(spans, key=lambda span: span.queue)

    # What they consume.

    async def topics(self, group: str, *, on: Where = None) -> list[str]:
        """The topics that the group has ever consumed."""
        answers = await self._fan_out.on_masters(
            on, RequestCode.QUERY_TOPICS_BY_CONSUMER, GroupHeader(group)
        )
        return sorted(
            {topic for one in answers.values() for topic in decode_topic_list(bytes(one.body))}
        )

    async def subscription(
        self, group: str, topic: str, *, on: Where = None
    ) -> Subscription | None:
        """The subscription of an online group to a topic."""
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, GroupTopicHeader(group, topic)
        )
        found = (decode_group_subscription(bytes(one.body)) for one in answers.values())
        return next((one for one in found if one is not None), None)

    async def may_read(self, group: str, topic: str, *, on: Where = None) -> dict[str, bool]:
        """Whether a group may read a topic, by broker."""
        return await self._readable(GroupForbiddenHeader(group, topic), on)

    async def allow(
        self, group: str, topic: str, *, is_allowed: bool = True, on: Where = None
    ) -> dict[str, bool]:
        """Let a group read a topic, or forbid it; returns by broker whether it may now."""
        return await self._readable(GroupForbiddenHeader(group, topic, is_allowed), on)

    async def set_request_mode(self, mode: RequestMode, *, on: Where = None) -> list[str]:
        """Have a group consume a topic by pop or by pull."""
        code = RequestCode.SET_MESSAGE_REQUEST_MODE
        return list(await self._fan_out.on_masters(on, code, body=encode_request_mode(mode)))

    async def request_modes(self, *, on: Where = None) -> dict[str, list[RequestMode]]:
        """The request modes that were set, by broker."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
        return {name: decode_request_modes(bytes(one.body)) for name, one in answers.items()}

    async def _readable(self, header: GroupForbiddenHeader, on: Where) -> dict[str, bool]:
        code = RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN
        answers = await self._fan_out.on_masters(on, code, header)
        return {name: decode_is_readable(bytes(one.body)) for name, one in answers.items()}


def _together(group: str, stats: Iterable[ConsumeStats]) -> GroupProgress:
    queues: dict[MessageQueue, ConsumeProgress] = {}
    rate = 0.0
    for one in stats:
        queues.update(one.queues)
        rate += one.tps
    return GroupProgress(group, dict(sorted(queues.items())), rate)
