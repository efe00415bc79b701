"""Sub-commands about connected clients, and about the progress of groups.

For a group without members RocketMQ's tool fails: so do these.
"""

import time
from collections.abc import Iterable, Mapping

from aerobee.cli.mqadmin.command import BROKER, Call, Command, required
from aerobee.cli.mqadmin.java_text import time_to_the_second
from aerobee.cli.mqadmin.options import Option
from aerobee.cli.mqadmin.running_text import running_text
from aerobee.client.admin.connections import Consumers
from aerobee.client.admin.groups import GroupProgress
from aerobee.errors import AerobeeError, Misuse, NotFound
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import RETRY_PREFIX
from aerobee.model.subscription import ConsumeType
from aerobee.protocol.bodies.connections import version_name
from aerobee.protocol.bodies.running_info import RunningInfo

_GROUP = required(Option("g", "consumerGroup", "the group"))
_BROKER = BROKER._replace(text="as one broker knows them")


async def _online(call: Call, group: str) -> Consumers:
    """Return the members of a group; none is an error, as with RocketMQ's tool."""
    on = call.given.text(BROKER.long) or None
    found = await call.admin.connections.consumers(group, on=on)
    if found.manner is None:
        raise NotFound(
            f"the consumer group[{group}] not online",
            hint=f"mqadmin consumerProgress -g {group} shows where it was",
        )
    return found


async def show_consumers(call: Call) -> None:
    found = await _online(call, call.given.text("consumerGroup"))
    assert found.manner is not None
    call.say(f"{'#ClientId':<36} {'#ClientAddr':<22} {'#Language':<10} #Version")
    for one in found.clients:
        call.say(
            f"{one.client_id:<36} {one.address:<22} {one.language:<10} {version_name(one.version)}"
        )
    call.say("\nBelow is subscription:")
    call.say(f"{'#Topic':<20} #SubExpression")
    for wanted in found.subscriptions:
        call.say(f"{wanted.topic:<20} {wanted.expression}")
    call.say("")
    call.say(f"ConsumeType: {found.manner.consume_type.value}")
    call.say(f"MessageModel: {found.manner.message_model.value}")
    call.say(f"ConsumeFromWhere: {found.manner.consume_from.value}")


async def show_producers(call: Call) -> None:
    group, topic = call.given.text("producerGroup"), call.given.text("topic")
    on = [one.name for one in (await call.admin.topics.route(topic)).brokers]
    found = await call.admin.connections.producers(group, on=on)
    if not found:
        raise NotFound(
            f"the producer group[{group}] not exist", hint="mqadmin producer -b ADDRESS lists all"
        )
    for number, one in enumerate(found, 1):
        call.say(
            f"{number:04d}  {one.client_id:<32} {one.address:<22} {one.language:<8} "
            f"{version_name(one.version)}"
        )


async def list_producers(call: Call) -> None:
    found = await call.admin.connections.producers_of_all(on=call.given.text("broker"))
    for group, members in found.items():
        for one in members:
            call.say(
                f"producer group ({group}) instance : clientId={one.client_id},"
                f"remoteIP=/{one.address}, language={one.language}, version={one.version}, "
                f"lastUpdateTimestamp={one.beaten_wall_ms}"
            )


async def show_progress(call: Call) -> None:
    group = call.given.text("groupName")
    if not group:
        await _list_progress(call)
        return
    topic = call.given.text("topicName")
    progress = await call.admin.groups.progress(group, topic=topic)
    if not progress.queues:
        raise NotFound(
            f"the group {group!r} has consumed nothing" + (f" of {topic}" if topic else ""),
            hint="mqadmin consumerProgress lists groups",
        )
    clients = await _owners(call, group) if call.given.is_true("showClientIP") else None
    for line in _progress_lines(progress, clients):
        call.say(line)


def _progress_lines(
    progress: GroupProgress, clients: Mapping[MessageQueue, str] | None
) -> Iterable[str]:
    owner = "" if clients is None else f"{'#Client IP':<20} "
    yield (
        f"{'#Topic':<64}  {'#Broker Name':<32}  {'#QID':<4}  {'#Broker Offset':<20}  "
        f"{'#Consumer Offset':<20}  {owner}{'#Diff':<20} {'#Inflight':<20}#LastTime"
    )
    for queue, one in sorted(progress.queues.items()):
        owner = "" if clients is None else f"{clients.get(queue, 'N/A'):<20} "
        last = time_to_the_second(one.last_timestamp) if one.last_timestamp else "N/A"
        yield (
            f"{queue.topic[:64]:<64}  {queue.broker_name[:32]:<32}  {queue.queue_id:<4}  "
            f"{one.broker_offset:<20}  {one.consumer_offset:<20}  {owner}{one.lag:<20} "
            f"{one.in_flight:<20} {last}"
        )
    yield ""
    yield f"Consume TPS: {progress.messages_a_second:.2f}"
    yield f"Consume Diff Total: {sum(one.lag for one in progress.queues.values())}"
    yield f"Consume Inflight Total: {sum(one.in_flight for one in progress.queues.values())}"


async def _owners(call: Call, group: str) -> dict[MessageQueue, str]:
    """Return the address of the member that has a queue, by queue. Members that do not answer are
    left out."""
    found: dict[MessageQueue, str] = {}
    for one in (await call.admin.connections.consumers(group)).clients:
        try:
            info = await call.admin.connections.running_info(group, one.client_id)
        except AerobeeError:
            continue
        found.update(dict.fromkeys(info.queues, one.client_id.partition("@")[0]))
    return found


async def _list_progress(call: Call) -> None:
    call.say(
        f"{'#Group':<64}  {'#Count':<6}  {'#Version':<24} {'#Type':<5}  {'#Model':<14}  "
        f"{'#TPS':<7}  #Diff Total"
    )
    for topic in await call.admin.topics.names():
        if not topic.startswith(RETRY_PREFIX):
            continue
        group = topic.removeprefix(RETRY_PREFIX)
        progress = await call.admin.groups.progress(group)
        found = await call.admin.connections.consumers(group)
        lag = sum(one.lag for one in progress.queues.values())
        call.say(f"{group[:64]:<64}  {_manner(found)}  {int(progress.messages_a_second):<7}  {lag}")


def _manner(found: Consumers) -> str:
    """Return count, oldest version, type and model, as columns."""
    if found.manner is None:
        return f"{0:<6}  {'OFFLINE':<24} {'':<5}  {'':<14}"
    is_pull = found.manner.consume_type is ConsumeType.ACTIVELY
    is_push = found.manner.consume_type is ConsumeType.PASSIVELY
    version = version_name(min(one.version for one in found.clients))
    model = found.manner.message_model.value if is_push else ""
    return f"{len(found.clients):<6}  {version:<24} {'PULL' if is_pull else 'PUSH':<5}  {model:<14}"


async def show_status(call: Call) -> None:
    group, has_stacks = call.given.text("consumerGroup"), "jstack" in call.given
    asking = call.admin.connections
    if "clientId" in call.given:
        client = call.given.text("clientId")
        try:
            info = await asking.running_info(group, client, has_stacks=has_stacks)
        except Misuse as error:
            hint = f"mqadmin consumerConnection -g {group} shows who is there"
            raise Misuse(error.message, hint=hint) from None
        call.say(running_text(info), end="")
        return
    found = await _online(call, group)
    call.say(f"{'#Index':<10} {'#ClientId':<40} {'#Version':<20} #ConsumerRunningInfoFile")
    told: dict[str, RunningInfo] = {}
    now_ms = time.time_ns() // 1_000_000
    for number, one in enumerate(found.clients, 1):
        info = await asking.running_info(group, one.client_id, has_stacks=has_stacks)
        told[one.client_id] = info
        path = f"{now_ms}/{one.client_id}"
        _write(path, running_text(info))
        call.say(f"{number:<10} {one.client_id:<40} {version_name(one.version):<20} {path}")
    _say_health(call, told)


def _write(path: str, text: str) -> None:
    from aerobee.cli.mqadmin.files import write_text

    write_text(path, text)


def _say_health(call: Call, told: Mapping[str, RunningInfo]) -> None:
    wanted = {
        frozenset((one.topic, one.expression) for one in info.subscriptions)
        for info in told.values()
    }
    if len(wanted) > 1:
        call.say("\n\nWARN: Different subscription in the same group of consumer!!!", end="")
        return
    call.say("\n\nSame subscription in the same group of consumer", end="")
    owned = [queue for info in told.values() for queue in info.queues]
    is_well = len(owned) == len(set(owned))
    call.say(f"\n\nRebalance {'OK' if is_well else 'Failed'}")


COMMANDS = (
    Command(
        "consumerConnection",
        "Query consumer's socket connection, client version and subscription.",
        (_GROUP, _BROKER),
        show_consumers,
    ),
    Command(
        "producerConnection",
        "Query producer's socket connection and client version.",
        (
            required(Option("g", "producerGroup", "the group")),
            required(Option("t", "topic", "a topic that it sends to")),
        ),
        show_producers,
    ),
    Command(
        "producer",
        "Query producer's instances, connection, status, etc.",
        (required(Option("b", "broker", "the address of a broker")),),
        list_producers,
    ),
    Command(
        "consumerProgress",
        "Query consumer's progress, speed.",
        (
            Option("g", "groupName", "the group; else all are listed"),
            Option("t", "topicName", "only in this topic"),
            Option("s", "showClientIP", "true: and who has each queue"),
            Option("c", "cluster", "taken and not needed: routes say which brokers"),
        ),
        show_progress,
    ),
    Command(
        "consumerStatus",
        "Query consumer's internal data structure.",
        (
            _GROUP,
            _BROKER,
            Option("i", "clientId", "what this one says of itself"),
            Option("s", "jstack", "and what it is doing", is_switch=True),
        ),
        show_status,
    ),
)
