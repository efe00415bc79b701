"""GET_BROKER_RUNTIME_INFO: figures about the broker under RocketMQ's names, each as text.

Thread pools do not exist here and are shown as empty: tools fail when a name is missing. Left out
are the longest times, which are not measured, and RocketMQ's disk ratio by folder, whose name
has a path of this machine.
"""

from collections.abc import Callable
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.disk import DiskSpace
from aerobee.protocol.bodies.small_tables import encode_text_table
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.delay.delay_levels import DelayLevels
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.statistics.put_latency import PutLatency
from aerobee.service.broker.statistics.throughput import Throughput
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

VERSION_NAME = "V5_5_0"
_POOLS = ("send", "pull", "litePull", "query", "ack")
_UNITS = "KMGTPE"
_INT32_MAX = 2**31 - 1


class Flows(NamedTuple):
    """The throughput counters of a broker."""

    put: Throughput
    """Messages stored."""
    got: Throughput
    """Messages handed out."""
    found: Throughput
    """Pulls that got messages."""
    missed: Throughput
    """Pulls that got none."""
    timed_in: Throughput
    """Timed messages stored."""
    timed_out: Throughput
    """Timed messages delivered."""


class BrokerStatusHandlers:
    def __init__(
        self,
        store: Store,
        delays: DelayLevels,
        timers: Timers,
        flows: Flows,
        latency: PutLatency,
        refused_sends: Callable[[], int],
        started: Now,
        *,
        is_active: bool,
    ) -> None:
        self._store = store
        self._delays = delays
        self._timers = timers
        self._refused_sends = refused_sends
        self._flows = flows
        self._latency = latency
        self._started = started
        self._is_active = is_active
        self._began_at = store.end_offset

    def rows(self) -> list[Row]:
        return [row(RequestCode.GET_BROKER_RUNTIME_INFO, NoHeader, self._runtime, Lane.ADMIN)]

    def _runtime(self, request: Request, header: NoHeader) -> Answer:
        figures = {
            **self._figures(request.now),
            **self._store_figures(),
            **_pool_figures(),
            **self._timer_figures(request.now),
        }
        for level, (offset, end) in self._delays.progress().items():
            figures[f"scheduleMessageOffset_{level}"] = f"{offset},{end}"
        return Answer(body=encode_text_table(dict(sorted(figures.items()))))

    def _figures(self, now: Now) -> dict[str, str]:
        put, got, found, missed, *_ = self._flows
        asked = [sum(pair) for pair in zip(found.rates(), missed.rates(), strict=True)]
        uptime_s = (now.monotonic_ms - self._started.monotonic_ms) // 1000
        size = self._store.end_offset - self._began_at
        figures = {
            "brokerActive": "true" if self._is_active else "false",
            "brokerVersionDesc": VERSION_NAME,
            "bootTimestamp": str(self._started.wall_ms),
            "runtime": _spelled_out(uptime_s),
            "putTps": _three(put.rates()),
            "getTransferredTps": _three(got.rates()),
            "getTransferedTps": _three(got.rates()),  # 4.9's spelling
            "getFoundTps": _three(found.rates()),
            "getMissTps": _three(missed.rates()),
            "getTotalTps": _three(asked),
            "putLatency50": f"{self._latency.percentile(0.5):.2f}",
            "putLatency99": f"{self._latency.percentile(0.99):.2f}",
            "putLatency999": f"{self._latency.percentile(0.999):.2f}",
            "putMessageTimesTotal": str(put.total),
            "putMessageFailedTimes": str(self._refused_sends()),
            "putMessageSizeTotal": str(size),
            "putMessageAverageSize": str(size / put.total if put.total else 0.0),
        }
        for name, flow in (("Put", put), ("Get", got)):
            figures[f"msg{name}TotalYesterdayMorning"] = str(flow.at_midnight_before)
            figures[f"msg{name}TotalTodayMorning"] = str(flow.at_midnight)
            figures[f"msg{name}TotalTodayNow"] = str(flow.total)
        return figures

    def _store_figures(self) -> dict[str, str]:
        store = self._store
        used = f"{store.disk_used_ratio():.2f}"
        return {
            "commitLogMinOffset": str(store.min_offset),
            "commitLogMaxOffset": str(store.end_offset),
            "commitLogDiskRatio": used,
            "consumeQueueDiskRatio": used,
            "commitLogDirCapacity": _capacity(store.disk_space()),
            "remainHowManyDataToFlush": f"{store.end_offset - store.flushed_offset} B",
            "dispatchBehindBytes": "0",
            "dispatchMaxBuffer": "0",
            "earliestMessageTimeStamp": str(store.earliest_timestamp()),
            "pageCacheLockTimeMills": "0",
            "startAcceptSendRequestTimeStamp": "0",
            # Of a pool that is not used, here as at RocketMQ by default.
            "remainTransientStoreBufferNumbs": str(_INT32_MAX),
        }

    def _timer_figures(self, now: Now) -> dict[str, str]:
        return {
            "timerReadBehind": str(self._timers.behind_ms(now) // 1000),
            "timerOffsetBehind": "0",
            # Waiting messages are not counted.
            "timerCongestNum": "0",
            "timerEnqueueTps": str(self._flows.timed_in.rates()[0]),
            "timerDequeueTps": str(self._flows.timed_out.rates()[0]),
        }


def _pool_figures() -> dict[str, str]:
    figures = {"EndTransactionQueueSize": "0", "EndTransactionThreadPoolQueueCapacity": "0"}
    for pool in _POOLS:
        for what in ("Size", "Capacity", "HeadWaitTimeMills"):
            figures[f"{pool}ThreadPoolQueue{what}"] = "0"
    return figures


def _capacity(space: DiskSpace | None) -> str:
    total, free = (space.total_bytes, space.free_bytes) if space is not None else (0, 0)
    return f"Total : {_size(total)}, Free : {_size(free)}."


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    power = min((count.bit_length() - 1) // 10, len(_UNITS))
    return f"{count / 1024**power:.1f} {_UNITS[power - 1]}iB"


def _three(rates: list[float]) -> str:
    """RocketMQ's form of the rates over three windows; tools take the first."""
    return " ".join(f"{rate:.2f}" for rate in rates)


def _spelled_out(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"[ {days} days, {hour} hours, {minute} minutes, {second} seconds ]"
