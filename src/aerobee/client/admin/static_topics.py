"""`StaticTopicAdmin` makes static topics, gives them more queues, and moves their queues.

    async with aerobee.admin("localhost:9876") as admin:
        await admin.topics.static.create("orders", queues=12)
        await admin.topics.static.move("orders", on=("broker-c", "broker-d"))

A plan says what every broker has after a change. It is applied broker by broker, and a move in
steps: the new brokers take messages, the old ones take no more, the offsets at which the queues go
on are decided, the new brokers can be read. A plan that was interrupted is applied again: brokers
keep what they have of it, and take the rest.
"""

from collections.abc import Mapping

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.connection.remote_call import command_of
from aerobee.errors import Misuse, RemoteAnswer
from aerobee.model.mapping_plan import (
    MappingPlan,
    StaticTopic,
    agreed,
    check_follows,
    decided_queues,
    made_queues,
    moved_queues,
    resumed,
    with_other_brokers,
)
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.queue_mapping import Chain, decided_items, leading_brokers, logical_broker
from aerobee.protocol.bodies.consume_stats import ConsumeProgress
from aerobee.protocol.bodies.queue_mapping import decode_static_topic, encode_mapping
from aerobee.protocol.bodies.topic_stats import QueueStats
from aerobee.protocol.headers.offsets import MaxOffsetHeader, OffsetAnswerHeader
from aerobee.protocol.headers.topics import CreateStaticTopicHeader, TopicConfigHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode


class StaticTopicAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    async def mappings(self, topic: str) -> dict[str, StaticTopic]:
        """What each broker has of a static topic; empty: there is none of this name. Misuse: it is
        an ordinary topic.
        """
        return await static_topic(self._fan_out, topic)

    async def create(self, topic: str, *, queues: int, on: Where = None) -> MappingPlan:
        """Make a static topic, or give it more queues, on these brokers; returns the plan, which
        is applied.
        """
        return await self.apply(await self.plan_queues(topic, queues, on=on))

    async def move(self, topic: str, *, on: Where = None) -> MappingPlan:
        """Move the queues of a static topic, so that all are on these brokers."""
        return await self.apply(await self.plan_move(topic, on=on))

    async def plan_queues(self, topic: str, queues: int, *, on: Where = None) -> MappingPlan:
        """The plan of `create`. Nothing is changed."""
        known = await self.mappings(topic)
        targets = await self._fan_out.masters(on)
        plan = made_queues(topic, queues, targets, known, self._fan_out.now_ms())
        return await self._completed(plan)

    async def plan_move(self, topic: str, *, on: Where = None) -> MappingPlan:
        """The plan of `move`. Nothing is changed."""
        known = await self.mappings(topic)
        targets = await self._fan_out.masters(on)
        return await self._completed(moved_queues(topic, targets, known, self._fan_out.now_ms()))

    async def apply(self, plan: MappingPlan, *, is_forced: bool = False) -> MappingPlan:
        """Apply a plan, or the rest of one that was interrupted; returns it with the offsets of
        moved queues. `is_forced`: brokers take it even if it contradicts what they have.
        """
        agreed(plan.topic, plan.brokers)
        addresses = await self._fan_out.masters(sorted(plan.brokers))
        for name in plan.brokers:
            if name not in addresses:
                raise Misuse(f"Can't find addr for broker {name}", hint="nothing was changed")
        # Of two steps, the second begins when all brokers have taken the first.
        known = await self.mappings(plan.topic)
        if not is_forced:
            check_follows(plan, known)
        plan = resumed(plan, known)
        for name in sorted(plan.gaining):
            await self._put(plan, name, addresses[name], is_forced)
        for name in sorted(plan.losing):
            await self._put(plan, name, addresses[name], is_forced)
        plan = decided_queues(plan, await self._ends(plan, addresses))
        for name in sorted(plan.gaining) + sorted(plan.losing):
            await self._put(plan, name, addresses[name], is_forced)
        for name in sorted(plan.brokers.keys() - plan.gaining - plan.losing):
            await self._put(plan, name, addresses[name], is_forced)
        return plan

    async def _put(self, plan: MappingPlan, name: str, address: str, is_forced: bool) -> None:
        config, mapping = plan.brokers[name].config, plan.brokers[name].mapping
        header = CreateStaticTopicHeader(
            config.name,
            config.read_queues,
            config.write_queues,
            config.permission,
            config.filter_type,
            config.sys_flag,
            config.is_order,
            is_forced,
        )
        code = RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC
        await self._fan_out.broker(address, code, header, encode_mapping(mapping))

    async def _ends(
        self, plan: MappingPlan, addresses: Mapping[str, str]
    ) -> dict[tuple[str, int], int]:
        """The ends of the queues that brokers have lost, of all that was stored in them."""
        ends = {}
        for name in plan.losing:
            for chain in plan.brokers[name].mapping.hosted.values():
                if len(chain) < 2 or chain[-1].is_decided:
                    continue
                before = chain[-2]
                header = MaxOffsetHeader(plan.topic, QueueId(before.queue_id), committed=False)
                fields = {**write_header(header), "lo": "false"}
                command = command_of(RequestCode.GET_MAX_OFFSET, fields)
                answer = await self._fan_out.command(addresses[before.broker], command)
                end = read_header(OffsetAnswerHeader, answer.ext_fields).offset
                ends[before.broker, before.queue_id] = end
        return ends

    async def _completed(self, plan: MappingPlan) -> MappingPlan:
        """The plan with all brokers of the clusters that it concerns."""
        clusters = (await self._fan_out.cluster()).names_by_cluster()
        concerned = [names for names in clusters.values() if plan.brokers.keys() & set(names)]
        return with_other_brokers(plan, [name for names in concerned for name in names])


async def static_topic(fan_out: FanOut, topic: str) -> dict[str, StaticTopic]:
    """See `StaticTopicAdmin.mappings`."""

    async def ask(address: str) -> bytes:
        header = TopicConfigHeader(topic, is_logical=True)
        try:
            answer = await fan_out.broker(address, RequestCode.GET_TOPIC_CONFIG, header)
        except RemoteAnswer as error:
            if error.code == ResponseCode.TOPIC_NOT_EXIST:
                return b""
            raise
        return bytes(answer.body)

    found = {}
    for name, body in (await fan_out.each(await fan_out.masters(), ask)).items():
        one = decode_static_topic(body) if body else None
        if body and one is None:
            raise Misuse(
                f"Mapping info should not be null in broker {name}: {topic} is an ordinary topic",
                hint="choose another name, or delete it there",
            )
        if one is not None:
            found[name] = one
    return found


def _logical_queues(topic: str, brokers: Mapping[str, StaticTopic]) -> dict[MessageQueue, Chain]:
    """The chains of a static topic by logical queue."""
    infos = [one.mapping.info() for one in brokers.values()]
    if not infos:
        return {}
    name = logical_broker(infos[0].scope)
    return {
        MessageQueue(topic, name, QueueId(number)): brokers[broker].mapping.hosted[number]
        for number, broker in leading_brokers(infos).items()
        if broker in brokers
    }


def logical_stats(
    topic: str, brokers: Mapping[str, StaticTopic], queues: Mapping[MessageQueue, QueueStats]
) -> dict[MessageQueue, QueueStats]:
    """The statistics of logical queues, from those of the physical ones."""
    found = {}
    for queue, chain in _logical_queues(topic, brokers).items():
        items = decided_items(chain)
        parts = [
            queues.get(MessageQueue(topic, item.broker, QueueId(item.queue_id))) for item in items
        ]
        if parts and parts[0] is not None and parts[-1] is not None:
            low = items[0].logical(parts[0].min_offset)
            high = items[-1].logical(parts[-1].max_offset)
            found[queue] = QueueStats(low, high, parts[-1].stored_ms)
    return found


def logical_progress(
    topic: str,
    brokers: Mapping[str, StaticTopic],
    queues: Mapping[MessageQueue, ConsumeProgress],
) -> dict[MessageQueue, ConsumeProgress]:
    """The progress in logical queues, from that in physical ones: that of the newest part in which
    the group has an offset.
    """
    found = {}
    for queue, chain in _logical_queues(topic, brokers).items():
        parts = [
            (item, part)
            for item in reversed(decided_items(chain))
            if (part := queues.get(MessageQueue(topic, item.broker, QueueId(item.queue_id))))
        ]
        if not parts:
            continue
        consumed = next((one for one in parts if one[1].consumer_offset >= 0), parts[-1])
        item, part = consumed
        newest, end = parts[0]
        found[queue] = ConsumeProgress(
            newest.logical(end.broker_offset),
            item.logical(part.consumer_offset),
            item.logical(part.pull_offset),
            part.last_timestamp,
        )
    return found
