"""How far delayed messages were delivered, for slaves and tools that ask.

They are told what is safe, as the file says it: a slave that takes over delivers from there.
"""

from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.request_table import Lane, Right, Row, row
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.service.request import Answer, Request


class DelayOffsetHandlers:
    def __init__(self, offsets: DelayOffsets) -> None:
        self._offsets = offsets

    def rows(self) -> list[Row]:
        return [
            row(
                RequestCode.GET_ALL_DELAY_OFFSET,
                NoHeader,
                self._all,
                Lane.ADMIN,
                Right.ADMINISTER,
            )
        ]

    def _all(self, request: Request, header: NoHeader) -> Answer:
        return Answer(body=self._offsets.body())
