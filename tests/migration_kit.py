"""A new broker beside a cluster in this process, as a migration starts it, and facts of a master.

async with new_broker(tool, cluster, folder) as new:     a slave of broker-a
    await new.caught_up()
    Migration(new.plan, new.messages, new.said.take)
"""

import asyncio
import contextlib
import os
import shlex
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from aerobee.app.migration.carried_settings import NewPlace, carried_settings
from aerobee.app.migration.equality import Sides, log_end, reach
from aerobee.app.migration.master_facts import MasterFacts, master_facts
from aerobee.app.migration.migration import MigrationPlan
from aerobee.app.migration.operator_step import OperatorStep
from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.settings.broker_settings import read_settings
from aerobee.client.admin.admin import Admin
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.model.replica_status import SlaveStatus
from aerobee.service.broker.assembly import build_broker
from aerobee.testing import Cluster
from tests.process_kit import PATIENT

FACTS = MasterFacts(
    "broker-a",
    "DefaultCluster",
    "10.0.0.1:10911",
    (),
    {"10.0.0.9:9876": None},
    {"mappedFileSizeCommitLog": "1073741824", "brokerRole": "ASYNC_MASTER"},
    RuntimeInfo({"brokerVersionDesc": "V5_5_0", "commitLogMaxOffset": "5000"}),
    (),
)
"""Of a master of RocketMQ that nothing is wrong with."""


class Said:
    """The lines that a migration tells."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._is_new = asyncio.Event()

    def take(self, line: str) -> None:
        self.lines.append(line)
        self._is_new.set()

    async def until(self, text: str, task: "asyncio.Task[Any] | None" = None) -> None:
        """Wait for a line with this text. A task that ends without it fails the test."""
        while not any(text in line for line in self.lines):
            self._is_new.clear()
            news = asyncio.ensure_future(self._is_new.wait())
            waited = [news] if task is None else [news, task]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not news.done():
                news.cancel()
                raise AssertionError(f"it has ended: {task}, and said {self.lines}")


class WaitingCommand:
    """A shell command that waits until it is let go. Nothing hangs if it has ended before."""

    def __init__(self, folder: Path) -> None:
        path = folder / "waiting"
        os.mkfifo(path)
        # Both ends are open from here on: no open of either side waits for the other.
        self._pipe = os.open(path, os.O_RDWR)
        self.step = OperatorStep(f"read line < {shlex.quote(str(path))}")

    def __enter__(self) -> "WaitingCommand":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)

    def let_go(self) -> None:
        os.write(self._pipe, b"\n")


class NewBroker:
    def __init__(self, tool: Admin, plan: MigrationPlan, part: BrokerPart) -> None:
        self.tool = tool
        self.plan = plan
        self.part = part
        self.said = Said()

    @property
    def sides(self) -> Sides:
        return Sides(self.plan.facts.address, self.part.address)

    def messages(self) -> int:
        return self.part.holdings().messages

    async def caught_up(self) -> str:
        """Until it has the log that its master has now; the master's HA address."""
        await reach(self.tool, self.sides.own, await log_end(self.tool, self.sides.master))
        status = (await self.tool.replicas.member(self.sides.own)).status
        assert isinstance(status, SlaveStatus)
        return status.master


@contextlib.asynccontextmanager
async def new_broker(
    tool: Admin, cluster: Cluster, folder: Path, *, is_follow_only: bool = False
) -> AsyncIterator[NewBroker]:
    facts = await master_facts(tool, "broker-a")
    place = NewPlace(str(folder / "new"), port=0)
    plan = MigrationPlan(
        cluster.address,
        facts,
        place,
        carried_settings(facts.settings)[0],
        is_follow_only=is_follow_only,
        is_whole=True,
    )
    (folder / "new").mkdir(exist_ok=True)
    Path(place.config_path).write_text(plan.config(is_master=False))
    part = BrokerPart(read_settings(place.config_path, PATIENT, []), build_broker)
    failures: list[BaseException] = []
    await part.start(failures.append)
    try:
        yield NewBroker(tool, plan, part)
    finally:
        await part.stop()
    assert failures == []


def facts_with(**settings: str) -> MasterFacts:
    return replace(FACTS, settings={**FACTS.settings, **settings})


async def role_of(tool: Admin, address: str) -> str:
    return (await tool.replicas.member(address)).role
