"""Stories by the dozen: whatever a seed makes happen, what was promised holds.

`make sim SEEDS=5000` runs more; docs/simulation.md says what is simulated and checked.
"""

import pytest

from tests.sim.runner import run_replica_seed, run_seed

SEEDS = 60
CHUNK = 10
REPLICA_SEEDS = 8


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_no_seed_breaks_a_promise(first: int) -> None:
    told = [run_seed(seed) for seed in range(first, first + CHUNK)]
    failed = [one.explain() for one in told if one.breaches]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("seed", range(REPLICA_SEEDS))
def test_no_seed_breaks_a_promise_of_replication(seed: int) -> None:
    told = run_replica_seed(seed)
    assert not told.breaches, told.explain()


@pytest.mark.parametrize("seed", [3, 21])
def test_a_seed_is_told_the_same_way_twice(seed: int) -> None:
    first, second = (run_seed(seed, is_traced=True) for _ in range(2))
    assert first.trace == second.trace
    assert first.counts == second.counts
