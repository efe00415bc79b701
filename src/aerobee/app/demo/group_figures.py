"""Figures of a Raft group: who leads, in which term, and how far the others are.

Which processes run is known here; the rest is asked of the leader, as every tool asks. While nobody
leads, the last figures stay.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aerobee.app.members.member_process import MemberProcess
from aerobee.client.admin.admin import Admin
from aerobee.errors import AerobeeError
from aerobee.model.replica_status import MasterStatus

ASK_SECONDS = 1.0
"""For an answer: a leader that is paused gives none."""


class MemberFigures(NamedTuple):
    node: int
    address: str
    role: str
    """LEADER, FOLLOWER, PAUSED or DOWN."""
    lag_bytes: int | None = None
    """None: it leads, or nobody can say."""
    why: str = ""
    """The reason why it does not count as a copy."""


LEADER, FOLLOWER, PAUSED, DOWN = "leader", "follower", "paused", "down"


class RaftFigures(NamedTuple):
    term: int
    """Of the last leader that answered; 0: none has."""
    end_offset: int
    members: Sequence[MemberFigures]


class GroupAsker:
    def __init__(self, admin: Admin, members: Sequence[MemberProcess]) -> None:
        self._admin = admin
        self._members = members
        self._term = 0
        self._end = 0
        self._lags: Mapping[str, tuple[int, str]] = {}

    async def ask(self) -> RaftFigures:
        leader = next((one for one in self._members if one.leads and not one.is_paused), None)
        if leader is not None:
            try:
                async with asyncio.timeout(ASK_SECONDS):
                    await self._ask(leader.address)
            except (AerobeeError, TimeoutError):
                self._lags = {}
        return RaftFigures(self._term, self._end, [self._figures(one) for one in self._members])

    async def _ask(self, address: str) -> None:
        status, epochs = await asyncio.gather(
            self._admin.replicas.member(address), self._admin.replicas.epochs(address)
        )
        if epochs.epochs:
            self._term = epochs.epochs[-1].epoch
        if isinstance(status.status, MasterStatus):
            self._end = status.status.end_offset
            listed = status.status.replicas
            self._lags = {one.address: (one.lag_bytes, one.why) for one in listed}

    def _figures(self, member: MemberProcess) -> MemberFigures:
        if not member.is_running:
            return MemberFigures(member.node, member.address, DOWN)
        if member.is_paused:
            return MemberFigures(member.node, member.address, PAUSED)
        if member.leads:
            return MemberFigures(member.node, member.address, LEADER)
        lag, why = self._lags.get(member.address, (None, ""))
        return MemberFigures(member.node, member.address, FOLLOWER, lag, why)
