"""`RaftMemberAdmin` shows and changes the members of a Raft group, one change after another.

    add      ask the leader for a learner ─▶ it catches up ─▶ it becomes a voter
    remove   another member leads, if this one does ─▶ it is removed
    replace  add the new one, then remove the old one

Each step looks at the group first and does what is missing. So a leader that is lost in between
does no harm, and a command that was ended goes on when it is given again.

Mc1. What is told as done is committed: a majority has it in its log.
Mc2. A new member that nobody can reach is taken out again: it would only be in the way.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from aerobee.client.admin.fan_out import FanOut
from aerobee.errors import AerobeeError, NoAnswer, NotFound, Retriable
from aerobee.model.replica_status import GroupMember, GroupMembers
from aerobee.protocol.bodies.group_members import decode_group_members
from aerobee.protocol.headers.replication import (
    ADD_MEMBER,
    PROMOTE_MEMBER,
    REMOVE_MEMBER,
    ChangeMembersHeader,
    ElectMasterHeader,
)
from aerobee.protocol.request_codes import RequestCode

LOOK_SECONDS = 0.1
REACH_SECONDS = 15.0
"""A new member that is not heard for so long is taken out again."""
PATIENCE_SECONDS = 60.0
"""Without any progress for so long a change is given up."""

Told: TypeAlias = Callable[[GroupMembers], None]
"""Is shown the group at each look."""


class NotChanged(AerobeeError):
    """A change of members was given up: it may have been made, or not."""


class CannotJoin(AerobeeError):
    """A new member was not added: the group cannot reach it."""


class RaftMemberAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    async def members(self, name: str) -> GroupMembers:
        """The members of the group of a broker name, as its leader tells them; if none answers as
        leader, as the member of the latest term does. Only Aerobee's brokers know the request.
        """
        addresses = await self._addresses(name)
        told = await asyncio.gather(*map(self._ask, addresses), return_exceptions=True)
        found = [one for one in told if isinstance(one, GroupMembers)]
        if found:
            return max(found, key=lambda one: (one.is_of_leader, one.term))
        raise next(one for one in told if isinstance(one, BaseException))

    async def add(
        self,
        name: str,
        node: int,
        address: str,
        *,
        told: Told | None = None,
        reach_seconds: float = REACH_SECONDS,
    ) -> GroupMembers:
        """Add a broker that was started with `raftJoin`; returns once it votes, and a majority has
        that in its log. CannotJoin: it cannot be reached, and is no member.
        """
        await self.members(name)  # a name that nobody has is no reason to wait
        watch = _Watch(self, name, told)
        async for group in watch.looks():
            mine = group.find(node)
            if mine is None:
                await watch.change(ChangeMembersHeader(ADD_MEMBER, node, address))
            elif mine.address != address:
                raise CannotJoin(
                    f"{mine.name} is a member at {mine.address}",
                    hint=f"choose another number, or remove it first: aerobee broker members remove"
                    f" {name} {mine.name}",
                )
            elif mine.is_voter:
                return group
            elif mine.is_answering:
                watch.note_copied(mine)
                await watch.change(ChangeMembersHeader(PROMOTE_MEMBER, node))
            elif watch.is_unheard(reach_seconds):
                await self.remove(name, node)
                raise CannotJoin(
                    f"{mine.name} does not answer at {address}: {mine.why}; it was not added",
                    hint=f"start it with raftJoin=true, dLegerSelfId={mine.name} and a dLegerPeers"
                    " that has it and the members; the others must reach its address",
                )
        raise AssertionError("looks end by an error")

    async def remove(self, name: str, node: int, *, told: Told | None = None) -> GroupMembers:
        """Remove a member; returns once a majority has that in its log. If it leads, another
        member leads first.
        """
        await self.members(name)
        watch = _Watch(self, name, told)
        is_found = False
        async for group in watch.looks():
            mine = group.find(node)
            if mine is None and not is_found:
                there = ", ".join(one.name for one in group.members)
                raise NotFound(f"n{node} is no member of {name}", hint=f"there are: {there}")
            if mine is None:
                return group
            is_found = True
            voters = sum(one.is_voter for one in group.members)
            if group.leader == node and voters > 1:
                await watch.tried(lambda: self._elect(name))
            else:
                await watch.change(ChangeMembersHeader(REMOVE_MEMBER, node))
        raise AssertionError("looks end by an error")

    async def replace(
        self, name: str, old: int, node: int, address: str, *, told: Told | None = None
    ) -> GroupMembers:
        """Add a member in the place of another: that is removed once the new one votes."""
        group = await self.members(name)
        if group.find(old) is None and group.find(node) is None:
            there = ", ".join(one.name for one in group.members)
            raise NotFound(f"n{old} is no member of {name}", hint=f"there are: {there}")
        group = await self.add(name, node, address, told=told)
        if group.find(old) is None:
            return group  # by the same command, which was ended and given again
        return await self.remove(name, old, told=told)

    # Requests.

    async def _addresses(self, name: str) -> list[str]:
        """The brokers of a name, the master first."""
        info = await self._fan_out.cluster()
        for broker in info.brokers:
            if broker.name == name:
                return [address for _, address in sorted(broker.addresses.items())]
        there = ", ".join(sorted(one.name for one in info.brokers)) or "none"
        raise NotFound(f"there is no broker {name!r}", hint=f"there are: {there}")

    async def _ask(self, address: str) -> GroupMembers:
        answer = await self._fan_out.broker(address, RequestCode.LIST_GROUP_MEMBERS)
        return decode_group_members(bytes(answer.body))

    async def change(self, name: str, header: ChangeMembersHeader) -> None:
        """One change, by whichever member answers: it is sent on to the leader. It is in the
        leader's log then, and may still be lost with it.
        """
        await self._by_any(name, RequestCode.CHANGE_GROUP_MEMBERS, header)

    async def _elect(self, name: str) -> None:
        await self._by_any(name, RequestCode.CONTROLLER_ELECT_MASTER, ElectMasterHeader())

    async def _by_any(self, name: str, code: RequestCode, header: object) -> None:
        silent: NoAnswer | None = None
        for address in await self._addresses(name):
            try:
                await self._fan_out.broker(address, code, header)
            except NoAnswer as error:
                silent = error
            else:
                return
        assert silent is not None  # a broker has an address
        raise silent


class _Watch:
    """Looks at a group until a change of it is done."""

    def __init__(self, admin: RaftMemberAdmin, name: str, told: Told | None) -> None:
        self._admin = admin
        self._name = name
        self._told = told
        self._refusal: AerobeeError | None = None
        self._lag_bytes: int | None = None
        self._loop = asyncio.get_running_loop()
        self._moved = self._heard = self._loop.time()

    async def looks(self) -> AsyncIterator[GroupMembers]:
        while True:
            yield await self._look()

    async def _look(self) -> GroupMembers:
        """The group, when its leader tells it and its last change is committed. The reason why
        nothing goes on is raised after a while."""
        while True:
            try:
                group = await self._admin.members(self._name)
            except (NoAnswer, Retriable, NotFound) as error:
                self._refusal = error
            else:
                if self._told is not None:
                    self._told(group)
                if group.is_of_leader and group.is_settled:
                    return group
            self._check()
            await asyncio.sleep(LOOK_SECONDS)

    def _check(self) -> None:
        if self._loop.time() - self._moved <= PATIENCE_SECONDS:
            return
        raise self._refusal or NotChanged(
            f"the group of {self._name} has no leader that a majority follows",
            hint=f"`aerobee broker members {self._name}` shows which members there are",
        )

    async def change(self, header: ChangeMembersHeader) -> None:
        await self.tried(lambda: self._admin.change(self._name, header))

    async def tried(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do something that is looked at, and if need be done, again."""
        try:
            await act()
        except (NoAnswer, Retriable) as error:
            self._refusal = error
            self._check()
        await asyncio.sleep(LOOK_SECONDS)

    def note_copied(self, learner: GroupMember) -> None:
        """A learner that comes nearer is progress, however long it takes."""
        now = self._heard = self._loop.time()
        if self._lag_bytes is None or learner.lag_bytes < self._lag_bytes:
            self._lag_bytes = learner.lag_bytes
            self._moved = now

    def is_unheard(self, seconds: float) -> bool:
        return self._loop.time() - self._heard > seconds
