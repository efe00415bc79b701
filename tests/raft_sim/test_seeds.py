"""Runs by the thousand: whatever a seed makes happen, the laws of Raft hold at every event.

`python -m tests.raft_sim --seeds 500000` runs more.
"""

from collections import Counter

import pytest

from tests.raft_sim.plan import FAULTS
from tests.raft_sim.runner import run_seed
from tests.score import show

SEEDS = 5000
CHUNK = 500
COUNTED = (
    *FAULTS,
    "messages lost",
    "messages doubled",
    "messages late",
    "messages cut off",
    "records lost by power cuts",
    "ends noticed",
    "terms given up",
)

_sum: Counter[str] = Counter()


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_no_seed_breaks_a_law(first: int) -> None:
    told = [run_seed(seed) for seed in range(first, first + CHUNK)]
    failed = [one.explain() for one in told if one.breach]
    assert not failed, "\n".join(failed)
    counts: Counter[str] = Counter()
    for one in told:
        counts.update(one.counts)
    missing = [fault for fault in COUNTED if not counts[fault]]
    assert not missing, f"nothing of this happened: {missing}"
    _sum.update(counts)
    if first + CHUNK == SEEDS:
        show(
            f"Raft, {SEEDS:,} seeds: "
            + ", ".join(f"{n:,} {what}" for what, n in sorted(_sum.items()))
        )


@pytest.mark.parametrize("seed", [3, 21])
def test_a_seed_is_told_the_same_way_twice(seed: int) -> None:
    first, second = (run_seed(seed, is_traced=True) for _ in range(2))
    assert first.trace == second.trace
    assert first.counts == second.counts
