"""One seed, from plan to judgement."""

import logging
import random
import time
from collections import Counter
from typing import NamedTuple

from aerobee.app.chaos.log_check import SentOutcome
from aerobee.sim.faults import PowerCut
from aerobee.sim.sector_file import WriteIntoHole
from aerobee.storage.defects import NO_DEFECTS, Defects
from tests.sim.dead_letters import dead_names
from tests.sim.history import Breach
from tests.sim.judgement import judge, judge_restarted
from tests.sim.plan import Plan, draw_plan
from tests.sim.replica_judgement import judge_replicas
from tests.sim.replica_plan import draw_replica_plan
from tests.sim.replica_world import ReplicaWorld
from tests.sim.world import LogCapture, World


class Told(NamedTuple):
    """What came of a seed."""

    seed: int
    breaches: list[Breach]
    trace: list[str]
    counts: dict[str, int]
    cpu_s: float
    flag: str
    """Of `python -m tests.sim`, for stories of this kind."""

    def explain(self) -> str:
        replay = f"python -m tests.sim {self.flag}{self.seed} --trace"
        lines = [f"seed {self.seed}: replay it with {replay}"]
        lines += [f"  {kind}: {detail}" for kind, detail in self.breaches[:10]]
        return "\n".join(lines)


def run_seed(
    seed: int,
    *,
    defects: Defects = NO_DEFECTS,
    is_traced: bool = False,
) -> Told:
    """Tell a seed's story and judge it; never raises for what the story shows."""
    plan, generator = draw_plan(seed)
    return run_plan(plan, generator, defects=defects, is_traced=is_traced)


def run_replica_seed(seed: int, *, defects: Defects = NO_DEFECTS, is_traced: bool = False) -> Told:
    """Tell the story of replication of a seed, as `run_seed` does."""
    plan, generator = draw_replica_plan(seed)
    return told_by(ReplicaWorld(plan, generator, defects=defects, is_traced=is_traced))


def run_plan(
    plan: Plan,
    generator: random.Random,
    *,
    defects: Defects = NO_DEFECTS,
    is_traced: bool = False,
) -> Told:
    """Tell the story of a plan, as `run_seed` does."""
    return told_by(World(plan, generator, defects=defects, is_traced=is_traced))


def told_by(world: World) -> Told:
    """Let a world happen, and judge it."""
    began = time.process_time()
    capture = LogCapture(world)
    logger = logging.getLogger("aerobee")
    level, propagates = logger.level, logger.propagate
    logger.addHandler(capture)
    logger.setLevel(capture.level)
    logger.propagate = False
    try:
        world.run()
        if not world.history.breaches:
            judge(world)
        if not world.history.breaches and isinstance(world, ReplicaWorld):
            judge_replicas(world)
        if not world.history.breaches:
            judge_restarted(world)
    except (Exception, PowerCut, WriteIntoHole) as error:
        if not world.history.breaches:
            world.history.breach("error", repr(error))
        if world.trace is not None:
            logging.getLogger(__name__).exception("seed %d", world.plan.seed)
    finally:
        world.network.end()
        logger.removeHandler(capture)
        logger.setLevel(level)
        logger.propagate = propagates
    return Told(
        world.plan.seed,
        world.history.breaches,
        world.trace or [],
        _counts(world),
        time.process_time() - began,
        "--replicas " if isinstance(world, ReplicaWorld) else "",
    )


def _counts(world: World) -> dict[str, int]:
    """What happened, for the figures."""
    history = world.history
    outcomes = Counter(attempt.outcome for attempt in history.attempts.values())
    ends = Counter(how for listed in world.ends.values() for _, how in listed)
    return {
        "sent": len(history.attempts),
        "acknowledged": outcomes[SentOutcome.ACKNOWLEDGED],
        "unknown": outcomes[SentOutcome.UNKNOWN],
        "refused": outcomes[SentOutcome.REFUSED],
        "excused": sum(attempt.is_excused for attempt in history.attempts.values()),
        "transactions": sum(attempt.ending is not None for attempt in history.attempts.values()),
        "handed": sum(map(len, history.handed.values())),
        "handed back": len(history.handed_back),
        "dead": sum(
            len(dead_names(view.queues, taste.group))
            for view in world.views.values()
            for taste in world.plan.tastes
        ),
        "virtual ms": world.timeline.now_ms,
        **ends,
        **(world.figures() if isinstance(world, ReplicaWorld) else {}),
    }
