"""Takeover of a broker name: stops writes on the master, waits for the last bytes, and makes the
new broker the master.

    writes stop ─▶ last bytes ─▶ topics, offsets, queues ─▶ the old master steps down ─▶ promotion
         │              │                  │                           │                    │
         └──────────────┴────── undone ────┴───────────────────────────┘             name servers

K1. Whatever goes wrong before the promotion, a cancellation included, is undone: the master has its
    permission and its role again. From the promotion on nothing is: there would be two masters.
K2. The new broker is promoted only when its log ends where that of the master ends, and the master
    takes no sends: it is a slave, or nobody listens at its address.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from aerobee.app.migration.equality import (
    PAUSE_SECONDS,
    Sides,
    await_metadata,
    compare_queues,
    log_end,
)
from aerobee.app.migration.master_facts import MasterFacts, is_listening
from aerobee.app.migration.operator_step import OperatorStep, Say, TakeoverFailed
from aerobee.client.admin.admin import Admin, admin
from aerobee.errors import AerobeeError, NoAnswer, TopicNotFound
from aerobee.model.flags import is_writable
from aerobee.model.replica_status import MasterStatus, SlaveStatus
from aerobee.model.route import MASTER_ID
from aerobee.protocol.headers.replication import ASYNC_MASTER, SLAVE

READ_ONLY = "4"
PERMISSION = "brokerPermission"
LOOK_SECONDS = 0.3
SETTLE_SECONDS_MAX = 75.0
"""Producers of a RocketMQ master leave it when they ask for their routes again, within 30 s."""
METADATA_SECONDS_MAX = 10.0
REGISTER_SECONDS_MAX = 60.0


class Successor(Protocol):
    """The slave that becomes the master, and the way in which it does."""

    async def bring_offsets(self, sides: Sides) -> None:
        """Have it copy consumer offsets, if it does not do so within seconds by itself."""

    async def promote(self) -> None:
        """Make it the master. Its log is complete, and there is no other master."""


class OwnSuccessor:
    """A slave of ours becomes it by request."""

    def __init__(self, asking: Admin, address: str) -> None:
        self._admin = asking
        self._address = address

    async def bring_offsets(self, sides: Sides) -> None:
        """It copies them every few seconds."""

    async def promote(self) -> None:
        role = ASYNC_MASTER
        await self._admin.replicas.change_role(self._address, role, MASTER_ID, is_forced=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    end_offset: int
    """Of both logs."""
    queues: int
    messages: int
    seconds: float
    """From the stop of writes until all name servers tell of the new master."""
    older: Sequence[str]
    """Consumer offsets that were not copied in time."""


class Takeover:
    def __init__(
        self,
        asking: Admin,
        facts: MasterFacts,
        own: str,
        own_id: int,
        stopping: OperatorStep,
        say: Say,
        settle_seconds_max: float = SETTLE_SECONDS_MAX,
        successor: Successor | None = None,
    ) -> None:
        """`own`: the address of the new broker, as it is registered. `stopping`: of a master that
        cannot become a slave by request. `successor`: the new broker, if it is none of ours."""
        self._admin = asking
        self._facts = facts
        self._sides = Sides(facts.address, own)
        self._own_id = own_id
        self._stopping = stopping
        self._say = say
        self._successor = successor or OwnSuccessor(asking, own)
        self._settle_seconds_max = settle_seconds_max
        self._has_stepped_down = False

    async def run(self) -> Outcome:
        began = time.monotonic()
        try:
            await self._set_permission(READ_ONLY)
            self._say(f"writes are stopped on {self._sides.master}")
            end = await self._last_bytes()
            await self._successor.bring_offsets(self._sides)
            older = await await_metadata(self._admin, self._sides, METADATA_SECONDS_MAX)
            queues, messages = await compare_queues(self._admin, self._sides)
            self._say(f"both logs end at {end}; {queues} queues with {messages} messages are equal")
            await self._step_down()
        except BaseException:
            await asyncio.shield(self._undo())
            raise
        await self._promote()
        await self._registered()
        seconds = time.monotonic() - began
        if self._has_stepped_down:
            await self._restore_permission()
        return Outcome(end, queues, messages, seconds, older)

    # Steps.

    async def _set_permission(self, text: str) -> None:
        await self._admin.brokers.set_config({PERMISSION: text}, on=self._sides.master)

    async def _last_bytes(self) -> int:
        """Wait until two looks show the same end on both sides."""
        before = -1
        for _ in range(max(1, int(self._settle_seconds_max / LOOK_SECONDS))):
            theirs = await log_end(self._admin, self._sides.master)
            ours = await log_end(self._admin, self._sides.own)
            if theirs == ours == before:
                return ours
            before = theirs
            await asyncio.sleep(LOOK_SECONDS)
        raise TakeoverFailed(
            f"the master's log ends at {before} and this one at {ours}, after "
            f"{self._settle_seconds_max:.0f} s without writes",
            hint="if delayed messages or pop keep it growing, try again when there are fewer",
        )

    async def _step_down(self) -> None:
        if self._facts.is_aerobee and not self._stopping.command:
            taken = {*self._facts.slave_ids, self._own_id}
            number = next(one for one in range(1, len(taken) + 2) if one not in taken)
            # Set before: it may be done although its answer is lost.
            self._has_stepped_down = True
            await self._admin.replicas.change_role(self._sides.master, SLAVE, number)
            self._say(f"{self._sides.master} is slave {number} from now on")
        else:
            await self._stopped()
            self._say(f"{self._sides.master} is stopped")

    async def _promote(self) -> None:
        """Make the new broker the master; undo everything only if it says that it is none."""
        own = self._sides.own
        try:
            await self._successor.promote()
        except AerobeeError as error:
            member = await self._admin.replicas.member(own)
            if isinstance(member.status, SlaveStatus):
                await self._undo()
                raise TakeoverFailed(
                    f"{own} was not promoted: {error.message}", hint="see its log"
                ) from error

    async def _stopped(self) -> None:
        """Wait until nobody listens at the master's address in two looks."""
        if self._stopping.command:
            await self._stopping.run(hint="mend --stop-command; it must end the master")
        else:
            self._say(f"stop the master at {self._sides.master} now, for instance by mqshutdown")
        deadline = time.monotonic() + self._stopping.seconds_max
        looks = 0
        while looks < 2:
            looks = 0 if await is_listening(self._sides.master) else looks + 1
            if time.monotonic() > deadline:
                raise TakeoverFailed(
                    f"{self._sides.master} was not stopped within "
                    f"{self._stopping.seconds_max:.0f} s",
                    hint="begin again when it can be stopped, or give --stop-command",
                )
            await asyncio.sleep(PAUSE_SECONDS)

    async def _registered(self) -> None:
        """Wait until every name server tells that the new broker is the master, and may be written
        to."""
        topics = [one.name for one in self._facts.topics if is_writable(one.permission)]
        for address in self._facts.name_servers:
            async with admin(address) as asking:
                await self._told_by(asking, address, topics[:1])

    async def _told_by(self, asking: Admin, address: str, topics: Sequence[str]) -> None:
        deadline = time.monotonic() + REGISTER_SECONDS_MAX
        while not await self._is_told(asking, topics):
            if time.monotonic() > deadline:
                raise TakeoverFailed(
                    f"the name server {address} does not tell that {self._sides.own} is the master",
                    hint="is the old master stopped? See the log of the new broker",
                )
            await asyncio.sleep(PAUSE_SECONDS / 2)

    async def _is_told(self, asking: Admin, topics: Sequence[str]) -> bool:
        name, own = self._facts.name, self._sides.own
        info = await asking.cluster()
        broker = next((one for one in info.brokers if one.name == name), None)
        if broker is None or broker.addresses.get(MASTER_ID) != own:
            return False
        for topic in topics:
            try:
                queues = (await asking.topics.route(topic)).queues
            except TopicNotFound:
                return False
            if not any(one.broker_name == name and is_writable(one.permission) for one in queues):
                return False
        return True

    # Undo.

    async def _undo(self) -> None:
        """Give the master its role and its permission back, if anybody is there."""
        try:
            if self._has_stepped_down:
                await self._take_role_back()
            await self._restore_permission()
        except AerobeeError as error:
            before = self._facts.settings.get(PERMISSION, "6")
            self._say(
                f"the write permission of {self._sides.master} could not be given back: "
                f"{error.message}; `aerobee broker config set {PERMISSION}={before} --on "
                f"{self._sides.master}` does it"
            )
        else:
            self._say(f"undone: {self._sides.master} takes messages as before")

    async def _take_role_back(self) -> None:
        """Make the old master the master again. It answers nothing while it is built anew, and
        drops a second change meanwhile: so it is asked until two looks find it in its role."""
        role = self._facts.settings.get("brokerRole", ASYNC_MASTER)
        master, looks = self._sides.master, 0
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while looks < 2:
            member = await self._admin.replicas.member(master)
            looks = looks + 1 if isinstance(member.status, MasterStatus) else 0
            if isinstance(member.status, SlaveStatus):
                with contextlib.suppress(NoAnswer):
                    await self._admin.replicas.change_role(master, role, MASTER_ID, is_forced=True)
            if time.monotonic() > deadline:
                raise TakeoverFailed(f"{master} is not the master again")
            await asyncio.sleep(LOOK_SECONDS)

    async def _restore_permission(self) -> None:
        """Try until it answers: a broker in a change of role does not at first."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while True:
            try:
                await self._set_permission(self._facts.settings.get(PERMISSION, "6"))
                return
            except AerobeeError:
                if time.monotonic() > deadline or not self._has_stepped_down:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)
