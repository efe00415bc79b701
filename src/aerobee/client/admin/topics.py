"""`TopicAdmin` lists, creates, changes and deletes topics, and reads their routes and statistics.

Each broker has its own settings of a topic: results are by broker name where brokers may differ.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.admin.static_topics import StaticTopicAdmin, logical_stats, static_topic
from aerobee.client.core.known_table import KnownTable, TableQuestion
from aerobee.errors import Refused, TopicNotFound
from aerobee.model.message_queue import MessageQueue
from aerobee.model.route import TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.group_offsets import decode_group_list
from aerobee.protocol.bodies.small_tables import decode_topic_list
from aerobee.protocol.bodies.topic_stats import QueueStats, TopicStats, decode_topic_stats
from aerobee.protocol.bodies.topic_table import (
    decode_static_topics,
    decode_topic_config,
    decode_topic_table,
    encode_topic_configs,
)
from aerobee.protocol.headers.topics import AllTopicsHeader, CreateTopicHeader, TopicHeader
from aerobee.protocol.request_codes import RequestCode

QUEUES = 8
READ_AND_WRITE = 6
_ROUTE_WAITS = (0.001, 0.005, 0.02, 0.1, 0.3, 0.6, 1.0)
ORDER_NAMESPACE = "ORDER_TOPIC_CONFIG"
"""Where name servers keep how many queues of a topic count for producers that keep order."""

_TABLE = TableQuestion(
    RequestCode.GET_ALL_TOPIC_CONFIG, AllTopicsHeader, "totalTopicNum", decode_topic_table
)


class TopicAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out
        self.static = StaticTopicAdmin(fan_out)
        """Static topics: made, grown and moved."""

    # Which there are.

    async def names(self, *, cluster: str = "") -> list[str]:
        """All topics that a name server knows, or those of one cluster; system topics included."""
        if cluster:
            fields, code = {"cluster": cluster}, RequestCode.GET_TOPICS_BY_CLUSTER
        else:
            fields, code = {}, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        answer = await self._fan_out.name_server(code, fields)
        return sorted(decode_topic_list(bytes(answer.body)))

    async def system_names(self) -> list[str]:
        """System topics: those that brokers need, and those named like clusters and brokers."""
        told = await self._fan_out.name_server(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
        found = set(decode_topic_list(bytes(told.body)))
        answers = await self._fan_out.on_masters(
            None, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER
        )
        for answer in answers.values():
            found.update(decode_topic_list(bytes(answer.body)))
        return sorted(found)

    async def names_of_units(self, *, is_unit: bool | None, is_subscribed: bool) -> list[str]:
        """Topics created in a unit or, with `is_subscribed`, subscribed to from a unit;
        `is_unit=False` leaves those out that were created in a unit.
        """
        if not is_subscribed:
            code = RequestCode.GET_UNIT_TOPIC_LIST
        elif is_unit is False:
            code = RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST
        else:
            code = RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST
        answer = await self._fan_out.name_server(code)
        return sorted(decode_topic_list(bytes(answer.body)))

    async def route(self, topic: str) -> TopicRoute:
        """The route of a topic. TopicNotFound: it has none."""
        return await self._fan_out.route(topic)

    # How they are set up.

    async def config(self, topic: str, *, on: Where = None) -> dict[str, TopicConfig]:
        """Settings of a topic by broker, of the brokers that have it."""
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.GET_TOPIC_CONFIG, TopicHeader(topic)
        )
        return {name: decode_topic_config(bytes(one.body)) for name, one in answers.items()}

    async def configs(self, *, on: Where = None) -> dict[str, list[TopicConfig]]:
        """The settings of all topics, by broker."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_TOPIC_CONFIG)
        return {name: decode_topic_table(bytes(one.body))[1] for name, one in answers.items()}

    async def tables(
        self, known: Mapping[str, KnownTable[TopicConfig]], *, on: Where = None
    ) -> dict[str, KnownTable[TopicConfig]]:
        """The settings of all topics with their version, by broker; of brokers whose table has the
        version of the `known` one, that very object: they are not asked for more.
        """
        masters = await self._fan_out.masters(on)
        names = {address: name for name, address in masters.items()}

        async def ask(address: str) -> KnownTable[TopicConfig]:
            return await _TABLE.ask(self._fan_out.broker, address, known.get(names[address]))

        return await self._fan_out.each(masters, ask)

    async def static_names(self, *, on: Where = None) -> dict[str, list[str]]:
        """The static topics, whose queues may be on other brokers, by broker."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_TOPIC_CONFIG)
        return {name: decode_static_topics(bytes(one.body)) for name, one in answers.items()}

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
        """Create a topic, or replace its settings; returns the brokers that have it now.

        `attributes` are set, and none is removed: `{"message.type": "FIFO"}`.
        """
        signed = {f"+{name}": value for name, value in (attributes or {}).items()}
        config = TopicConfig(
            topic, queues, queues, permission, is_order=is_order, attributes=signed
        )
        made = await self.put(config, on=on)
        await self._wait_for_route(topic, made)
        return made

    async def put(self, config: TopicConfig, *, on: Where = None) -> list[str]:
        """Create or change a topic by this config. Its attributes are changes: `+name` sets,
        `-name` removes.
        """
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
        """Create or change several topics; a broker takes all of them or none. RocketMQ's brokers
        know this request since 5.3.
        """
        body = encode_topic_configs(configs)
        return list(
            await self._fan_out.on_masters(on, RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, body=body)
        )

    async def set_permission(self, topic: str, permission: int, *, on: Where = None) -> list[str]:
        """Set the permission of a topic (read 4, write 2) on each broker; other settings stay as
        they are.
        """
        known = await self.config(topic, on=on)
        for broker, config in known.items():
            await self.put(replace(config, permission=permission, attributes={}), on=broker)
        return list(known)

    async def delete(self, topic: str, *, on: Where = None) -> list[str]:
        """Delete a topic with its messages and routes; returns the brokers that had it."""
        done = await self._fan_out.on_masters(
            on, RequestCode.DELETE_TOPIC_IN_BROKER, TopicHeader(topic)
        )
        if on is None:
            await self.forget(topic)
        return list(done)

    async def forget(self, topic: str, *, cluster: str = "") -> list[str]:
        """Have name servers forget the routes of a topic, in a cluster or everywhere; returns those
        that did. A broker that has the topic registers it again.
        """
        fields = {"topic": topic, **({"clusterName": cluster} if cluster else {})}
        return list(await self._fan_out.name_servers(RequestCode.DELETE_TOPIC_IN_NAMESRV, fields))

    async def _wait_for_route(self, topic: str, brokers: list[str]) -> None:
        """Wait until a name server has the route of a new topic: brokers register it at once, but
        answer before that has arrived. A route that never comes is no error of the topic.
        """
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
        """The first and the next offset of each queue, on all brokers together; of a static topic
        also those of its logical queues.
        """
        answers = await self._fan_out.on_masters_of(
            topic, on, RequestCode.GET_TOPIC_STATS_INFO, TopicHeader(topic)
        )
        queues: dict[MessageQueue, QueueStats] = {}
        rate = 0.0
        for answer in answers.values():
            stats = decode_topic_stats(bytes(answer.body))
            queues.update(stats.queues)
            rate += stats.sends_a_second
        logical: Mapping[MessageQueue, QueueStats] = {}
        if on is None and (await self._fan_out.route(topic)).mappings:
            logical = logical_stats(topic, await static_topic(self._fan_out, topic), queues)
        return TopicStats(dict(sorted(queues.items())), rate, logical)

    async def groups(self, topic: str, *, on: Where = None) -> list[str]:
        """The groups that consume a topic, or once did."""
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
        """The order configuration, such as `broker-a:4;broker-b:4`, which ordering producers use;
        or empty.
        """
        fields = {"namespace": ORDER_NAMESPACE, "key": topic}
        try:
            answer = await self._fan_out.name_server(RequestCode.GET_KV_CONFIG, fields)
        except Refused:
            return ""
        return answer.ext_fields.get("value", "")

    async def set_order(self, topic: str, queues: Mapping[str, int]) -> None:
        """Set the number of ordered queues by broker; an empty mapping removes the setting."""
        fields = {"namespace": ORDER_NAMESPACE, "key": topic}
        if not queues:
            await self._fan_out.name_servers(RequestCode.DELETE_KV_CONFIG, fields)
            return
        text = ";".join(f"{broker}:{count}" for broker, count in queues.items())
        await self._fan_out.name_servers(RequestCode.PUT_KV_CONFIG, {**fields, "value": text})
