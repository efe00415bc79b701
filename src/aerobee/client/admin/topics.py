"""Topics: which there are, how they are set up, how they are doing; made, changed, deleted.

A topic is set up broker by broker; what is said here of one is by broker name where brokers may
differ.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.errors import Refused, TopicNotFound
from aerobee.model.message_queue import MessageQueue
from aerobee.model.route import TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.group_offsets import decode_group_list
from aerobee.protocol.bodies.small_tables import decode_topic_list
from aerobee.protocol.bodies.topic_stats import QueueStats, TopicStats, decode_topic_stats
from aerobee.protocol.bodies.topic_table import (
    decode_topic_config,
    decode_topic_table,
    encode_topic_configs,
)
from aerobee.protocol.headers.topics import CreateTopicHeader, TopicHeader
from aerobee.protocol.request_codes import RequestCode

QUEUES = 8
READ_AND_WRITE = 6
_ROUTE_WAITS = (0.001, 0.005, 0.02, 0.1, 0.3, 0.6, 1.0)
ORDER_NAMESPACE = "ORDER_TOPIC_CONFIG"
"""Where name servers keep how many queues of a topic count for producers that keep order."""


class TopicAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    # Which there are.

    async def names(self, *, cluster: str = "") -> list[str]:
        """Every topic that a name server knows, or those of one cluster; the system's, too."""
        if cluster:
            fields, code = {"cluster": cluster}, RequestCode.GET_TOPICS_BY_CLUSTER
        else:
            fields, code = {}, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        answer = await self._fan_out.name_server(code, fields)
        return sorted(decode_topic_list(bytes(answer.body)))

    async def system_names(self) -> list[str]:
        """What belongs to the system: topics of its brokers, and those called like clusters and
        brokers."""
        told = await self._fan_out.name_server(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
        found = set(decode_topic_list(bytes(told.body)))
        answers = await self._fan_out.on_masters(
            None, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER
        )
        for answer in answers.values():
            found.update(decode_topic_list(bytes(answer.body)))
        return sorted(found)

    async def names_of_units(self, *, is_unit: bool | None, is_subscribed: bool) -> list[str]:
        """Topics made in a unit of their own, or subscribed to from other units: both, where
        `is_unit` is None."""
        if not is_subscribed:
            code = RequestCode.GET_UNIT_TOPIC_LIST
        elif is_unit is False:
            code = RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST
        else:
            code = RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST
        answer = await self._fan_out.name_server(code)
        return sorted(decode_topic_list(bytes(answer.body)))

    async def route(self, topic: str) -> TopicRoute:
        """Where it is. TopicNotFound: nowhere."""
        return await self._fan_out.route(topic)

    # How they are set up.

    async def config(self, topic: str, *, on: Where = None) -> dict[str, TopicConfig]:
        """By broker, of those that have it."""
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.GET_TOPIC_CONFIG, TopicHeader(topic)
        )
        return {name: decode_topic_config(bytes(one.body)) for name, one in answers.items()}

    async def configs(self, *, on: Where = None) -> dict[str, list[TopicConfig]]:
        """By broker, all that it has."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_TOPIC_CONFIG)
        return {name: decode_topic_table(bytes(one.body))[1] for name, one in answers.items()}

    async def create(
        self,
        topic: str,
        *,
        queues: int = QUEUES,
        permission: int = READ_AND_WRITE,
        is_order: bool = False,
        attributes: Mapping[str, str] | None = None,
        on: Where = None,
    ) -> list[str]:
        """Make a topic, or set one that is there up anew; the brokers that have it now.

        `attributes` are set, and nothing is taken away: `{"message.type": "FIFO"}`.
        """
        signed = {f"+{name}": value for name, value in (attributes or {}).items()}
        config = TopicConfig(
            topic, queues, queues, permission, is_order=is_order, attributes=signed
        )
        made = await self.put(config, on=on)
        await self._wait_for_route(topic, made)
        return made

    async def put(self, config: TopicConfig, *, on: Where = None) -> list[str]:
        """Set a topic up as this says. Its attributes are changes: `+name` sets, `-name` takes
        away."""
        header = CreateTopicHeader(
            config.name,
            config.read_queues,
            config.write_queues,
            config.permission,
            config.filter_type,
            config.sys_flag,
            config.is_order,
            ",".join(
                f"{name}={value}" if name.startswith("+") else name
                for name, value in config.attributes.items()
            ),
        )
        return list(await self._fan_out.on_masters(on, RequestCode.UPDATE_AND_CREATE_TOPIC, header))

    async def put_many(self, configs: Iterable[TopicConfig], *, on: Where = None) -> list[str]:
        """All of them or, broker by broker, none. Brokers before 5.3 know no such request."""
        body = encode_topic_configs(configs)
        return list(
            await self._fan_out.on_masters(on, RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, body=body)
        )

    async def set_permission(self, topic: str, permission: int, *, on: Where = None) -> list[str]:
        """Read 4, write 2; the rest stays as it is, broker by broker."""
        known = await self.config(topic, on=on)
        for broker, config in known.items():
            await self.put(replace(config, permission=permission, attributes={}), on=broker)
        return list(known)

    async def delete(self, topic: str, *, on: Where = None) -> list[str]:
        """Delete it, with its messages; the brokers that had to. Routes to it go at once."""
        done = await self._fan_out.on_masters(
            on, RequestCode.DELETE_TOPIC_IN_BROKER, TopicHeader(topic)
        )
        if on is None:
            await self.forget(topic)
        return list(done)

    async def forget(self, topic: str, *, cluster: str = "") -> list[str]:
        """Have name servers forget the routes to it, in a cluster or everywhere; which did. A
        broker that has the topic tells them again."""
        fields = {"topic": topic, **({"clusterName": cluster} if cluster else {})}
        return list(await self._fan_out.name_servers(RequestCode.DELETE_TOPIC_IN_NAMESRV, fields))

    async def _wait_for_route(self, topic: str, brokers: list[str]) -> None:
        """Brokers tell name servers of a new topic at once, but answer before that is heard. It is
        no fault of the topic's if it never is."""
        wanted = {name for name in brokers if ":" not in name}
        for wait_seconds in _ROUTE_WAITS:
            try:
                route = await self._fan_out.route(topic)
            except TopicNotFound:
                pass
            else:
                if wanted <= {queue.broker_name for queue in route.queues}:
                    return
            await asyncio.sleep(wait_seconds)

    # How they are doing.

    async def stats(self, topic: str, *, on: Where = None) -> TopicStats:
        """Where its queues begin and end, on all brokers together."""
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.GET_TOPIC_STATS_INFO, TopicHeader(topic)
        )
        queues: dict[MessageQueue, QueueStats] = {}
        rate = 0.0
        for answer in answers.values():
            stats = decode_topic_stats(bytes(answer.body))
            queues.update(stats.queues)
            rate += stats.sends_a_second
        return TopicStats(dict(sorted(queues.items())), rate)

    async def groups(self, topic: str, *, on: Where = None) -> list[str]:
        """Who consumes it, now or once."""
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, TopicHeader(topic)
        )
        found = {group for one in answers.values() for group in decode_group_list(bytes(one.body))}
        return sorted(found)

    async def exists(self, topic: str) -> bool:
        """Whether a name server knows it."""
        try:
            await self._fan_out.route(topic)
        except TopicNotFound:
            return False
        return True

    # Order.

    async def order(self, topic: str) -> str:
        """`broker-a:4;broker-b:4`, or empty: what producers go by that keep order."""
        fields = {"namespace": ORDER_NAMESPACE, "key": topic}
        try:
            answer = await self._fan_out.name_server(RequestCode.GET_KV_CONFIG, fields)
        except Refused:
            return ""
        return answer.ext_fields.get("value", "")

    async def set_order(self, topic: str, queues: Mapping[str, int]) -> None:
        """By broker, how many of its queues count; nothing: take the rule away."""
        fields = {"namespace": ORDER_NAMESPACE, "key": topic}
        if not queues:
            await self._fan_out.name_servers(RequestCode.DELETE_KV_CONFIG, fields)
            return
        text = ";".join(f"{broker}:{count}" for broker, count in queues.items())
        await self._fan_out.name_servers(RequestCode.PUT_KV_CONFIG, {**fields, "value": text})
