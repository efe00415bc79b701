"""GET_ALL_DELAY_OFFSET: the saved offsets of the delay levels, for slaves and tools.

Only safe offsets are told: a slave that takes over delivers from there.
"""

from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.service.request import Answer, Request


class DelayOffsetHandlers:
    def __init__(self, offsets: DelayOffsets) -> None:
        self._offsets = offsets

    def rows(self) -> list[Row]:
        return [row(RequestCode.GET_ALL_DELAY_OFFSET, NoHeader, self._all, Lane.ADMIN)]

    def _all(self, request: Request, header: NoHeader) -> Answer:
        return Answer(body=self._offsets.body())
