"""Sub-commands about topics: their names, routes and settings.

A topic is changed broker by broker; the first refusal ends the command, with the broker's reason.

Before a static topic is changed its mapping data is written to two files, as RocketMQ's tool does:
what is there (`.before`) and what is to be (`.after`). The second one is what `--mapFile` takes, to
apply a change again that was interrupted.

Imports more than 15 modules because routes, statistics and mappings are shown here, too.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from aerobee.cli.mqadmin.command import BROKER, CLUSTER, WHERE, Call, Command, required
from aerobee.cli.mqadmin.files import read_bytes, write_mapping
from aerobee.cli.mqadmin.java_text import time_with_ms, topic_text
from aerobee.cli.mqadmin.options import Option
from aerobee.errors import AerobeeError, Misuse, NotFound, ProtocolError
from aerobee.model.names import is_dead_letter_topic, is_retry_topic
from aerobee.model.route import MASTER_ID, TopicRoute
from aerobee.model.topic import UNIT, UNIT_SUBSCRIPTION, TopicConfig

if TYPE_CHECKING:
    from aerobee.model.mapping_plan import MappingPlan

QUEUES = 8
_ROUTE_ROW = "{:<45} {:<32} {:<50} {:<10} {:<11} {:<5}"
_TOPIC = required(Option("t", "topic", "the topic"))
_BROKERS = Option("b", "brokers", "the names of brokers, with commas in between")
_CLUSTERS = Option("c", "clusters", "all brokers of clusters, with commas in between")
_FILE = Option("mf", "mapFile", "apply the mapping data in this file")
_FORCE = Option("fr", "forceReplace", "true: replace what brokers have, even if it is newer")


async def allocate_queues(call: Call) -> None:
    from aerobee.client.core.consume.allocation import Averagely
    from aerobee.client.core.routes import client_route
    from aerobee.protocol.bodies.message_queue import queue_json
    from aerobee.protocol.text.json_text import write_compact

    topic = call.given.text("topic")
    route = client_route(topic, await call.admin.topics.route(topic))
    addresses = call.given.text("ipList").split(",")
    share = Averagely().share
    shared = {one: share(one, route.readable, addresses) for one in addresses}
    told = {one: [queue_json(queue) for queue in queues] for one, queues in shared.items()}
    call.say(write_compact({"result": told}).decode())


async def delete_topic(call: Call) -> None:
    topic, cluster = call.given.text("topic"), call.given.text(CLUSTER.long)
    on = list(await call.masters_in(cluster))
    await call.admin.topics.delete(topic, on=on)
    call.say(f"delete topic [{topic}] from cluster [{cluster}] success.")
    await call.admin.topics.forget(topic, cluster=cluster)
    call.say(f"delete topic [{topic}] from NameServer success.")


async def list_clusters(call: Call) -> None:
    route = await call.admin.topics.route(call.given.text("topic"))
    for cluster in sorted({broker.cluster for broker in route.brokers}):
        call.say(cluster)


async def list_topics(call: Call) -> None:
    names = sorted(await call.admin.topics.names())
    if "clusterModel" not in call.given:
        for name in names:
            call.say(name)
        return
    call.say("{:<20}  {:<48}  {:<48}".format("#Cluster Name", "#Topic", "#Consumer Group"))
    for name in names:
        if is_retry_topic(name) or is_dead_letter_topic(name):
            continue
        try:
            route = await call.admin.topics.route(name)
            cluster = route.brokers[0].cluster if route.brokers else ""
            groups = await call.admin.topics.groups(name)
        except AerobeeError:  # it may be gone by now
            cluster, groups = "", []
        for group in groups or [""]:
            call.say(f"{cluster[:20]:<20}  {name[:64]:<64}  {group[:64]:<64}")


async def show_route(call: Call) -> None:
    from aerobee.protocol.bodies.topic_route import encode_topic_route
    from aerobee.protocol.text.json_text import parse, write_pretty

    route = await call.admin.topics.route(call.given.text("topic"))
    if "list" not in call.given:
        told = parse(encode_topic_route(route, is_standard=False))
        call.say(write_pretty(told).decode())
        return
    for line in _route_lines(route):
        call.say(line)


def _route_lines(route: TopicRoute) -> Iterable[str]:
    queues = {one.broker_name: one for one in route.queues}
    yield _ROUTE_ROW.format(
        "#ClusterName", "#BrokerName", "#BrokerAddrs", "#ReadQueue", "#WriteQueue", "#Perm"
    )
    reads = writes = 0
    for broker in sorted(route.brokers, key=lambda one: one.name):
        if broker.name not in queues:
            continue
        has = queues[broker.name]
        reads += has.read_queues
        writes += has.write_queues
        places = ", ".join(f"{number}={one}" for number, one in sorted(broker.addresses.items()))
        addresses = f"{{{places}}}"
        yield _ROUTE_ROW.format(
            broker.cluster,
            broker.name,
            addresses,
            has.read_queues,
            has.write_queues,
            has.permission,
        )
    yield "-" * 158
    yield _ROUTE_ROW.format("Total:", len(queues), "", reads, writes, "")


async def show_status(call: Call) -> None:
    on = (
        list(await call.masters_in(call.given.text("cluster"))) if "cluster" in call.given else None
    )
    stats = await call.admin.topics.stats(call.given.text("topic"), on=on)
    call.say(
        "{:<32}  {:<4}  {:<20}  {:<20}    {}".format(
            "#Broker Name", "#QID", "#Min Offset", "#Max Offset", "#Last Updated"
        )
    )
    for queue, one in sorted({**stats.queues, **stats.logical}.items()):
        stored = time_with_ms(one.stored_ms) if one.stored_ms > 0 else ""
        call.say(
            f"{queue.broker_name[:32]:<32}  {queue.queue_id:<4}  {one.min_offset:<20}  "
            f"{one.max_offset:<20}    {stored}"
        )
    call.say("")
    call.say(f"Topic Put TPS: {stats.sends_a_second}")


async def set_order(call: Call) -> None:
    topic, method = call.given.text("topic"), call.given.text("method")
    if method == "get":
        told = await call.admin.topics.order(topic)
        if not told:
            raise NotFound(f"{topic} has no order configuration", hint="set one with -m put")
        call.say(f"get orderConf success. topic=[{topic}], orderConf=[{told}] ", end="")
    elif method == "put":
        text = call.given.text("orderConf")
        await call.admin.topics.set_order(topic, _order(text))
        call.say(f"update orderConf success. topic=[{topic}], orderConf=[{text}]", end="")
    elif method == "delete":
        await call.admin.topics.set_order(topic, {})
        call.say(f"delete orderConf success. topic=[{topic}]", end="")
    else:
        raise Misuse(f"--method is get, put or delete, not {method!r}")


def _order(text: str) -> dict[str, int]:
    """Parse `broker-a:4;broker-b:4`."""
    found = {}
    for part in filter(None, text.split(";")):
        broker, _, count = part.rpartition(":")
        if not broker or not count.isdigit():
            raise Misuse(f"{part!r} is no order configuration", hint="say broker-a:4;broker-b:4")
        found[broker] = int(count)
    if not found:
        raise Misuse("please set orderConf with option -v", hint="say -v broker-a:4")
    return found


async def put_topic(call: Call) -> None:
    given = call.given
    flag = UNIT if given.is_true("unit") else 0
    flag |= UNIT_SUBSCRIPTION if given.is_true("hasUnitSub") else 0
    config = TopicConfig(
        given.text("topic"),
        given.number("readQueueNums", QUEUES),
        given.number("writeQueueNums", QUEUES),
        given.number("perm", 6),
        flag,
        given.is_true("order"),
        attributes=_attributes(given.text("attributes")),
    )
    masters = await call.masters()
    for address in masters:
        await call.admin.topics.put(config, on=address)
        if BROKER.long not in given:
            call.say(f"create topic to {address} success.")
    if config.is_order:
        await _put_order(call, config, masters)
    if BROKER.long in given:
        call.say(f"create topic to {masters[0]} success.")
    call.say(topic_text(config))


async def _put_order(call: Call, config: TopicConfig, masters: list[str]) -> None:
    info = await call.admin.cluster()
    names = sorted(one.name for one in info.brokers if one.addresses.get(MASTER_ID) in masters)
    before = (
        {} if CLUSTER.long in call.given else _known(await call.admin.topics.order(config.name))
    )
    told = dict.fromkeys(names, config.write_queues)
    await call.admin.topics.set_order(config.name, {**before, **told})
    place = "broker" if BROKER.long in call.given else "cluster"
    text = ";".join(f"{name}:{count}" for name, count in told.items())
    call.say(f"set {place} orderConf. isOrder=true, orderConf=[{text}]")


def _known(text: str) -> dict[str, int]:
    return _order(text) if text else {}


def _attributes(text: str) -> dict[str, str]:
    """Parse `+message.type=FIFO,-other`: with their signs, as a broker expects them."""
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.strip().partition("=")
        if name[:1] not in ("+", "-") or (name.startswith("+") and not value):
            raise Misuse(f"{part!r} changes no attribute", hint="say +name=value or -name")
        found[name] = value
    return found


async def put_topics(call: Call) -> None:
    from aerobee.cli.mqadmin.files import read_json_list
    from aerobee.protocol.bodies.topic_config import topic_config_from

    rows = read_json_list(call.given.text("filename"))
    configs = [topic_config_from(row, row.text("topicName")) for row in rows]
    for address in await call.masters():
        await call.admin.topics.put_many(configs, on=address)
        call.say(
            f"submit batch of topic config to {address} success, please check the result later."
        )


async def set_permission(call: Call) -> None:
    topic, permission = call.given.text("topic"), call.given.number("perm")
    masters = await call.masters()
    for address in masters:
        known = (await call.admin.topics.config(topic, on=address))[address]
        if BROKER.long in call.given and known.permission == permission:
            call.say("new perm equals to the old one!")
            return
        await call.admin.topics.set_permission(topic, permission, on=address)
        call.say(f"update topic perm from {known.permission} to {permission} in {address} success.")
        if BROKER.long in call.given:
            now = replace(known, permission=permission, attributes={})
            call.say(f"{topic_text(now)}.")


async def show_stats_of_all(call: Call) -> None:
    call.say(
        "{:<64}  {:<64} {:>12} {:>11} {:>11} {:>14} {:>14}".format(
            "#Topic",
            "#Consumer Group",
            "#Accumulation",
            "#InTPS",
            "#OutTPS",
            "#InMsg24Hour",
            "#OutMsg24Hour",
        )
    )
    chosen = call.given.text("topic")
    for topic in sorted(await call.admin.topics.names()):
        if is_retry_topic(topic) or is_dead_letter_topic(topic) or (chosen and topic != chosen):
            continue
        await _say_stats(call, topic)


async def _say_stats(call: Call, topic: str) -> None:
    only_active = "activeTopic" in call.given
    rate_in, count_in = await _figure(call, "TOPIC_PUT_NUMS", topic)
    groups = await call.admin.topics.groups(topic)
    for group in groups:
        rate, count = await _figure(call, "GROUP_GET_NUMS", f"{topic}@{group}")
        lag = (await call.admin.groups.progress(group, topic=topic)).lag
        if not only_active or count_in or count:
            call.say(
                f"{topic[:64]:<64}  {group[:64]:<64} {lag:>12} {rate_in:>11.2f} {rate:>11.2f} "
                f"{count_in:>14} {count:>14}"
            )
    if not groups and (not only_active or count_in):
        call.say(
            f"{topic[:64]:<64}  {'':<64} {0:>12} {rate_in:>11.2f} {'':>11} {count_in:>14} "
            f"{'NO_CONSUMER':>14}"
        )


async def _figure(call: Call, figure: str, of: str) -> tuple[float, int]:
    """Return the rate per second over the last minute, and the count of the last day so far."""
    told = await call.admin.brokers.stats(figure, of)
    rate, count = 0.0, 0
    for one in filter(None, told.values()):
        rate += one.minute.tps
        count += one.day.sum or one.hour.sum or one.minute.sum
    return rate, count


async def update_static_topic(call: Call) -> None:
    topic = call.given.text("topic")
    if _FILE.long in call.given:
        await _apply_file(call, topic)
        return
    queues = call.given.number("totalQueueNum")
    if queues < 1:
        raise Misuse("-qn (--totalQueueNum) is the number of queues, from 1 on")
    on = await _targets(call)
    await _say_known(call, topic)
    await _apply(call, await call.admin.topics.static.plan_queues(topic, queues, on=on))


async def remap_static_topic(call: Call) -> None:
    topic = call.given.text("topic")
    if _FILE.long in call.given:
        await _apply_file(call, topic)
        return
    on = await _targets(call)
    plan = await call.admin.topics.static.plan_move(topic, on=on)
    await _say_known(call, topic)
    await _apply(call, plan)


async def _targets(call: Call) -> list[str]:
    """The names of the brokers that are meant."""
    if call.given.one_of(_BROKERS.long, _CLUSTERS.long) == _BROKERS.long:
        return _split(call.given.text(_BROKERS.long))
    clusters = (await call.admin.cluster()).names_by_cluster()
    names = _split(call.given.text(_CLUSTERS.long))
    found = [broker for name in names for broker in clusters.get(name, ())]
    if not found:
        raise NotFound("Find none brokers, do nothing", hint=f"there are: {', '.join(clusters)}")
    return found


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


async def _say_known(call: Call, topic: str) -> None:
    from aerobee.model.mapping_plan import MappingPlan
    from aerobee.protocol.bodies.queue_mapping import encode_plan

    known = await call.admin.topics.static.mappings(topic)
    epoch = max((one.mapping.epoch for one in known.values()), default=0)
    path = write_mapping(f"{topic}-{epoch}.before", encode_plan(MappingPlan(topic, epoch, known)))
    call.say(f"The old mapping data is written to file {path}")


async def _apply(call: Call, plan: "MappingPlan") -> None:
    from aerobee.protocol.bodies.queue_mapping import encode_plan

    path = write_mapping(f"{plan.topic}-{plan.epoch}.after", encode_plan(plan))
    call.say(f"The new mapping data is written to file {path}")
    await call.admin.topics.static.apply(plan)


async def _apply_file(call: Call, topic: str) -> None:
    from aerobee.protocol.bodies.queue_mapping import decode_plan

    name = call.given.text(_FILE.long)
    try:
        plan = decode_plan(read_bytes(name))
    except ProtocolError as error:
        raise Misuse(f"{name}: {error.message}") from None
    if plan.topic != topic:
        raise Misuse(f"{name} is of the topic {plan.topic}")
    await call.admin.topics.static.apply(plan, is_forced=call.given.is_true(_FORCE.long))


COMMANDS = (
    Command(
        "updateStaticTopic",
        "Update or create static topic, which has fixed number of queues.",
        (
            _CLUSTERS,
            _BROKERS,
            _TOPIC,
            Option("qn", "totalQueueNum", "the number of queues, on all brokers together"),
            _FILE,
            _FORCE,
        ),
        update_static_topic,
    ),
    Command(
        "remappingStaticTopic",
        "Remapping static topic.",
        (_CLUSTERS, _BROKERS, _TOPIC, _FILE, _FORCE),
        remap_static_topic,
    ),
    Command(
        "allocateMQ",
        "Allocate MQ.",
        (_TOPIC, required(Option("i", "ipList", "members, with commas in between"))),
        allocate_queues,
    ),
    Command(
        "deleteTopic",
        "Delete topic from broker and NameServer.",
        (_TOPIC, required(CLUSTER)),
        delete_topic,
    ),
    Command("topicClusterList", "Get cluster info for topic.", (_TOPIC,), list_clusters),
    Command(
        "topicList",
        "Fetch all topic list from name server.",
        (Option("c", "clusterModel", "with clusters and groups", is_switch=True),),
        list_topics,
    ),
    Command(
        "topicRoute",
        "Examine topic route info.",
        (_TOPIC, Option("l", "list", "as a table", is_switch=True)),
        show_route,
    ),
    Command(
        "topicStatus",
        "Examine topic Status info.",
        (_TOPIC, Option("c", "cluster", "on the brokers of a cluster")),
        show_status,
    ),
    Command(
        "updateOrderConf",
        "Create or update or delete order conf.",
        (
            _TOPIC,
            required(Option("m", "method", "get, put or delete")),
            Option("v", "orderConf", "broker-a:4;broker-b:4"),
        ),
        set_order,
    ),
    Command(
        "updateTopic",
        "Update or create topic.",
        (
            *WHERE,
            _TOPIC,
            Option("r", "readQueueNums", f"queues to read ({QUEUES})"),
            Option("w", "writeQueueNums", f"queues to write ({QUEUES})"),
            Option("p", "perm", "2 write, 4 read, 6 both (6)"),
            Option("o", "order", "true, if order is kept"),
            Option("u", "unit", "true, if it is of a unit"),
            Option("s", "hasUnitSub", "true, if other units subscribe"),
            Option("a", "attributes", "+name=value,-name"),
        ),
        put_topic,
    ),
    Command(
        "updateTopicList",
        "create or update topic in batch",
        (*WHERE, required(Option("f", "filename", "a JSON array of topics"))),
        put_topics,
    ),
    Command(
        "updateTopicPerm",
        "Update topic perm.",
        (*WHERE, _TOPIC, required(Option("p", "perm", "2 write, 4 read, 6 both"))),
        set_permission,
    ),
    Command(
        "statsAll",
        "Topic and Consumer tps stats.",
        (
            Option("a", "activeTopic", "only those with messages", is_switch=True),
            Option("t", "topic", "only this one"),
        ),
        show_stats_of_all,
    ),
)
