"""A broker as tools see it: its configuration, and how it is doing.

The names of the figures are RocketMQ's, each a text. Thread pools that do not exist here are empty:
tools fail when a name is missing.
"""

from typing import NamedTuple

from aerobee.model.topic import DataVersion
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.small_tables import encode_text_table
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.delay.levels import DelayLevels
from aerobee.service.broker.request_table import Lane, Right, Row, row
from aerobee.service.broker.throughput import Throughput
from aerobee.service.config_requests import change_config, config_text
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

VERSION_NAME = "V5_5_0"
_POOLS = ("send", "pull", "litePull", "query", "ack")


class Flows(NamedTuple):
    """What passes through a broker: messages stored, and messages handed out."""

    put: Throughput
    got: Throughput


class BrokerStatusHandlers:
    def __init__(
        self,
        config: LiveConfig[BrokerConfig],
        store: Store,
        delays: DelayLevels,
        flows: Flows,
        started: Now,
    ) -> None:
        self._config = config
        self._store = store
        self._delays = delays
        self._flows = flows
        self._started = started

    def rows(self) -> list[Row]:
        code, lane, right = RequestCode, Lane.ADMIN, Right.ADMINISTER
        return [
            row(code.UPDATE_BROKER_CONFIG, NoHeader, self._update, lane, right),
            row(code.GET_BROKER_CONFIG, NoHeader, self._show, lane, right),
            row(code.GET_BROKER_RUNTIME_INFO, NoHeader, self._runtime, lane, right),
        ]

    def _update(self, request: Request, header: NoHeader) -> Answer | None:
        return change_config(self._config, request)

    def _show(self, request: Request, header: NoHeader) -> Answer:
        version = DataVersion(timestamp=self._started.wall_ms)
        return Answer(
            fields={"version": encode_data_version(version).decode()},
            body=config_text(self._config),
        )

    def _runtime(self, request: Request, header: NoHeader) -> Answer:
        return Answer(body=encode_text_table(self._figures(request.now)))

    def _figures(self, now: Now) -> dict[str, str]:
        put, got = self._flows
        uptime_s = (now.monotonic_ms - self._started.monotonic_ms) // 1000
        behind = self._store.end_offset - self._store.flushed_offset
        used = f"{self._store.disk_used_ratio():.2f}"
        figures = {
            "brokerActive": "true",
            "brokerVersionDesc": VERSION_NAME,
            "bootTimestamp": str(self._started.wall_ms),
            "runtime": _spelled_out(uptime_s),
            "putTps": _three(put.rates()),
            "getTransferredTps": _three(got.rates()),
            "getTransferedTps": _three(got.rates()),  # 4.9's spelling
            "getFoundTps": _three(got.rates()),
            "getMissTps": _three([0.0] * 3),
            "getTotalTps": _three(got.rates()),
            "putMessageTimesTotal": str(put.total),
            "commitLogMinOffset": str(self._store.min_offset),
            "commitLogMaxOffset": str(self._store.end_offset),
            "commitLogDiskRatio": used,
            "consumeQueueDiskRatio": used,
            "remainHowManyDataToFlush": f"{behind} B",
            "dispatchBehindBytes": "0",
            "earliestMessageTimeStamp": str(self._store.earliest_timestamp()),
            "pageCacheLockTimeMills": "0",
            "startAcceptSendRequestTimeStamp": "0",
            **_timer_figures(),
        }
        for name, flow in (("Put", put), ("Get", got)):
            figures[f"msg{name}TotalYesterdayMorning"] = str(flow.at_midnight_before)
            figures[f"msg{name}TotalTodayMorning"] = str(flow.at_midnight)
            figures[f"msg{name}TotalTodayNow"] = str(flow.total)
        for pool in _POOLS:
            figures[f"{pool}ThreadPoolQueueSize"] = "0"
            figures[f"{pool}ThreadPoolQueueHeadWaitTimeMills"] = "0"
        for level, (offset, end) in self._delays.progress().items():
            figures[f"scheduleMessageOffset_{level}"] = f"{offset},{end}"
        return dict(sorted(figures.items()))


def _timer_figures() -> dict[str, str]:
    return {
        "timerReadBehind": "0",
        "timerOffsetBehind": "0",
        "timerCongestNum": "0",
        "timerEnqueueTps": "0.0",
        "timerDequeueTps": "0.0",
    }


def _three(rates: list[float]) -> str:
    """RocketMQ's form of the rates over three windows; tools take the first."""
    return " ".join(f"{rate:.2f}" for rate in rates)


def _spelled_out(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"[ {days} days, {hour} hours, {minute} minutes, {second} seconds ]"
