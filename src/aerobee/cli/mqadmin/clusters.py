"""Sub-commands about clusters: the live brokers, their load, their replicas, their controller.

A broker that does not answer is listed with empty columns. Terms of masters are kept only by
RocketMQ's brokers that have a controller, and by Raft groups; others refuse to show them.

`-a` is the address of a controller. A Raft group of Aerobee is its own controller: any of its
brokers stands for it. What is asked goes to the one that leads, as RocketMQ's tool does it.
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
from aerobee.protocol.bodies.sync_state import ReplicaIdentity, ReplicasInfo
from aerobee.protocol.headers.controller import ControllerMetadataHeader

_HOUR_MS = 3_600_000
_NAME = Option("b", "brokerName", "the name of a broker: its master and slaves")
_INTERVAL = Option("i", "interval", "again after so many seconds, for ever")
_CONTROLLER = required(
    Option("a", "controllerAddress", "a controller, or a broker of a Raft group")
)
_ID = required(Option("b", "brokerId", "the id of the broker that is to be the master"))
_ELECTED = required(Option("bn", "brokerName", "the name of a broker: its master and slaves"))
_NOTHING = "null"
"""Written by RocketMQ's tool where there is nothing."""


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


async def show_controller(call: Call) -> None:
    told = await call.admin.replicas.controller(call.given.text(_CONTROLLER.long))
    call.say(
        f"\n#ControllerGroup\t{told.group}\n"
        f"#ControllerLeaderId\t{told.controller_leader_id or _NOTHING}\n"
        f"#ControllerLeaderAddress\t{told.controller_leader_address or _NOTHING}"
    )
    for peer in filter(None, told.peers.split(";")):
        call.say(f"#Peer:\t{peer}")


async def show_sync_state(call: Call) -> None:
    wanted = call.given.one_of(_NAME.long, CLUSTER.long)
    while True:
        address = call.given.text(_CONTROLLER.long).split(";")[0]
        names = [call.given.text(wanted)]
        if wanted == CLUSTER.long:
            names = sorted(await call.masters_in(names[0]))
        leader = await _leader(call, address)
        for name, info in (await call.admin.replicas.sync_state(leader, names)).items():
            _say_info(call, name, info)
        if "interval" not in call.given:
            return
        await asyncio.sleep(call.given.number("interval") or 3)


def _say_info(call: Call, name: str, info: ReplicasInfo) -> None:
    call.say(
        f"\n#brokerName\t{name}\n#MasterBrokerId\t{info.master_id}\n"
        f"#MasterAddr\t{info.master_address or _NOTHING}\n"
        f"#MasterEpoch\t{info.master_epoch}\n#SyncStateSetEpoch\t{info.set_epoch}\n"
        f"#SyncStateSetNums\t{len(info.in_sync)}"
    )
    for what, replicas in (("InSync", info.in_sync), ("NotInSync", info.not_in_sync)):
        for one in replicas:
            call.say(f"\n{what}Replica:\t{_identity(one)}")


def _identity(one: ReplicaIdentity) -> str:
    """As Java writes it."""
    return (
        f"ReplicaIdentity{{brokerName='{one.broker_name}', brokerId={one.broker_id}, "
        f"brokerAddress='{one.address}', alive={str(one.is_alive).lower()}}}"
    )


async def elect(call: Call) -> None:
    leader = await _leader(call, call.given.text(_CONTROLLER.long))
    chosen, brokers = await call.admin.replicas.elect(leader, call.given.number(_ID.long))
    call.say(
        f"\n#ClusterName\t{call.given.text(CLUSTER.long)}\n"
        f"#BrokerName\t{call.given.text(_ELECTED.long)}\n"
        f"#BrokerMasterAddr\t{chosen.master_address}\n#MasterEpoch\t{chosen.master_epoch}\n"
        f"#SyncStateSetEpoch\t{chosen.sync_state_set_epoch}"
    )
    for number, address in sorted(brokers.items()):
        call.say(f"\t#Broker\t{number}\t{address}")


async def _leader(call: Call, address: str) -> str:
    told: ControllerMetadataHeader = await call.admin.replicas.controller(address)
    if not told.controller_leader_address:
        raise NotFound(
            f"{address} knows no leader of {told.group or 'its group'} now",
            hint="an election takes a moment: try again, or see mqadmin getControllerMetaData",
        )
    return told.controller_leader_address


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
    Command(
        "getSyncStateSet",
        "Fetch syncStateSet for target brokers.",
        (_CONTROLLER, CLUSTER, _NAME, _INTERVAL),
        show_sync_state,
    ),
    Command(
        "getControllerMetaData",
        "Get controller cluster's metadata.",
        (_CONTROLLER,),
        show_controller,
    ),
    Command(
        "electMaster",
        "Re-elect the specified broker as master.",
        (_CONTROLLER, _ID, _ELECTED, required(CLUSTER)),
        elect,
    ),
)
