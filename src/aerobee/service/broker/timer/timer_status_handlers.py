"""GET_TIMER_CHECK_POINT, GET_TIMER_METRICS, SWITCH_TIMER_ENGINE: the timer's progress, for slaves
and tools.

They get the saved progress, as in the checkpoint. There is one engine, the wheel: a request to
switch to RocksDB's is refused.
"""

from aerobee.protocol.bodies.topic_config import data_version_json
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.json_text import write_compact
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.request import Answer, Request
from aerobee.storage.timer.timer_checkpoint import version_of, wire_check


class TimerStatusHandlers:
    def __init__(self, timers: Timers) -> None:
        self._timers = timers

    def rows(self) -> list[Row]:
        return [
            row(code, NoHeader, handle, Lane.ADMIN)
            for code, handle in (
                (RequestCode.GET_TIMER_CHECK_POINT, self._check),
                (RequestCode.GET_TIMER_METRICS, self._metrics),
                (RequestCode.SWITCH_TIMER_ENGINE, self._switch),
            )
        ]

    def _check(self, request: Request, header: NoHeader) -> Answer:
        if not self._timers.is_enabled:
            return Answer(ResponseCode.SYSTEM_ERROR, "The checkpoint is null")
        return Answer(body=wire_check(self._timers.saved))

    def _metrics(self, request: Request, header: NoHeader) -> Answer:
        """RocketMQ counts by topic; this broker does not, so the table is empty."""
        if not self._timers.is_enabled:
            return Answer(ResponseCode.SYSTEM_ERROR, "The timerMessageStore is null")
        version = data_version_json(version_of(self._timers.saved))
        return Answer(body=write_compact({"dataVersion": version, "timingCount": {}}))

    def _switch(self, request: Request, header: NoHeader) -> Answer:
        return Answer(
            ResponseCode.NO_PERMISSION,
            "this broker's timer has one engine, the wheel in timerwheel and timerlog",
        )
