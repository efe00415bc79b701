"""Sub-commands about clusters: the live brokers, their load, their replicas.

A broker that does not answer is listed with empty columns. Terms of masters are kept only by
RocketMQ's brokers that have a controller; others refuse to show them.
"""

import asyncio
import time
from collections.abc import Mapping

from aerobee.cli.mqadmin.command import BROKER, CLUSTER, WHERE, Call, Command, required
from aerobee.cli.mqadmin.java_text import time_with_ms
from aerobee.cli.mqadmin.options import Option
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.errors import AerobeeError, NotFound
from aerobee.model.replica_status import SlaveStatus
from aerobee.model.route import BrokerData

_HOUR_MS = 3_600_000
_NAME = Option("b", "brokerName", "the name of a broker: its master and slaves")
_INTERVAL = Option("i", "interval", "again after so many seconds, for ever")


async def list_brokers(call: Call) -> None:
    cluster = call.given.text("clusterName")
    is_more = "moreStats" in call.given
    while True:
        if cluster:
            await call.masters_in(cluster)  # whether there is one
        call.say(_MORE_HEADING if is_more else _HEADING)
        for broker in sorted((await call.admin.cluster()).brokers, key=lambda one: one.name):
            if not cluster or broker.cluster == cluster:
                await _say_broker(call, broker, is_more=is_more)
        if "interval" not in call.given:
            return
        await asyncio.sleep(call.given.number("interval"))


_HEADING = (
    f"{'#Cluster Name':<22}  {'#Broker Name':<22}  {'#BID':<4}  {'#Addr':<22} {'#Version':<16}  "
    f"{'#InTPS(LOAD)':>16}  {'#OutTPS(LOAD)':>30}  {'#Timer(Progress)':<22}  {'#PCWait(ms)':<11}  "
    f"{'#Hour':<12}  {'#SPACE':<8}  {'#ACTIVATED':<10}"
)
_MORE_HEADING = (
    f"{'#Cluster Name':<16}  {'#Broker Name':<32} {'#InTotalYest':>14} {'#OutTotalYest':>14} "
    f"{'#InTotalToday':>14} {'#OutTotalToday':>14}"
)


async def _say_broker(call: Call, broker: BrokerData, *, is_more: bool) -> None:
    for number, address in sorted(broker.addresses.items()):
        try:
            (info,) = (await call.admin.brokers.runtime(on=address)).values()
        except AerobeeError:  # it is shown all the same: with nothing
            info = RuntimeInfo({})
        if is_more:
            call.say(f"{broker.cluster:<16}  {broker.name:<32} {_totals(info.figures)}")
        else:
            place = f"{broker.cluster:<22}  {broker.name:<22}  {number:<4}  {address:<22}"
            call.say(f"{place} {_figures(info)}")


def _figures(info: RuntimeInfo) -> str:
    figures = info.figures
    said = figures.get
    sends = f"{said('sendThreadPoolQueueSize', '')},{_waits(figures, 'send')}"
    pulls = f"{said('pullThreadPoolQueueSize', '')},{_waits(figures, 'pull')}"
    acks = f"{said('ackThreadPoolQueueSize', 'N')},{_waits(figures, 'ack')}"
    timer = (
        f"{said('timerReadBehind', '0')}-{said('timerOffsetBehind', '0')}"
        f"({_number(figures, 'timerCongestNum') / 10_000:.1f}w, "
        f"{_number(figures, 'timerEnqueueTps'):.1f}, {_number(figures, 'timerDequeueTps'):.1f})"
    )
    kept_ms = time.time_ns() // 1_000_000 - info.earliest_ms if info.earliest_ms > 0 else 0
    return (
        f"{info.version:<16}  {f'{info.sends_a_second:9.2f}({sends})':>16}  "
        f"{f'{info.receives_a_second:9.2f}({pulls}|{acks})':>30}  {timer:<22}  "
        f"{said('pageCacheLockTimeMills', ''):>11}  {f'{kept_ms / _HOUR_MS:2.2f}':<12}  "
        f"{f'{info.disk_used_ratio:.4f}':<8}  {said('brokerActive', 'false'):>10}"
    )


def _waits(figures: Mapping[str, str], pool: str) -> str:
    nothing = "N" if pool == "ack" else ""
    return f"{figures.get(f'{pool}ThreadPoolQueueHeadWaitTimeMills', nothing)}ms"


def _totals(figures: Mapping[str, str]) -> str:
    """Return the totals of yesterday and of today: in and out."""
    sent, got = (
        [int(_number(figures, f"msg{kind}Total{day}")) for day in _DAYS] for kind in ("Put", "Get")
    )
    return (
        f"{sent[1] - sent[0]:>14} {got[1] - got[0]:>14} {sent[2] - sent[1]:>14} "
        f"{got[2] - got[1]:>14}"
    )


_DAYS = ("YesterdayMorning", "TodayMorning", "TodayNow")


def _number(figures: Mapping[str, str], name: str) -> float:
    """Parse a number; 0 if it is none: figures are for people, and brokers differ in them."""
    try:
        return float(figures.get(name, "0"))
    except ValueError:
        return 0.0


async def show_replication(call: Call) -> None:
    while True:
        for address in await call.masters():
            await _say_replication(call, address)
        if "interval" not in call.given:
            return
        await asyncio.sleep(call.given.number("interval") or 3)


async def _say_replication(call: Call, address: str) -> None:
    (told,) = (await call.admin.replicas.status(on=address)).values()
    if isinstance(told, SlaveStatus):
        _say_slave(call, told)
        return
    call.say(
        f"\n#MasterAddr\t{address}\n#MasterCommitLogMaxOffset\t{told.end_offset}\n"
        f"#SlaveNum\t{len(told.replicas)}\n#InSyncSlaveNum\t{told.in_sync}"
    )
    call.say(
        f"{'#SlaveAddr':<32}  {'#SlaveAckOffset':<16} {'#Diff':>16} {'#TransferSpeed(KB/s)':>16} "
        f"{'#Status':>16} {'#TransferFromWhere':>16}"
    )
    for one in told.replicas:
        status = "OK" if one.is_in_sync else "Fall Behind"
        call.say(
            f"{one.address:<32}  {one.ack_offset:<16} {one.lag_bytes:>16} "
            f"{one.bytes_per_second / 1024:>16.2f} {status:>16} {one.transfer_from:>16}"
        )


def _say_slave(call: Call, told: SlaveStatus) -> None:
    call.say(f"\n#MasterAddr\t{told.master}")
    call.say(f"#CommitLogMaxOffset\t{told.end_offset}")
    call.say(f"#TransferSpeed(KB/s)\t{told.bytes_per_second / 1024:.2f}")
    call.say(f"#LastReadTime\t{time_with_ms(told.last_read_ms)}")
    call.say(f"#LastWriteTime\t{time_with_ms(told.last_write_ms)}")
    call.say(f"#MasterFlushOffset\t{told.master_offset}")


async def reset_flush_offset(call: Call) -> None:
    offset = call.given.number("offset")
    await call.admin.replicas.reset_flush_offset(offset, on=call.given.text(BROKER.long))
    call.say(f"reset master flush offset to {offset} success")


async def show_epochs(call: Call) -> None:
    wanted = call.given.one_of(_NAME.long, CLUSTER.long)
    name = call.given.text(wanted)
    while True:
        brokers = [
            one
            for one in (await call.admin.cluster()).brokers
            if name == (one.name if wanted == _NAME.long else one.cluster)
        ]
        if not brokers:
            raise NotFound(
                f"there is no broker or cluster {name!r}", hint="see mqadmin clusterList"
            )
        for broker in sorted(brokers, key=lambda one: one.name):
            for _, address in sorted(broker.addresses.items()):
                await _say_epochs(call, address)
        if "interval" not in call.given:
            return
        await asyncio.sleep(call.given.number("interval") or 3)


async def _say_epochs(call: Call, address: str) -> None:
    cache = await call.admin.replicas.epochs(address)
    call.say(
        f"\n#clusterName\t{cache.cluster}\n#brokerName\t{cache.broker_name}\n"
        f"#brokerAddr\t{address}\n#brokerId\t{cache.broker_id}"
    )
    for one in cache.epochs:
        call.say(
            f"#Epoch: EpochEntry{{epoch={one.epoch}, startOffset={one.start_offset}, "
            f"endOffset={one.end_offset}}}"
        )


COMMANDS = (
    Command(
        "clusterList",
        "List cluster infos.",
        (
            Option("m", "moreStats", "messages in and out, by day", is_switch=True),
            _INTERVAL,
            Option("c", "clusterName", "only this one"),
        ),
        list_brokers,
    ),
    Command("haStatus", "Fetch ha runtime status data.", (*WHERE, _INTERVAL), show_replication),
    Command(
        "resetMasterFlushOffset",
        "Reset master flush offset in slave.",
        (required(BROKER), required(Option("o", "offset", "what the slave is to take for it"))),
        reset_flush_offset,
    ),
    Command(
        "getBrokerEpoch",
        "Fetch broker epoch entries.",
        (_NAME, CLUSTER, _INTERVAL),
        show_epochs,
    ),
)
