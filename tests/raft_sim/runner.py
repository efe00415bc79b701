"""One seed: run, and told what happened."""

from collections import Counter
from typing import NamedTuple

from aerobee.errors import RaftBroken
from tests.raft_sim.judge import Breach
from tests.raft_sim.world import World


class Told(NamedTuple):
    seed: int
    breach: str
    counts: Counter[str]
    trace: list[str]

    def explain(self) -> str:
        return f"seed {self.seed}: {self.breach}\n  python -m tests.raft_sim {self.seed} --trace"


def run_seed(seed: int, *, is_traced: bool = False) -> Told:
    world = World(seed)
    if is_traced:
        world.trace = []
    breach = ""
    try:
        world.run()
    except (Breach, RaftBroken) as error:
        breach = f"{type(error).__name__} at {world.now:.1f}: {error}"
    return Told(seed, breach, world.counts, world.trace or [])
