"""Consumer groups ⇄ JSON, as in requests, answers and `subscriptionGroup.json`.

    {"attributes":{},"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,
     "consumeFromMinEnable":true,"consumeMessageOrderly":false,"consumeTimeoutMinute":15,
     "groupName":"G","groupRetryPolicy":{"type":"CUSTOMIZED"},"groupSysFlag":0,
     "notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,
     "subscriptionDataSet":[…],"whichBrokerWhenConsumeSlowly":1}

What is missing has Java's default: 4.x knows neither attributes nor retry policy. The set of
subscriptions is only there where one was set.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from aerobee.errors import RemoteProtocolError
from aerobee.model.group import CUSTOMIZED_RETRIES, RETRIES_MAX, GroupConfig
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.topic_config import data_version_from, data_version_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact, write_standard

LIST_BYTES_MAX = 8 * 1024 * 1024  # 20,000 groups
CARRIED_BYTES_MAX = 16 * 1024  # of one group, what we carry without looking into it


def group_config_json(config: GroupConfig) -> dict[str, Value]:
    found: dict[str, Value] = {
        "attributes": dict(config.attributes),
        "brokerId": config.broker_id,
        "consumeBroadcastEnable": config.may_broadcast,
        "consumeEnable": config.is_enabled,
        "consumeFromMinEnable": config.reads_from_min,
        "consumeMessageOrderly": config.is_orderly,
        "consumeTimeoutMinute": config.consume_timeout_minutes,
        "groupName": config.name,
        "groupRetryPolicy": config.retry_policy,
        "groupSysFlag": config.sys_flag,
        "notifyConsumerIdsChangedEnable": config.notifies_changes,
        "retryMaxTimes": config.retries_max,
        "retryQueueNums": config.retry_queues,
    }
    if config.subscriptions is not None:
        found["subscriptionDataSet"] = config.subscriptions
    found["whichBrokerWhenConsumeSlowly"] = config.slow_broker_id
    return found


def group_config_from(members: Members, name: str) -> GroupConfig:
    """`name` is its key in the table, which is what counts."""
    return GroupConfig(
        name,
        is_enabled=members.is_true("consumeEnable", True),
        reads_from_min=members.is_true("consumeFromMinEnable", True),
        may_broadcast=members.is_true("consumeBroadcastEnable", True),
        is_orderly=members.is_true("consumeMessageOrderly"),
        retry_queues=members.int32("retryQueueNums", 1),
        retries_max=members.int32("retryMaxTimes", RETRIES_MAX),
        retry_policy=_policy_from(members),
        broker_id=members.int64("brokerId", 0),
        slow_broker_id=members.int64("whichBrokerWhenConsumeSlowly", 1),
        notifies_changes=members.is_true("notifyConsumerIdsChangedEnable", True),
        sys_flag=members.int32("groupSysFlag", 0),
        consume_timeout_minutes=members.int32("consumeTimeoutMinute", 15),
        subscriptions=_subscriptions_from(members),
        attributes=members.object("attributes").texts(),
    )


def encode_group_config(config: GroupConfig) -> bytes:
    return write_compact(group_config_json(config))


def decode_group_config(body: bytes) -> GroupConfig:
    return _asked_for(Members(parse(body, bytes_max=LIST_BYTES_MAX), "the group"))


def encode_group_configs(configs: Iterable[GroupConfig]) -> bytes:
    return write_compact({"groupConfigList": [group_config_json(config) for config in configs]})


def decode_group_configs(body: bytes) -> list[GroupConfig]:
    items = Members(parse(body, bytes_max=LIST_BYTES_MAX), "the list").array("groupConfigList")
    return [_asked_for(Members(item, "an item of groupConfigList")) for item in items]


def encode_group_table(
    version: DataVersion,
    configs: Iterable[GroupConfig],
    forbidden: Mapping[str, Mapping[str, int]],
) -> bytes:
    """All groups, or one page of them, with the topics that they may not read."""
    return write_standard(
        {
            "dataVersion": data_version_json(version),
            "forbiddenTable": forbidden,
            "subscriptionGroupTable": {
                config.name: group_config_json(config) for config in configs
            },
        }
    )


def decode_group_table(body: bytes) -> tuple[DataVersion, list[GroupConfig]]:
    members = Members(parse(body), "the table of groups")
    return data_version_from(members.object("dataVersion")), [
        group_config_from(config, name)
        for name, config in members.object("subscriptionGroupTable").objects()
    ]


def encode_group_forbidden(group: str, topic: str, *, is_readable: bool) -> bytes:
    return write_compact({"group": group, "readable": is_readable, "topic": topic})


def decode_is_readable(body: bytes) -> bool:
    """Whether a group may read a topic."""
    return Members(parse(body), "the answer").is_true("readable", True)


def _asked_for(members: Members) -> GroupConfig:
    """A group as a peer wants it: what it has us carry is kept small."""
    config = group_config_from(members, members.text("groupName", ""))
    carried = len(write_compact([config.retry_policy, config.subscriptions or ()]))
    if carried > CARRIED_BYTES_MAX:
        raise RemoteProtocolError(
            f"retry policy and subscriptions of {members.what} have {carried} bytes, "
            f"at most {CARRIED_BYTES_MAX} are kept"
        )
    return config


def _policy_from(members: Members) -> Mapping[str, Any]:
    policy = members.object("groupRetryPolicy")
    # One object for the many groups that have nothing of their own.
    plain = cast("dict[str, Any]", policy.plain())
    return CUSTOMIZED_RETRIES if plain in ({}, CUSTOMIZED_RETRIES) else plain


def _subscriptions_from(members: Members) -> Sequence[Mapping[str, Any]] | None:
    if not members.has("subscriptionDataSet"):
        return None
    return [
        cast("dict[str, Any]", Members(item, "an item of subscriptionDataSet").plain())
        for item in members.array("subscriptionDataSet")
    ]
