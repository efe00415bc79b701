"""Sub-commands about brokers: state, settings, clean-up, and settings that are rarely changed.

Aerobee's brokers refuse requests about features that they lack (limits for cold data, read-ahead
modes, another timer), and the reason is printed; with RocketMQ's brokers these work.
"""

from collections.abc import Iterable
from itertools import chain

from aerobee.cli.mqadmin.command import BROKER, CLUSTER, WHERE, Call, Command, required
from aerobee.cli.mqadmin.java_text import time_to_the_second
from aerobee.cli.mqadmin.options import Option
from aerobee.errors import Misuse
from aerobee.model.route import MASTER_ID
from aerobee.protocol.bodies.consume_stats import ConsumeStats
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import write_pretty

_CLEAN_CLUSTER = Option("c", "cluster", "all masters of a cluster")
_GROUP = required(Option("g", "consumerGroup", "the group"))
_ENGINES = {"F": "FILE_TIME_WHEEL", "R": "ROCKSDB_TIMELINE"}
_LIGHT = (
    ("#Store Type", "storeType", 17),
    ("#Max LMQ", "maxLmqNum", 10),
    ("#Current LMQ", "currentLmqNum", 14),
    ("#SubscriptionCount", "liteSubscriptionCount", 20),
    ("#OrderInfoCount", "orderInfoCount", 17),
    ("#CQTableSize", "cqTableSize", 15),
    ("#OffsetTableSize", "offsetTableSize", 18),
    ("#eventMapSize", "eventMapSize", 15),
)


async def show_consume_stats(call: Call) -> None:
    given = call.given
    address, level = given.text(BROKER.long), given.number("level")
    found = await call.admin.groups.progress_of_all(only_ordered=given.is_true("order"), on=address)
    call.say(
        f"{'#Topic':<64}  {'#Group':<64}  {'#Broker Name':<32}  {'#QID':<4}  "
        f"{'#Broker Offset':<20}  {'#Consumer Offset':<20}  {'#Diff':<20}  #LastTime"
    )
    total = 0
    for group, progress in found.items():
        total += sum(one.lag for one in progress.queues.values())
        for line in _stats_lines(group, ConsumeStats(progress.queues), level):
            call.say(line)
    call.say(f"\nDiff Total: {total}")


def _stats_lines(group: str, stats: ConsumeStats, level: int) -> Iterable[str]:
    """Return lines for the queues that were consumed and are behind by at least `level`."""
    for queue, one in sorted(stats.queues.items()):
        if one.lag >= level and one.last_timestamp > 0:
            yield (
                f"{queue.topic[:64]:<64}  {group:<64}  {queue.broker_name[:32]:<32}  "
                f"{queue.queue_id:<4}  {one.broker_offset:<20}  {one.consumer_offset:<20}  "
                f"{one.lag:<20}  {time_to_the_second(one.last_timestamp)}"
            )


async def show_status(call: Call) -> None:
    if BROKER.long in call.given:
        address = call.given.text(BROKER.long)
        for name, text in await _figures(call, address):
            call.say(f"{name:<32}: {text}")
        return
    for master, slaves in (await _replicas(call)).items():
        for address in (master, *slaves):
            for name, text in await _figures(call, address):
                call.say(f"{address:<24} {name:<32}: {text}")


async def _figures(call: Call, address: str) -> list[tuple[str, str]]:
    (info,) = (await call.admin.brokers.runtime(on=address)).values()
    return sorted(info.figures.items())


async def _replicas(call: Call) -> dict[str, list[str]]:
    """Return the slaves of each master in the named cluster."""
    cluster = call.given.text(call.given.one_of(BROKER.long, CLUSTER.long))
    await call.masters_in(cluster)  # whether there is one
    return {
        broker.addresses[MASTER_ID]: [
            address for number, address in sorted(broker.addresses.items()) if number != MASTER_ID
        ]
        for broker in (await call.admin.cluster()).brokers
        if broker.cluster == cluster and MASTER_ID in broker.addresses
    }


async def show_config(call: Call) -> None:
    if BROKER.long in call.given:
        address = call.given.text(BROKER.long)
        await _say_config(call, f"============{address}============", address)
        return
    for master, slaves in (await _replicas(call)).items():
        await _say_config(call, f"============Master: {master}============", master)
        for slave in slaves:
            heading = f"============My Master: {master}=====Slave: {slave}============"
            await _say_config(call, heading, slave)


async def _say_config(call: Call, heading: str, address: str) -> None:
    (settings,) = (await call.admin.brokers.config(on=address)).values()
    call.say(heading)
    for name, text in sorted(settings.items()):
        call.say(f"{name:<50}=  {text}")
    call.say("")


async def set_config(call: Call) -> None:
    settings = {call.given.text("key"): call.given.text("value")}
    addresses: Iterable[str] = await call.masters()
    if "updateAllBroker" in call.given and BROKER.long not in call.given:
        addresses = chain.from_iterable((m, *s) for m, s in (await _replicas(call)).items())
    for address in addresses:
        await call.admin.brokers.set_config(settings, on=address)
        call.say(f"update broker config success, {address}")


async def _where(call: Call) -> list[str] | None:
    """Return the target of a clean-up: one broker, a cluster, or all."""
    if BROKER.long in call.given:
        return [call.given.text(BROKER.long)]
    cluster = call.given.text("cluster")
    return list(await call.masters_in(cluster)) if cluster else None


async def clean_queues(call: Call) -> None:
    await call.admin.brokers.clean_expired_queues(on=await _where(call))
    call.say("success", end="")


async def clean_topics(call: Call) -> None:
    await call.admin.brokers.clean_unused_topics(on=await _where(call))
    call.say("success", end="")


async def delete_log(call: Call) -> None:
    await call.admin.brokers.delete_expired_log(on=await _where(call))
    call.say("success", end="")


async def show_cold_data(call: Call) -> None:
    for address in await call.masters():
        (state,) = (await call.admin.tuning.cold_state(on=address)).values()
        heading = address if BROKER.long in call.given else f"Master: {address}"
        call.say(f" ============{heading}============")
        call.say(write_pretty(state).decode())


async def limit_cold_data(call: Call) -> None:
    group, limit = call.given.text("consumerGroup"), call.given.number("threshold")
    for address in await call.masters():
        await call.admin.tuning.set_cold_limit(group, limit, on=address)
        call.say(f"updateColdDataFlowCtrGroupConfig success, {address}")


async def free_cold_data(call: Call) -> None:
    for address in await call.masters():
        await call.admin.tuning.remove_cold_limit(call.given.text("consumerGroup"), on=address)
        call.say(f"remove broker cold read threshold success, {address}")


async def set_read_ahead(call: Call) -> None:
    mode = call.given.text("commitLogReadAheadMode")
    if mode not in ("0", "1"):
        raise Misuse(f"--commitLogReadAheadMode is 0 or 1, not {mode!r}")
    for address in await call.masters():
        await call.admin.tuning.set_read_ahead(is_on=mode == "0", on=address)
        call.say(f" ============{address}============")
        call.say(
            f"commitLog set readAhead mode rstStrset commitlog readahead mode success, mode: {mode}"
        )


async def switch_timer(call: Call) -> None:
    engine = call.given.text("engineType")
    if engine not in _ENGINES:
        raise Misuse(f"--engineType is R or F, not {engine!r}")
    for address in await call.masters():
        await call.admin.tuning.switch_timer_engine(engine, on=address)
        call.say(f"switchTimerEngine to {_ENGINES[engine]} success, {address}")


async def show_light_topics(call: Call) -> None:
    headings = "".join(f" {name:<{width}}" for name, _, width in _LIGHT)
    call.say(f"{'#Broker':<30}{headings}")
    if BROKER.long in call.given:
        addresses = [call.given.text(BROKER.long)]
    else:
        call.given.one_of(BROKER.long, "cluster")
        addresses = list((await call.masters_in(call.given.text("cluster"))).values())
    for address in addresses:
        (state,) = (await call.admin.tuning.light_state(on=address)).values()
        members = Members(state, "the light topics")
        cells = [
            members.text(key, "") if key == "storeType" else str(members.int64(key, 0))
            for _, key, _ in _LIGHT
        ]
        row = "".join(f" {cell:<{one[2]}}" for cell, one in zip(cells, _LIGHT, strict=True))
        call.say(f"{address:<30}{row}")


COMMANDS = (
    Command(
        "brokerConsumeStats",
        "Fetch broker consume stats data.",
        (
            required(BROKER),
            Option("t", "timeoutMillis", "taken and not needed"),
            Option("l", "level", "only queues that are behind by so much"),
            Option("o", "order", "true: only groups that keep order"),
        ),
        show_consume_stats,
    ),
    Command("brokerStatus", "Fetch broker runtime status data.", WHERE, show_status),
    Command(
        "cleanExpiredCQ",
        "Clean expired ConsumeQueue on broker.",
        (BROKER, _CLEAN_CLUSTER),
        clean_queues,
    ),
    Command(
        "cleanUnusedTopic", "Clean unused topic on broker.", (BROKER, _CLEAN_CLUSTER), clean_topics
    ),
    Command(
        "deleteExpiredCommitLog",
        "Delete expired CommitLog files.",
        (BROKER, _CLEAN_CLUSTER),
        delete_log,
    ),
    Command(
        "getBrokerConfig", "Get broker config by cluster or special broker.", WHERE, show_config
    ),
    Command(
        "updateBrokerConfig",
        "Update broker's config.",
        (
            *WHERE,
            Option("a", "updateAllBroker", "with -c: slaves, too"),
            required(Option("k", "key", "the setting")),
            required(Option("v", "value", "what it is to be")),
        ),
        set_config,
    ),
    Command("getColdDataFlowCtrInfo", "Get cold data flow ctr info.", WHERE, show_cold_data),
    Command(
        "updateColdDataFlowCtrGroupConfig",
        "Add or update cold data flow ctr group config.",
        (*WHERE, _GROUP, required(Option("v", "threshold", "bytes"))),
        limit_cold_data,
    ),
    Command(
        "removeColdDataFlowCtrGroupConfig",
        "Remove consumer from cold ctr config.",
        (*WHERE, _GROUP),
        free_cold_data,
    ),
    Command(
        "setCommitLogReadAheadMode",
        "Set read ahead mode for all commitlog files.",
        (*WHERE, required(Option("m", "commitLogReadAheadMode", "0 as usual, 1 at random"))),
        set_read_ahead,
    ),
    Command(
        "switchTimerEngine",
        "switch the engine of timer message in broker",
        (*WHERE, required(Option("e", "engineType", "R RocksDB, F the wheel"))),
        switch_timer,
    ),
    Command(
        "getBrokerLiteInfo",
        "Get broker lite info.",
        (
            BROKER,
            _CLEAN_CLUSTER,
            Option("d", "showDetail", "taken and not needed", is_switch=True),
        ),
        show_light_topics,
    ),
)
