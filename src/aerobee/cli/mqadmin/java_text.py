"""Formats values as RocketMQ's tool prints them: the toString() of Java objects.

Scripts parse these texts, so names, order and punctuation are RocketMQ's. Entries of hash maps,
which have no order there, are sorted here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aerobee.client.api.receipt import Durability, Receipt
from aerobee.errors import Misuse
from aerobee.model.flags import Permission
from aerobee.model.group import GroupConfig
from aerobee.model.message import StoredMessage
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.running_info import ConsumeResult

_STATUSES = {
    Durability.PROMISED: "SEND_OK",
    Durability.NOT_FLUSHED: "FLUSH_DISK_TIMEOUT",
    Durability.NOT_REPLICATED: "SLAVE_NOT_AVAILABLE",
}
_TIME = "%Y-%m-%d#%H:%M:%S:%f"


def time_with_ms(wall_ms: int) -> str:
    at = datetime.fromtimestamp(wall_ms / 1000)
    return f"{at:%Y-%m-%d %H:%M:%S},{wall_ms % 1000:03d}"


def time_to_the_second(wall_ms: int) -> str:
    return f"{datetime.fromtimestamp(wall_ms // 1000):%Y-%m-%d %H:%M:%S}"


def moment(text: str) -> int:
    """Parse milliseconds since 1970, or `yyyy-MM-dd#HH:mm:ss:SSS`, as milliseconds."""
    if text.lstrip("-").isdigit():
        return int(text)
    try:
        return int(datetime.strptime(text, _TIME).timestamp() * 1000)
    except ValueError:
        raise Misuse(
            f"{text!r} is no time", hint="say milliseconds since 1970 or 2026-11-15#12:00:00:000"
        ) from None


def truth(value: bool) -> str:
    return "true" if value else "false"


def table_text(table: Mapping[str, object]) -> str:
    """Format a map, sorted."""
    return "{" + ", ".join(f"{name}={table[name]}" for name in sorted(table)) + "}"


def topic_text(config: TopicConfig) -> str:
    permission = "".join(
        sign if config.permission & bit else "-"
        for sign, bit in (("R", Permission.READ), ("W", Permission.WRITE), ("X", 1))
    )
    return (
        f"TopicConfig [topicName={config.name}, readQueueNums={config.read_queues}, "
        f"writeQueueNums={config.write_queues}, perm={permission}, "
        f"topicFilterType={config.filter_type}, topicSysFlag={config.sys_flag}, "
        f"order={truth(config.is_order)}, attributes={table_text(config.attributes)}]"
    )


def group_members(config: GroupConfig) -> dict[str, str]:
    """Return the settings of a group, by RocketMQ's names; an empty text means null."""
    allowed = config.subscriptions
    return {
        "groupName": config.name,
        "consumeEnable": truth(config.is_enabled),
        "consumeFromMinEnable": truth(config.reads_from_min),
        "consumeBroadcastEnable": truth(config.may_broadcast),
        "consumeMessageOrderly": truth(config.is_orderly),
        "retryQueueNums": str(config.retry_queues),
        "retryMaxTimes": str(config.retries_max),
        "groupRetryPolicy": _policy_text(config.retry_policy),
        "brokerId": str(config.broker_id),
        "whichBrokerWhenConsumeSlowly": str(config.slow_broker_id),
        "notifyConsumerIdsChangedEnable": truth(config.notifies_changes),
        "groupSysFlag": str(config.sys_flag),
        "consumeTimeoutMinute": str(config.consume_timeout_minutes),
        "subscriptionDataSet": "" if allowed is None else str([*allowed]),
        "attributes": table_text(config.attributes),
    }


def group_text(config: GroupConfig) -> str:
    members = ", ".join(f"{name}={text or 'null'}" for name, text in group_members(config).items())
    return f"SubscriptionGroupConfig{{{members}}}"


def _policy_text(policy: Mapping[str, Any]) -> str:
    return (
        f"GroupRetryPolicy{{type={policy.get('type')}, "
        f"exponentialRetryPolicy={_inner(policy, 'exponentialRetryPolicy')}, "
        f"customizedRetryPolicy={_inner(policy, 'customizedRetryPolicy')}}}"
    )


def _inner(policy: Mapping[str, Any], name: str) -> str:
    inner = policy.get(name)
    if not isinstance(inner, Mapping):
        return "null"
    members = ", ".join(f"{key}={value}" for key, value in inner.items())
    return f"{name[0].upper()}{name[1:]}{{{members}}}"


def send_status(receipt: Receipt) -> str:
    return _STATUSES[receipt.durability]


def receipt_text(receipt: Receipt) -> str:
    return (
        f"SendResult [sendStatus={send_status(receipt)}, msgId={receipt.message_id}, "
        f"offsetMsgId={receipt.offset_id}, messageQueue={receipt.queue.java_text}, "
        f"queueOffset={receipt.offset}, recallHandle={receipt.recall_handle or 'null'}]"
    )


def message_text(message: StoredMessage, broker_name: str) -> str:
    born, stored = message.born_host, message.store_host
    signed = [byte - 256 if byte > 127 else byte for byte in message.body]
    return (
        f"MessageExt [brokerName={broker_name}, queueId={message.queue_id}, "
        f"storeSize={message.store_size}, queueOffset={message.queue_offset}, "
        f"sysFlag={message.sys_flag}, bornTimestamp={message.born_timestamp}, "
        f"bornHost=/{born.address}:{born.port}, storeTimestamp={message.store_timestamp}, "
        f"storeHost=/{stored.address}:{stored.port}, msgId={message.offset_message_id}, "
        f"commitLogOffset={message.log_offset}, bodyCRC={message.body_crc}, "
        f"reconsumeTimes={message.reconsume_times}, "
        f"preparedTransactionOffset={message.prepared_offset}, "
        f"toString()=Message{{topic='{message.topic}', flag={message.flag}, "
        f"properties={table_text(message.properties)}, body={signed}, transactionId='null'}}]"
    )


def result_text(result: ConsumeResult) -> str:
    return (
        f"ConsumeMessageDirectlyResult [order={truth(result.is_ordered)}, autoCommit=true, "
        f"consumeResult={result.result}, remark={result.remark or 'null'}, "
        f"spentTimeMills={result.spent_ms}]"
    )
