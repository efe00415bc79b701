"""Stories of replication with one trouble again and again, where random ones rarely have it.

Everything else is drawn from the seed, as in `replica_plan.py`; what is checked is what every story
of replication checks, and what a story adds.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from aerobee.model.broker_role import BrokerRole
from aerobee.protocol.request_codes import RequestCode
from aerobee.storage.config import FlushMode
from tests.sim.plan import Blow, ReplicaTrouble
from tests.sim.producer import Load
from tests.sim.replica_judgement import table_of
from tests.sim.replica_plan import ReplicaPlan, draw_replica_plan
from tests.sim.replica_world import ReplicaWorld
from tests.sim.runner import Told, told_by

WATCH_MS = 100
SET_BACK_MS_MAX = 5_000
"""Offsets are saved every 2 s at most and copied every 3 s."""


class Script(NamedTuple):
    troubles: Sequence[ReplicaTrouble]
    needed: int
    flush: FlushMode
    every_ms: int


def scripted(seed: int, script: Script) -> tuple[ReplicaPlan, random.Random]:
    """The plan of a seed with the troubles of a script, one after another."""
    plan, generator = draw_replica_plan(seed)
    story = plan.story
    trouble_ms = script.every_ms * (len(script.troubles) + 1)
    storages = [
        replace(story.storages[0], flush_mode=script.flush, store_host=_host(n)) for n in range(3)
    ]
    blows = [
        Blow(script.every_ms * (number + 1), trouble)
        for number, trouble in enumerate(script.troubles)
    ]
    role = BrokerRole.SYNC_MASTER if script.needed > 1 else BrokerRole.ASYNC_MASTER
    return (
        plan._replace(
            story=story._replace(
                storages=storages,
                blows=blows,
                trouble_ms=trouble_ms,
                sync_ms=[3, 3, 20],
                loads=[_lasting(load, trouble_ms) for load in story.loads[:1]],
                alarms=[],
                tastes=story.tastes[:1],
                members=1,
            ),
            replication=replace(plan.replication, role=role, in_sync_replicas=script.needed),
        ),
        generator,
    )


def _host(number: int) -> bytes:
    return bytes((10, 0, 1, number + 1)) + (10911).to_bytes(4, "big")


def _lasting(load: Load, trouble_ms: int) -> Load:
    """The same load, sent over the whole time of trouble."""
    return load._replace(pause_ms=trouble_ms // load.messages)


class OffsetWatch:
    """Offsets of groups as masters have them: a change of master sets none back for long."""

    def __init__(self, world: ReplicaWorld) -> None:
        self._world = world
        # When, of which master, what it had.
        self._seen: list[tuple[int, int, dict[str, dict[str, int]]]] = []
        self.changes = 0
        self.compared = 0
        world.timeline.after(WATCH_MS, self._look)

    def _look(self) -> None:
        world = self._world
        world.timeline.after(WATCH_MS, self._look)
        master = world.operator.master
        if not master.is_master:
            return
        found: dict[str, dict[str, int]] = table_of(  # type: ignore[assignment]
            master, RequestCode.GET_ALL_CONSUMER_OFFSET, "offsetTable"
        )
        if self._seen and self._seen[-1][1] != master.number:
            self.changes += 1
            self._compare(found)
        self._seen.append((world.timeline.now_ms, master.number, found))

    def _compare(self, found: dict[str, dict[str, int]]) -> None:
        # Of the last master alone: what it did not have, it could not hand on.
        last_ms, last, _ = self._seen[-1]
        known_ms = last_ms - SET_BACK_MS_MAX
        old = [
            offsets
            for at_ms, master, offsets in self._seen
            if master == last and known_ms - WATCH_MS <= at_ms <= known_ms
        ]
        self.compared += sum(map(len, old[-1].values())) if old else 0
        for key, queues in old[-1].items() if old else ():
            for queue_id, offset in queues.items():
                now = found.get(key, {}).get(queue_id, -1)
                if now < offset:
                    self._world.history.breach(
                        "set back", f"{key} of queue {queue_id} from {offset} to {now}"
                    )


def tell(seed: int, script: Script) -> Told:
    return told_by(ReplicaWorld(*scripted(seed, script)))


def tell_of_offsets(seed: int, script: Script) -> tuple[Told, OffsetWatch]:
    """The story with its `OffsetWatch`."""
    world = ReplicaWorld(*scripted(seed, script))
    watch = OffsetWatch(world)
    return told_by(world), watch
