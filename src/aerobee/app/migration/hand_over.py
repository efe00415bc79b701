"""Hand-over of a broker name to a slave of RocketMQ that runs already: the way back of a migration.

    near ─▶ topics, offsets ─▶ queues ─▶ takeover: our master steps down, the slave restarts

Our master is the slave of the new one afterwards.
"""

import asyncio
import contextlib
import time

from aerobee.app.load.workload.amounts import shown_bytes
from aerobee.app.migration.equality import (
    PAUSE_SECONDS,
    Sides,
    await_metadata,
    compare_queues,
    log_end,
)
from aerobee.app.migration.master_facts import MasterFacts, master_facts
from aerobee.app.migration.operator_step import BY_HAND, OperatorStep, Say, TakeoverFailed
from aerobee.app.migration.takeover import Outcome, Takeover
from aerobee.client.admin.admin import Admin
from aerobee.errors import RemoteAnswer
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.replica_status import MasterStatus
from aerobee.model.route import MASTER_ID
from aerobee.protocol.headers.replication import ASYNC_MASTER

NEAR_BYTES = 1 << 20
LINE_SECONDS = 2.0
METADATA_SECONDS_MAX = 150.0
"""RocketMQ's slaves copy topics and offsets a minute after their start, then every minute."""


async def look_at(asking: Admin, name: str, slave: str) -> tuple[MasterFacts, str]:
    """The master of a broker name, and what the slave lacks; nothing is changed. TakeoverFailed:
    the hand-over is not possible."""
    facts = await master_facts(asking, name)
    missing = await HandOver(asking, facts, slave, print).check()
    return facts, f"{slave} lacks {shown_bytes(missing)} of the log of {facts.address}"


class HandOver:
    def __init__(self, asking: Admin, facts: MasterFacts, slave: str, say: Say) -> None:
        """`slave`: the address of the broker that is to be the master."""
        self._admin = asking
        self._facts = facts
        self._sides = Sides(facts.address, slave)
        self._say = say

    async def check(self) -> int:
        """The bytes that the slave lacks. TakeoverFailed: the hand-over is not possible."""
        facts, slave = self._facts, self._sides.own
        if not facts.is_aerobee:
            raise TakeoverFailed(
                f"the master of {facts.name} at {facts.address} is not Aerobee's",
                hint="--store moves a master of RocketMQ to Aerobee",
            )
        if await self._slave_id() == 0:
            raise TakeoverFailed(
                f"no slave of {facts.name} is registered at {slave}",
                hint="start it with brokerRole=SLAVE, and see `aerobee broker replicas`",
            )
        return await log_end(self._admin, facts.address) - await log_end(self._admin, slave)

    async def run(self, restarting: OperatorStep) -> Outcome:
        while (missing := await self.check()) > NEAR_BYTES:
            self._say(f"{self._sides.own} lacks {shown_bytes(missing)}")
            await asyncio.sleep(LINE_SECONDS)
        self._say(f"waiting until {self._sides.own} has topics and consumer offsets")
        await await_metadata(self._admin, self._sides, METADATA_SECONDS_MAX)
        queues, messages = await compare_queues(self._admin, self._sides)
        self._say(f"equal: {queues} queues with {messages} messages")
        facts, slave, say = self._facts, self._sides.own, self._say
        takeover = Takeover(
            self._admin,
            facts,
            slave,
            await self._slave_id(),
            BY_HAND,
            say,
            successor=RestartedSuccessor(self._admin, facts.name, slave, restarting, say),
        )
        return await takeover.run()

    async def _slave_id(self) -> int:
        """Its id, as name servers have it; 0: it is no slave."""
        info = await self._admin.cluster()
        return next(
            (
                number
                for broker in info.brokers
                if broker.name == self._facts.name
                for number, address in broker.addresses.items()
                if address == self._sides.own
            ),
            0,
        )


class RestartedSuccessor:
    """A slave of RocketMQ becomes the master when the operator restarts it with other settings."""

    def __init__(
        self, asking: Admin, name: str, address: str, restarting: OperatorStep, say: Say
    ) -> None:
        """`name`: of the broker, the same as the master's."""
        self._admin = asking
        self._name = name
        self._address = address
        self._restarting = restarting
        self._say = say

    async def bring_offsets(self, sides: Sides) -> None:
        """Commit at the slave what its master has and it has not copied yet: RocketMQ's slaves copy
        once a minute."""
        offsets = self._admin.offsets
        theirs = (await offsets.all(on=sides.master))[sides.master]
        ours = (await offsets.all(on=sides.own))[sides.own]
        for (topic, group), queues in theirs.items():
            for queue_id, offset in queues.items():
                if ours.get((topic, group), {}).get(queue_id, 0) < offset:
                    queue = MessageQueue(topic, self._name, QueueId(queue_id))
                    # One that does not know the group yet refuses; the takeover tells of it.
                    with contextlib.suppress(RemoteAnswer):
                        await offsets.commit(group, queue, offset, on=sides.own)

    async def promote(self) -> None:
        """Wait until it says that it is a master. A cancellation is an error, too: our master is a
        slave already, and must be the master again."""
        try:
            await self._restart()
        except asyncio.CancelledError:
            raise TakeoverFailed(
                f"stopped before {self._address} was a master", hint="begin again"
            ) from None

    async def _restart(self) -> None:
        if self._restarting.command:
            await self._restarting.run(hint="mend --restart-command; it must start a master")
        else:
            self._say(
                f"restart the broker at {self._address} now, with brokerRole={ASYNC_MASTER} and "
                f"brokerId={MASTER_ID}"
            )
        deadline = time.monotonic() + self._restarting.seconds_max
        while not await self._is_master():
            if time.monotonic() > deadline:
                raise TakeoverFailed(
                    f"{self._address} is no master after {self._restarting.seconds_max:.0f} s",
                    hint=f"start it as one, or `aerobee broker promote {self._name}`",
                )
            await asyncio.sleep(PAUSE_SECONDS)

    async def _is_master(self) -> bool:
        member = await self._admin.replicas.member(self._address)
        return isinstance(member.status, MasterStatus)
