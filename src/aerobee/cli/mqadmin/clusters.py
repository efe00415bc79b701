"""Sub-commands about clusters: the live brokers, their load, their replicas.

A broker that does not answer is listed with empty columns.
"""

import asyncio
import time
from collections.abc import Mapping

from aerobee.cli.mqadmin.command import WHERE, Call, Command
from aerobee.cli.mqadmin.options import Option
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.errors import AerobeeError
from aerobee.model.route import BrokerData

_HOUR_MS = 3_600_000
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
    (told,) = (await call.admin.brokers.replication(on=address)).values()
    call.say(
        f"\n#MasterAddr\t{address}\n#MasterCommitLogMaxOffset\t{told.log_end}\n"
        f"#SlaveNum\t{len(told.replicas)}\n#InSyncSlaveNum\t{told.in_sync}"
    )
    call.say(
        f"{'#SlaveAddr':<32}  {'#SlaveAckOffset':<16} {'#Diff':>16} {'#TransferSpeed(KB/s)':>16} "
        f"{'#Status':>16} {'#TransferFromWhere':>16}"
    )
    for one in told.replicas:
        status = "OK" if one.is_in_sync else "Fall Behind"
        call.say(
            f"{one.address:<32}  {one.acked_offset:<16} {one.behind_bytes:>16} {'-':>16} "
            f"{status:>16} {'-':>16}"
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
)
