"""Chaos breaks the members of a Raft group one after another under load, and measures what clients
see of it.

    calm ─▶ break a member ─▶ hold ─▶ mend ─▶ until all members follow ─▶ calm ─▶ …

The gap of a fault is the longest time without an acknowledged send, from the fault until the group
is whole again.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aerobee.app.chaos.cluster import ChaosCluster, ChaosRefused, Fault, Victim
from aerobee.app.chaos.history import HistoryVerdict
from aerobee.app.chaos.load import ChaosLoad
from aerobee.app.chaos.pauses import longest_pause
from aerobee.client.client import Client, connect
from aerobee.errors import AerobeeError
from aerobee.model.replica_status import MasterStatus

WHOLE_SECONDS_MAX = 120.0
LEADER, FOLLOWER = "leader", "follower"
_LEADER_SHARE = 0.7
"""Of faults: that of a follower should not be noticed by anybody."""
_CLOCK_SHIFT_MS = 3_600_000
_HOLD_SECONDS = {
    Fault.KILL: 2.0,
    Fault.STOP: 0.0,
    Fault.PAUSE: 3.0,
    Fault.CUT: 4.0,
    Fault.DISK: 6.0,
    Fault.CLOCK: 2.0,
}
_LOOK_SECONDS = 0.1
_CLIENT_SECONDS_MAX = 30.0


@dataclass(frozen=True, slots=True)
class ChaosPlan:
    """What is to be done."""

    faults: Sequence[Fault]
    seconds: float = 60.0
    calm_seconds: float = 1.0
    senders: int = 4
    rate: float = 400.0
    """Messages a second, of all senders."""
    seed: int = 0
    topic: str = "aerobee-chaos"
    hold: float = 1.0
    """So many times as long as usual a member is held broken."""


class Event(NamedTuple):
    """A fault that was done."""

    fault: Fault
    role: str
    """LEADER or FOLLOWER."""
    victim: str
    begun: float
    """Seconds since the start of the run."""
    seconds: float
    """Until the group was whole again."""
    gap: float
    """In seconds."""


class ChaosOutcome(NamedTuple):
    plan: ChaosPlan
    seconds: float
    events: Sequence[Event]
    skipped: Sequence[tuple[Fault, str]]
    """Faults that are not possible here, and why."""
    acknowledged: Sequence[float]
    """When sends were acknowledged, since the start."""
    verdict: HistoryVerdict


class GroupIsBroken(AerobeeError):
    """The group did not recover from a fault."""


class Chaos:
    def __init__(
        self,
        plan: ChaosPlan,
        cluster: ChaosCluster,
        told: Callable[[Event], None],
        stop: asyncio.Event,
    ) -> None:
        """`told` is given each fault when it is over; `stop` ends the run early."""
        self._plan = plan
        self._cluster = cluster
        self._told = told
        self._stop = stop
        self._dice = random.Random(plan.seed)
        self._events: list[Event] = []

    async def run(self) -> ChaosOutcome:
        plan, cluster = self._plan, self._cluster
        possible = [one for one in plan.faults if not cluster.why_not(one)]
        skipped = [(one, cluster.why_not(one)) for one in plan.faults if cluster.why_not(one)]
        if not possible:
            raise ChaosRefused(f"no fault is possible here: {skipped[0][1]}")
        async with connect(cluster.target, timeout=_CLIENT_SECONDS_MAX) as client:
            await self._whole(client)
            load = ChaosLoad(client, plan.topic, cluster.broker, plan.senders, plan.rate)
            await load.open()
            start = time.monotonic()
            try:
                await self._break_all(client, load, possible, start)
            finally:
                await load.close()
            seconds = time.monotonic() - start
            verdict = load.history.judge(await load.found())
        moments = [one - start for one in load.history.acknowledged]
        return ChaosOutcome(plan, seconds, self._events, skipped, moments, verdict)

    async def _break_all(
        self, client: Client, load: ChaosLoad, possible: Sequence[Fault], start: float
    ) -> None:
        end = start + self._plan.seconds
        deck: list[Fault] = []
        while time.monotonic() < end and not self._stop.is_set():
            await self._calm(self._plan.calm_seconds)
            if self._stop.is_set():
                return
            load.check()
            deck = deck or self._dice.sample(possible, len(possible))
            fault = deck.pop()
            leader = await self._whole(client)
            others = [one for one in self._cluster.victims if one is not leader]
            is_leader = not others or self._dice.random() < _LEADER_SHARE
            victim = leader if is_leader else self._dice.choice(others)
            begun = time.monotonic()
            await self._break(fault, victim)
            await self._whole(client)
            now = time.monotonic()
            event = Event(
                fault,
                LEADER if is_leader else FOLLOWER,
                victim.label,
                begun - start,
                now - begun,
                longest_pause(load.history.acknowledged, begun, now),
            )
            self._events.append(event)
            self._told(event)

    async def _break(self, fault: Fault, victim: Victim) -> None:
        """Break a member, hold it so, and mend it, also if the run is given up meanwhile."""
        hold = self._plan.hold * _HOLD_SECONDS[fault]
        if fault in (Fault.KILL, Fault.STOP):
            (victim.kill if fault is Fault.KILL else victim.stop)()
            await victim.until_ended()
            await self._calm(hold)
        elif fault is Fault.PAUSE:
            victim.pause()
            await self._held(hold, victim.go_on)
        elif fault is Fault.CUT:
            victim.cut()
            await self._held(hold, victim.join)
        elif fault is Fault.DISK:
            victim.fill_disk()
            await self._held(hold, victim.empty_disk)
        else:
            victim.shift_clock(self._dice.choice((1, -1)) * _CLOCK_SHIFT_MS)
            await self._held(hold, lambda: victim.shift_clock(0))
        if not victim.is_running:
            await victim.start()

    async def _held(self, seconds: float, mend: Callable[[], None]) -> None:
        try:
            await asyncio.sleep(seconds)
        finally:
            mend()

    async def _calm(self, seconds: float) -> None:
        """Wait, unless the run is to end."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            pass

    async def _whole(self, client: Client) -> Victim:
        """Wait until there is a leader that all members follow; returns it."""
        why = ""
        try:
            async with asyncio.timeout(WHOLE_SECONDS_MAX):
                while True:
                    try:
                        group = await client.admin.replicas.group(self._cluster.broker)
                    except AerobeeError as error:
                        why = error.message
                    else:
                        master = group.master
                        status = None if master is None else master.status
                        if master is not None and isinstance(status, MasterStatus):
                            others = len(self._cluster.victims) - 1
                            if status.in_sync == others:
                                return self._victim(master.address)
                            why = f"{status.in_sync} of {others} members follow {master.address}"
                        else:
                            why = "no leader is registered"
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            raise GroupIsBroken(
                f"the group is not whole again after {WHOLE_SECONDS_MAX:.0f} s: {why}",
                hint="`aerobee broker replicas` and the logs of its members say more",
            ) from None

    def _victim(self, address: str) -> Victim:
        return next(one for one in self._cluster.victims if one.address == address)
