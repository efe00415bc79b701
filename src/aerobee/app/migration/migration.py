"""Migration is a guest of the new broker's process: it watches the copy, compares, and takes over.

    registered ─▶ copying, with progress ─▶ ranges of the log, queues ─▶ takeover ─▶ serving
                                                                    └▶ (--follow) copying on

The broker part runs in the same process and goes on as the master afterwards. A failure ends the
process; the store stays, and the next run goes on with it.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aerobee.app.load.workload.amounts import shown_bytes
from aerobee.app.migration.carried_settings import NewPlace, config_text
from aerobee.app.migration.copy_progress import CopyProgress, Look
from aerobee.app.migration.equality import Sides, compare_log, compare_queues, log_end
from aerobee.app.migration.log_ranges import LogRange
from aerobee.app.migration.master_facts import MasterFacts
from aerobee.app.migration.operator_step import BY_HAND, OperatorStep, Say, TakeoverFailed
from aerobee.app.migration.takeover import Takeover
from aerobee.app.process.lifecycle import Ended
from aerobee.client.admin.admin import Admin, admin
from aerobee.errors import AerobeeError
from aerobee.model.replica_status import FOLLOWING, SlaveStatus
from aerobee.protocol.headers.replication import ASYNC_MASTER, SLAVE

LOOK_SECONDS = 0.5
LINE_SECONDS = 2.0
FOLLOW_LINE_SECONDS = 10.0
NEAR_BYTES = 1 << 20
"""A slave that lacks no more is as near as one gets while messages come."""
REGISTER_SECONDS_MAX = 60.0


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    target: str
    """The name servers."""
    facts: MasterFacts
    place: NewPlace
    carried: Mapping[str, str]
    is_follow_only: bool = False
    is_whole: bool = False
    """Every byte of the log is compared."""
    stopping: OperatorStep = BY_HAND

    @property
    def own_id(self) -> int:
        return self.facts.free_id

    def config(self, *, is_master: bool) -> str:
        """The text of the new broker's file, before or after the takeover."""
        names = {
            "brokerName": self.facts.name,
            "brokerClusterName": self.facts.cluster,
            "namesrvAddr": ";".join(self.facts.name_servers),
        }
        role = {
            "brokerRole": ASYNC_MASTER if is_master else SLAVE,
            "brokerId": "0" if is_master else str(self.own_id),
        }
        return config_text(names, self.carried, self.place, role)


class Migration:
    """A part of the process, started when the new broker is ready."""

    def __init__(self, plan: MigrationPlan, messages: Callable[[], int], say: Say) -> None:
        """`messages`: the number of messages in the new store."""
        self._plan = plan
        self._messages = messages
        self._say = say
        self._task: asyncio.Task[None] | None = None
        self.error: AerobeeError | None = None
        """The reason why it has failed."""

    async def start(self, failed: Ended) -> str:
        self._task = asyncio.create_task(self._run(failed))
        return ""

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, failed: Ended) -> None:
        try:
            async with admin(self._plan.target) as asking:
                await self._migrate(asking)
        except AerobeeError as error:
            self.error = error
            failed(error)
        except Exception as error:
            failed(error)

    async def _migrate(self, asking: Admin) -> None:
        plan = self._plan
        own = await self._registered(asking)
        ha_address = await self._follow(asking, own, near_bytes=NEAR_BYTES)
        await self._compare(asking, Sides(plan.facts.address, own), ha_address)
        if plan.is_follow_only:
            self._say("following; run the command again without --follow to take over")
            await self._follow(asking, own, near_bytes=None)
        takeover = Takeover(asking, plan.facts, own, plan.own_id, plan.stopping, self._say)
        outcome = await takeover.run()
        with open(plan.place.config_path, "w", encoding="utf-8") as file:
            file.write(plan.config(is_master=True))
        if outcome.older:
            count = len(outcome.older)
            self._say(f"{count} consumer offsets are older than the old master's, and repeat")
        self._say(f"{own} is the master of {plan.facts.name}")
        self._say(f"gap: {outcome.seconds:.1f} s without sends")
        self._say(f"it goes on in this process; next time: {restart_command(plan.place)}")

    async def _registered(self, asking: Admin) -> str:
        """Wait until name servers know the new slave; returns the address under which they do."""
        name, own_id = self._plan.facts.name, self._plan.own_id
        deadline = time.monotonic() + REGISTER_SECONDS_MAX
        while time.monotonic() < deadline:
            info = await asking.cluster()
            broker = next((one for one in info.brokers if one.name == name), None)
            if broker is not None and own_id in broker.addresses:
                return broker.addresses[own_id]
            await asyncio.sleep(LOOK_SECONDS)
        raise TakeoverFailed(
            f"no name server has the new broker as {name} id {own_id}",
            hint="its log says why it is not registered",
        )

    async def _follow(self, asking: Admin, own: str, near_bytes: int | None) -> str:
        """Show progress until the copy is that near to the master's log; None: for ever. Returns
        the master's HA address."""
        progress, said_why, line_at = CopyProgress(), "", 0.0
        start = self._plan.facts.runtime.log_start
        every = LINE_SECONDS if near_bytes is not None else FOLLOW_LINE_SECONDS
        while True:
            end = await log_end(asking, self._plan.facts.address)
            status = (await asking.replicas.member(own)).status
            now = time.monotonic()
            if isinstance(status, SlaveStatus):
                copied = max(0, status.end_offset - start)
                progress.note(Look(now, copied, max(end - start, copied)))
                is_near = near_bytes is not None and end - status.end_offset <= near_bytes
                is_done = is_near and status.state == FOLLOWING
                if is_done or now >= line_at:
                    line_at = now + every
                    self._say(progress.line(self._messages()))
                if is_done:
                    return status.master
                if status.why and status.why != said_why:
                    said_why = status.why
                    self._say(f"not following: {status.why}")
            await asyncio.sleep(LOOK_SECONDS)

    async def _compare(self, asking: Admin, sides: Sides, ha_address: str) -> None:
        plan, root = self._plan, self._plan.place.store
        runtime = (await asking.brokers.runtime(on=sides.own))[sides.own]
        bounds = LogRange(runtime.log_start, runtime.log_end)
        file_bytes = int(plan.facts.settings["mappedFileSizeCommitLog"])
        log = await compare_log(ha_address, root, file_bytes, bounds, is_whole=plan.is_whole)
        self._say(
            f"equal: SHA-256 of {shown_bytes(log.size)} of the log in {log.pieces} pieces, up to "
            f"offset {bounds.end}"
        )
        queues, messages = await compare_queues(asking, sides)
        self._say(f"equal: {queues} queues with {messages} messages")


def restart_command(place: NewPlace) -> str:
    return f"aerobee broker start -c {place.config_path}"
