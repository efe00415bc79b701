"""LeaseGate lets a leader answer reads only while no other can lead: a leader that was paused or
cut off, and does not know yet that it was deposed, shows nobody what may be out of date.

    lease held           served at once
    not held             held until a majority has confirmed this leader after the request came, at
                         most HOLD_MS; then SERVICE_NOT_AVAILABLE

A follower needs no lease: it shows what is committed as far as it knows, and says so by being one.

G1. A request that comes while others are held is held behind them.
"""

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from aerobee.ports.clock import Now
from aerobee.raft.node import Node
from aerobee.service.broker.replication.raft.leader_requests import (
    HOLD_MS,
    READS,
    RETRY_MS,
    UNAVAILABLE,
    WAITING_MAX,
    WaitingRequest,
)
from aerobee.service.broker.request_table import Row
from aerobee.service.request import Answer, Request


class Lease(Protocol):
    """The lease of this leader."""

    def may_answer(self, asked_ms: int, now: Now) -> bool:
        """Whether a read that came at this time may be answered now."""

    def confirm_soon(self, now: Now) -> None:
        """A read waits."""


class Side(Protocol):
    """The side of replication that this broker is on."""

    leads: bool

    @property
    def is_switching(self) -> bool: ...

    @property
    def node(self) -> Node: ...


class LeaderLease:
    def __init__(self, side: Side) -> None:
        self._side = side

    def may_answer(self, asked_ms: int, now: Now) -> bool:
        """Whether a read that came at this time may be answered now: no other leader can have
        committed anything that this one does not have. A follower may always."""
        side = self._side
        if not side.leads:
            return True
        if side.is_switching:
            return False
        node = side.node
        return node.read_offset(now.monotonic_ms) is not None or node.is_confirmed_since(asked_ms)

    def confirm_soon(self, now: Now) -> None:
        """A read waits: have followers say that this broker still leads."""
        leading = self._side.node.leading
        if leading is not None and not self._side.is_switching:
            leading.confirm_soon(now.monotonic_ms)


class LeaseGate:
    """Of one life as leader."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._held: deque[WaitingRequest] = deque()

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        """The rows, with those that read behind this gate."""
        return [self._guarded(one) if one.code in READS else one for one in rows]

    def _guarded(self, row: Row) -> Row:
        def handle(request: Request, header: object) -> Answer | None:
            now = request.now
            if not self._held and self._lease.may_answer(now.monotonic_ms, now):
                return row.handle(request, header)
            if len(self._held) >= WAITING_MAX:
                return UNAVAILABLE
            self._held.append(WaitingRequest(row, request))
            self._lease.confirm_soon(now)
            return None

        return row._replace(handle=handle)

    def on_tick(self, now: Now) -> None:
        while self._held:
            first = self._held[0]
            is_late = now.monotonic_ms >= first.due_ms
            if not is_late and not self._lease.may_answer(first.due_ms - HOLD_MS, now):
                self._lease.confirm_soon(now)  # the last one may have been lost
                return
            self._held.popleft()
            if is_late:
                first.request.answer(UNAVAILABLE)
            else:
                first.serve(now)

    def rest_ms(self) -> int:
        return RETRY_MS if self._held else HOLD_MS
