"""VIEW_BROKER_STATS_DATA: one statistic by RocketMQ's name and key.

A statistic that was never counted is refused, as by RocketMQ, and tools show it as 0.
"""

from aerobee.protocol.bodies.stats_data import StretchData, encode_stats_data
from aerobee.protocol.headers.status import StatsDataHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.request import Answer, Request


class StatsDataHandlers:
    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    def rows(self) -> list[Row]:
        return [row(RequestCode.VIEW_BROKER_STATS_DATA, StatsDataHeader, self._view, Lane.ADMIN)]

    def _view(self, request: Request, header: StatsDataHeader) -> Answer:
        view = self._statistics.view(header.stats_name, header.stats_key, request.now)
        if view is None:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"The stats <{header.stats_name[:255]}> <{header.stats_key[:510]}> not exist",
            )
        return Answer(body=encode_stats_data(*(StretchData(*stretch) for stretch in view)))
