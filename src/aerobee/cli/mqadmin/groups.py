"""Sub-commands about consumer groups: their settings and their consume mode.

A setting that is not given when a group is created gets the default of RocketMQ's tool, which is
not the broker's.
"""

import json
from dataclasses import replace

from aerobee.cli.mqadmin.command import BROKER, WHERE, Call, Command, required
from aerobee.cli.mqadmin.java_text import group_members, group_text
from aerobee.cli.mqadmin.options import Given, Option
from aerobee.errors import Misuse, NotFound
from aerobee.model.group import GroupConfig
from aerobee.model.names import dead_letter_topic, retry_topic

_GROUP = required(Option("g", "groupName", "the group"))


async def delete_group(call: Call) -> None:
    group, cluster = call.given.text("groupName"), call.given.text("clusterName")
    masters = await call.masters()
    is_one = BROKER.long in call.given
    for address in masters:
        keeps = not call.given.is_true("removeOffset")
        await call.admin.groups.delete(group, keep_offsets=keeps, keep_topics=True, on=address)
        place = f"broker [{address}]" if is_one else f"broker [{address}] in cluster [{cluster}]"
        call.say(f"delete subscription group [{group}] from {place} success.")
    if not is_one:
        for topic in (retry_topic(group), dead_letter_topic(group)):
            await call.admin.topics.delete(topic, on=masters)
            await call.admin.topics.forget(topic, cluster=cluster)


async def show_config(call: Call) -> None:
    group = call.given.text("groupName")
    clusters = {one.name: one.cluster for one in (await call.admin.cluster()).brokers}
    found = await call.admin.groups.configs()
    known = {
        broker: config
        for broker, configs in sorted(found.items())
        for config in configs
        if config.name == group
    }
    if not known:
        raise NotFound(f"no broker has the group {group!r}", hint="see consumerProgress")
    for broker, config in known.items():
        line = "=" * 29
        call.say(f"{line}{clusters.get(broker, '')}:{broker}{line}")
        for name, text in group_members(config).items():
            call.say(f"{name:<40}=  {text}")


async def set_mode(call: Call) -> None:
    from aerobee.protocol.bodies.assignment import POP, PULL, RequestMode

    given = call.given
    mode = RequestMode(
        given.text("topicName"),
        given.text("groupName"),
        given.text("mode"),
        given.number("popShareQueueNum"),
    )
    if mode.mode not in (PULL, POP):
        raise Misuse(f"--mode is PULL or POP, not {mode.mode!r}")
    for address in await call.masters():
        await call.admin.groups.set_request_mode(mode, on=address)
        call.say(f"set consume mode to {address} success.")
    call.say(
        f"topic[{mode.topic}] group[{mode.group}] consume mode[{mode.mode}] "
        f"popShareQueueNum[{mode.share_queues}]",
        end="",
    )


async def put_group(call: Call) -> None:
    config = _config(call.given)
    for address in await call.masters():
        await call.admin.groups.put(config, on=address)
        call.say(f"create subscription group to {address} success.")
    call.say(group_text(config), end="")


def _config(given: Given) -> GroupConfig:
    """Return the group's settings; defaults are those of RocketMQ's tool, not of the broker."""
    plain = GroupConfig(given.text("groupName"), reads_from_min=False, may_broadcast=False)
    attributes = {}
    for part in filter(None, given.text("attributes").split(",")):
        name, _, value = part.strip().partition("=")
        if name[:1] not in ("+", "-"):
            raise Misuse(f"{part!r} changes no attribute", hint="say +name=value or -name")
        attributes[name] = value
    return replace(
        plain,
        is_enabled=given.is_true("consumeEnable", plain.is_enabled),
        reads_from_min=given.is_true("consumeFromMinEnable"),
        may_broadcast=given.is_true("consumeBroadcastEnable"),
        is_orderly=given.is_true("consumeMessageOrderly"),
        retry_queues=given.number("retryQueueNums", plain.retry_queues),
        retries_max=given.number("retryMaxTimes", plain.retries_max),
        retry_policy=_policy(given.text("groupRetryPolicy")) or plain.retry_policy,
        broker_id=given.number("brokerId", plain.broker_id),
        slow_broker_id=given.number("whichBrokerWhenConsumeSlowly", plain.slow_broker_id),
        notifies_changes=given.is_true("notifyConsumerIdsChanged", plain.notifies_changes),
        attributes=attributes,
    )


def _policy(text: str) -> dict[str, object]:
    if not text:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Misuse(
            f"{text!r} is no retry policy",
            hint='say {"type":"CUSTOMIZED","customizedRetryPolicy":{"next":[1000,5000]}}',
        )
    return found


async def put_groups(call: Call) -> None:
    from aerobee.cli.mqadmin.files import read_json_list
    from aerobee.protocol.bodies.group_config import group_config_from

    rows = read_json_list(call.given.text("filename"))
    configs = [group_config_from(row, row.text("groupName")) for row in rows]
    kind = "group" if BROKER.long in call.given else "subscription group"
    for address in await call.masters():
        await call.admin.groups.put_many(configs, on=address)
        call.say(
            f"submit batch of {kind} config to {address} success, please check the result later."
        )


COMMANDS = (
    Command(
        "deleteSubGroup",
        "Delete subscription group from broker.",
        (*WHERE, _GROUP, Option("r", "removeOffset", "true: with where it was")),
        delete_group,
    ),
    Command(
        "getConsumerConfig",
        "Get consumer config by subscription group name.",
        (_GROUP,),
        show_config,
    ),
    Command(
        "setConsumeMode",
        "Set consume message mode. pull/pop etc.",
        (
            *WHERE,
            _GROUP,
            required(Option("t", "topicName", "the topic")),
            required(Option("m", "mode", "PULL or POP")),
            Option("q", "popShareQueueNum", "members that share a queue"),
        ),
        set_mode,
    ),
    Command(
        "updateSubGroup",
        "Update or create subscription group.",
        (
            *WHERE,
            _GROUP,
            Option("s", "consumeEnable", "false: nobody of it may consume"),
            Option("m", "consumeFromMinEnable", "true: it may begin with the oldest message"),
            Option("d", "consumeBroadcastEnable", "true: every member may get every message"),
            Option("o", "consumeMessageOrderly", "true: in order"),
            Option("q", "retryQueueNums", "queues of its retry topic (1)"),
            Option("r", "retryMaxTimes", "deliveries after the first (16)"),
            Option("p", "groupRetryPolicy", "how long between retries, as JSON"),
            Option("i", "brokerId", "which of a broker's replicas it reads"),
            Option("w", "whichBrokerWhenConsumeSlowly", "which, if it is far behind (1)"),
            Option("a", "notifyConsumerIdsChanged", "false: members are not told of each other"),
            Option("", "attributes", "+name=value,-name"),
        ),
        put_group,
    ),
    Command(
        "updateSubGroupList",
        "Update or create subscription group in batch",
        (*WHERE, required(Option("f", "filename", "a JSON array of groups"))),
        put_groups,
    ),
)
