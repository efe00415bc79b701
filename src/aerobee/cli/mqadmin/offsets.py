"""Sub-commands that reset the offsets of groups, and show the units of a consume queue.

A group may be reset to offset 0 of one queue: RocketMQ's tool prints that and does not do it.
"""

import time
from collections.abc import Mapping

from aerobee.cli.mqadmin.command import Call, Command, required
from aerobee.cli.mqadmin.java_text import moment
from aerobee.cli.mqadmin.options import Option
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.subscription import subscription_json
from aerobee.protocol.text.json_text import write_pretty

_LATEST = -1
_LINE = "=" * 38
_GROUP = required(Option("g", "group", "the group"))
_TOPIC = required(Option("t", "topic", "the topic"))
_CLUSTER = Option("c", "cluster", "on the brokers of a cluster")


async def clone(call: Call) -> None:
    source, target = call.given.text("srcGroup"), call.given.text("destGroup")
    topic = call.given.text("topic")
    progress = await call.admin.groups.progress(source, topic=topic)
    for queue, one in progress.queues.items():
        if one.consumer_offset >= 0:
            await call.admin.offsets.commit(target, queue, one.consumer_offset)
    call.say(
        f"clone group offset success. srcGroup[{source}], destGroup=[{target}], topic[{topic}]",
        end="",
    )


async def reset_by_time(call: Call) -> None:
    given = call.given
    group, topic, said = given.text("group"), given.text("topic"), given.text("timestamp")
    at = time.time_ns() // 1_000_000 if said == "now" else moment(said)
    if "broker" in given and "queue" in given:
        await _reset_queue(call, group, topic, at)
        return
    is_forced = given.is_true("force", True)
    moved = await call.admin.offsets.reset(
        group,
        topic,
        "latest" if at == _LATEST else at,
        is_forced=is_forced,
        on=await _brokers(call),
    )
    call.say(
        f"start reset consumer offset by specified, group[{group}], topic[{topic}], "
        f"force[{str(is_forced).lower()}], timestamp(string)[{said}], timestamp(long)[{at}]"
    )
    _say_offsets(call, moved)


async def _brokers(call: Call) -> list[str] | None:
    cluster = call.given.text("cluster")
    return list(await call.masters_in(cluster)) if cluster else None


async def _reset_queue(call: Call, group: str, topic: str, at: int) -> None:
    address, number = call.given.text("broker"), call.given.number("queue")
    said = call.given.text("timestamp")
    call.say(
        f"start reset consumer offset by specified, group[{group}], topic[{topic}], "
        f"queueId[{number}], broker[{address}], timestamp(string)[{said}], timestamp(long)[{at}]"
    )
    queue = MessageQueue(topic, address, QueueId(number))
    if "offset" in call.given:
        offset = call.given.number("offset")
    else:
        offset = await call.admin.offsets.at_time(queue, "latest" if at == _LATEST else at)
    await call.admin.offsets.reset_queue(group, queue, offset)
    call.say(f"reset consumer offset to {offset}")


async def skip(call: Call) -> None:
    moved = await call.admin.offsets.reset(
        call.given.text("group"),
        call.given.text("topic"),
        "latest",
        is_forced=call.given.is_true("force", True),
        on=await _brokers(call),
    )
    _say_offsets(call, moved)


def _say_offsets(call: Call, moved: Mapping[MessageQueue, int]) -> None:
    call.say(f"{'#brokerName':<40}  {'#queueId':<40}  {'#offset':<40}")
    for queue, offset in sorted(moved.items()):
        call.say(f"{queue.broker_name[:32]:<40}  {queue.queue_id:<40}  {offset:<40}")


async def show_units(call: Call) -> None:
    given = call.given
    topic, start = given.text("topic"), given.number("index")
    broker = given.text("broker")
    if not broker:
        broker = (await call.admin.topics.route(topic)).brokers[0].name
    queue = MessageQueue(topic, broker, QueueId(given.number("queue")))
    group = given.text("consumer")
    told = await call.admin.queues.units(
        queue, start=start, count=given.number("count", 10), group=group
    )
    if told.subscription is not None:
        shown = write_pretty(subscription_json(told.subscription)).decode()
        shown = shown.replace(":[]", ":[\n\t\t\n\t]")  # as their library lays nothing out
        call.say(f"Subscription data: \n{shown}\n{_LINE}")
    if group:
        call.say(f"Filter data: \nnull\n{_LINE}")
    call.say(f"Queue data: \nmax: {told.max_offset}, min: {told.min_offset}\n{_LINE}")
    for offset, unit in enumerate(told.units, start):
        call.say(
            f"idx: {offset}\n"
            f"ConsumeQueueData{{physicOffset={unit.log_offset}, physicSize={unit.size}, "
            f"tagsCode={unit.tag_code}, extendDataJson='null', bitMap='null', eval=false, "
            f"msg='null'}}\n{_LINE}"
        )


COMMANDS = (
    Command(
        "cloneGroupOffset",
        "Clone offset from other group.",
        (
            required(Option("s", "srcGroup", "where it is taken from")),
            required(Option("d", "destGroup", "who is to begin there")),
            _TOPIC,
            Option("o", "offline", "taken and not needed"),
        ),
        clone,
    ),
    Command(
        "resetOffsetByTime",
        "Reset consumer offset by timestamp(without client restart).",
        (
            _GROUP,
            _TOPIC,
            required(Option("s", "timestamp", "now, milliseconds or 2026-11-15#12:00:00:000")),
            Option("f", "force", "false: never forward"),
            _CLUSTER,
            Option("b", "broker", "with -q: the address of one broker"),
            Option("q", "queue", "with -b: one queue"),
            Option("o", "offset", "with -b and -q: this offset, and not by time"),
        ),
        reset_by_time,
    ),
    Command(
        "skipAccumulatedMessage",
        "Skip all messages that are accumulated (not consumed) currently.",
        (_GROUP, _TOPIC, Option("f", "force", "taken as RocketMQ's tool takes it"), _CLUSTER),
        skip,
    ),
    Command(
        "queryCq",
        "Query cq command.",
        (
            _TOPIC,
            required(Option("q", "queue", "its number")),
            required(Option("i", "index", "the first offset")),
            Option("c", "count", "how many (10)"),
            Option("b", "broker", "the address of its broker"),
            Option("g", "consumer", "with what this group wants"),
        ),
        show_units,
    ),
)
