"""Handlers of requests about replication: GET_BROKER_HA_STATUS (907), EXCHANGE_BROKER_HA_INFO
(906), RESET_MASTER_FLUSH_OFFSET (908); and refusals of those that only a member of a Raft group
answers: GET_BROKER_EPOCH_CACHE (1007), CHANGE_GROUP_MEMBERS (28011), LIST_GROUP_MEMBERS (28012).

They know the broker's replication by a function that returns its status, and change nothing but
the master that a slave follows.

RESET_MASTER_FLUSH_OFFSET has nothing to reset: a slave here remembers no flush offset of its
master, because it compares its log with the master's before it follows. So no offset ever holds it
back, which is all that the request asks for.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.model.replica_status import MasterStatus, ReplicaStatus, SlaveStatus
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.ha_status import encode_ha_status
from aerobee.protocol.headers.replication import ExchangeHaHeader, ResetFlushOffsetHeader
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import OK, Answer, Request

StatusAt: TypeAlias = Callable[[Now], ReplicaStatus]
"""Returns the status of the broker's replication at a time."""
Follow: TypeAlias = Callable[[str, str, Now], None]
"""Is given the address and the HA address of a master, for a slave to follow."""

_NO_CONTROLLER = Answer(
    ResponseCode.SYSTEM_ERROR, "this request only for controllerMode: this broker has no controller"
)
_NO_MEMBER = Answer(
    ResponseCode.CONTROLLER_INVALID_REQUEST,
    "this broker is no member of a Raft group: `aerobee broker convert` makes its store the first"
    " member of one",
)
_NOTHING_REMEMBERED = Answer(
    remark="nothing to reset: this slave compares its log with its master's before it follows"
)


class ReplicaHandlers:
    """Requests of tools about the broker's own replication."""

    def __init__(self, status: StatusAt) -> None:
        self._status = status

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.GET_BROKER_HA_STATUS, NoHeader, self._ha_status, lane),
            row(
                code.RESET_MASTER_FLUSH_OFFSET,
                ResetFlushOffsetHeader,
                self._reset_flush_offset,
                lane,
            ),
            row(code.GET_BROKER_EPOCH_CACHE, NoHeader, self._epochs, lane),
            row(code.CHANGE_GROUP_MEMBERS, NoHeader, self._no_member, lane),
            row(code.LIST_GROUP_MEMBERS, NoHeader, self._no_member, lane),
        ]

    def _ha_status(self, request: Request, header: NoHeader) -> Answer:
        return Answer(body=encode_ha_status(self._status(request.now)))

    def _reset_flush_offset(self, request: Request, header: ResetFlushOffsetHeader) -> Answer:
        is_slave = isinstance(self._status(request.now), SlaveStatus)
        return _NOTHING_REMEMBERED if is_slave else OK

    def _epochs(self, request: Request, header: NoHeader) -> Answer:
        return _NO_CONTROLLER

    def _no_member(self, request: Request, header: NoHeader) -> Answer:
        return _NO_MEMBER


class HaExchangeHandlers:
    """EXCHANGE_BROKER_HA_INFO: a slave asks its master where the log is served, and a master that
    comes back tells its slaves."""

    def __init__(
        self, identity: BrokerIdentity, status: StatusAt, first_end: int, follow: Follow
    ) -> None:
        """`first_end` is the end of the log at the start of the broker."""
        self._identity = identity
        self._status = status
        self._first_end = first_end
        self._follow = follow

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [row(code.EXCHANGE_BROKER_HA_INFO, ExchangeHaHeader, self._exchange, lane)]

    def _exchange(self, request: Request, header: ExchangeHaHeader) -> Answer:
        is_master = isinstance(self._status(request.now), MasterStatus)
        if header.master_ha_address:
            if not is_master:
                self._follow(header.master_address or "", header.master_ha_address, request.now)
            return OK
        if not is_master:
            return OK
        own = ExchangeHaHeader(self._identity.ha_address, self._first_end, self._identity.address)
        return Answer(fields=write_header(own))
