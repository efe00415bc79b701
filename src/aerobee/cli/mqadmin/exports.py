"""Sub-commands that export a cluster's settings, topics, groups and figures to JSON files.

The files have RocketMQ's names and members, and can be imported by its tools.
"""

import time
from dataclasses import replace

from aerobee.cli.mqadmin.command import BROKER, CLUSTER, WHERE, Call, Command, required
from aerobee.cli.mqadmin.files import export_folder, write_export
from aerobee.cli.mqadmin.options import Option
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.model.group import GroupConfig
from aerobee.model.names import (
    SCHEDULE_TOPIC,
    TRANSACTION_HALF_TOPIC,
    is_dead_letter_topic,
    is_retry_topic,
    is_system_group,
)
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.connections import version_name
from aerobee.protocol.bodies.group_config import group_config_json
from aerobee.protocol.bodies.topic_config import topic_config_json
from aerobee.protocol.text.json_text import Value

_FOLDER = Option("f", "filePath", "the folder (rocketmq/export in the system's temporary one)")
_EXPORTED = (
    "brokerClusterName",
    "brokerId",
    "brokerName",
    "brokerRole",
    "fileReservedTime",
    "filterServerNums",
    "flushDiskType",
    "maxMessageSize",
    "messageDelayLevel",
    "msgTraceTopicName",
    "slaveReadEnable",
    "traceOn",
    "traceTopicEnable",
    "useTLS",
    "autoCreateTopicEnable",
    "autoCreateSubscriptionGroup",
)


async def export_configs(call: Call) -> None:
    cluster = call.given.text(CLUSTER.long)
    masters = await call.masters_in(cluster)
    brokers = [one for one in (await call.admin.cluster()).brokers if one.cluster == cluster]
    told: dict[str, Value] = {}
    for name in masters:
        (settings,) = (await call.admin.brokers.config(on=name)).values()
        told[name] = {key: settings[key] for key in _EXPORTED if key in settings}
    servers = await call.admin.name_servers.config()
    scale = {
        "namesrvSize": len(servers),
        "masterBrokerSize": len(masters),
        "slaveBrokerSize": sum(len(one.addresses) for one in brokers) - len(masters),
    }
    _write(call, "configs.json", {"brokerConfigs": told, "clusterScale": scale}, end="")


def _write(call: Call, name: str, value: Value, end: str = "\n") -> None:
    path = write_export(export_folder(call.given.text("filePath")), name, value)
    call.say(f"export {path} success", end=end)


async def export_metadata(call: Call) -> None:
    given = call.given
    masters = await call.masters()
    topics: dict[str, TopicConfig] = {}
    groups: dict[str, GroupConfig] = {}
    for address in masters:
        for topic in await _topics(call, address, has_derived="specialTopic" in given):
            known = topics.get(topic.name)
            topics[topic.name] = topic if known is None else _both_topics(known, topic)
        for group in await _groups(call, address):
            had = groups.get(group.name)
            more = 0 if had is None else had.retry_queues
            groups[group.name] = replace(group, retry_queues=group.retry_queues + more)
    topic_table: Value = {name: topic_config_json(one) for name, one in sorted(topics.items())}
    group_table: Value = {name: group_config_json(one) for name, one in sorted(groups.items())}
    now: dict[str, Value] = {"exportTime": time.time_ns() // 1_000_000}
    end = "" if BROKER.long in given else "\n"
    if "topic" in given:
        _write(call, "topic.json", {"topicConfigTable": topic_table, **now}, end)
    elif "subscriptionGroup" in given:
        table = {"subscriptionGroupTable": group_table, **now}
        _write(call, "subscriptionGroup.json", table, end)
    else:
        both = {"topicConfigTable": topic_table, "subscriptionGroupTable": group_table}
        _write(call, "metadata.json", {**both, **now}, end)


def _both_topics(one: TopicConfig, other: TopicConfig) -> TopicConfig:
    return replace(
        other,
        read_queues=one.read_queues + other.read_queues,
        write_queues=one.write_queues + other.write_queues,
    )


async def _topics(call: Call, address: str, *, has_derived: bool = False) -> list[TopicConfig]:
    """Return the topics of applications, with retry and dead-letter topics if these are wanted."""
    system = set(await call.admin.topics.system_names())
    (configs,) = (await call.admin.topics.configs(on=address)).values()
    return [
        one
        for one in configs
        if one.name not in system
        and (has_derived or not (is_retry_topic(one.name) or is_dead_letter_topic(one.name)))
    ]


async def _groups(call: Call, address: str) -> list[GroupConfig]:
    (configs,) = (await call.admin.groups.configs(on=address)).values()
    return [one for one in configs if not is_system_group(one.name)]


async def export_metrics(call: Call) -> None:
    report: dict[str, Value] = {}
    rates: dict[str, float] = {}
    counts: dict[str, int] = {}
    for name, address in (await call.masters_in(call.given.text(CLUSTER.long))).items():
        (info,) = (await call.admin.brokers.runtime(on=address)).values()
        broker_rates, broker_counts = await _traffic(call, address, info)
        for figure, rate in broker_rates.items():
            total = f"total{figure[0].upper()}{figure[1:]}"
            rates[total] = rates.get(total, 0.0) + rate
        for figure, count in broker_counts.items():
            counts[figure] = counts.get(figure, 0) + count
        report[name] = await _report(call, address, info, broker_rates, broker_counts)
    totals: dict[str, Value] = {"totalTps": rates, "totalOneDayNum": counts}
    _write(call, "metrics.json", {"evaluateReport": report, "totalData": totals}, end="")


async def _traffic(
    call: Call, address: str, info: RuntimeInfo
) -> tuple[dict[str, float], dict[str, int]]:
    rates = {"normalInTps": info.sends_a_second, "normalOutTps": info.receives_a_second}
    counts = {}
    for kind, word in (("Put", "In"), ("Get", "Out")):
        said = [
            info.figures.get(f"msg{kind}Total{day}Morning", "0") for day in ("Yesterday", "Today")
        ]
        counts[f"normalOneDay{word}Num"] = int(said[1]) - int(said[0])
    for kind, topic in (("trans", TRANSACTION_HALF_TOPIC), ("schedule", SCHEDULE_TOPIC)):
        (told,) = (await call.admin.brokers.stats("TOPIC_PUT_NUMS", topic, on=address)).values()
        rates[f"{kind}InTps"] = 0.0 if told is None else told.minute.tps
        day = 0 if told is None else told.day.sum or told.hour.sum or told.minute.sum
        counts[f"{kind}OneDayInNum"] = day
    return rates, counts


async def _report(
    call: Call, address: str, info: RuntimeInfo, rates: dict[str, float], counts: dict[str, int]
) -> Value:
    groups = await _groups(call, address)
    clients: set[str] = set()
    for group in groups:
        found = await call.admin.connections.consumers(group.name, on=address)
        clients |= {f"{one.language}%{version_name(one.version)}" for one in found.clients}
    said = info.figures
    environment: dict[str, Value] = {key: said[key] for key in ("totalMemKBytes",) if key in said}
    ratios = ("commitLogDiskRatio", "consumeQueueDiskRatio")
    quota: dict[str, Value] = {
        "diskRatio": {key: said[key] for key in ratios if key in said},
        "tps": rates,
        "oneDayNum": counts,
        "messageAverageSize": said.get("putMessageAverageSize", "0"),
        "topicSize": len(await _topics(call, address)),
        "groupSize": len(groups),
    }
    version: dict[str, Value] = {
        "rocketmqVersion": info.version,
        "clientInfo": sorted(clients),
    }
    told: dict[str, Value] = {"runtimeEnv": environment}
    return {**told, "runtimeQuota": quota, "runtimeVersion": version}


COMMANDS = (
    Command("exportConfigs", "Export configs.", (required(CLUSTER), _FOLDER), export_configs),
    Command(
        "exportMetadata",
        "Export metadata.",
        (
            *WHERE,
            _FOLDER,
            Option("t", "topic", "only topics", is_switch=True),
            Option("g", "subscriptionGroup", "only groups", is_switch=True),
            Option("s", "specialTopic", "retries and dead letters, too", is_switch=True),
        ),
        export_metadata,
    ),
    Command("exportMetrics", "Export metrics.", (required(CLUSTER), _FOLDER), export_metrics),
)
