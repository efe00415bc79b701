"""The test of the tests: every mistake that can be planted in the core of Raft is noticed, by the
story that it names or by one of the first seeds.
"""

import pytest

from aerobee.errors import RaftBroken
from tests.raft_sim.mutants import MUTANTS, SEEDS, SEEDS_MAX, Mutant, Worlds, planted
from tests.score import show

_caught: list[str] = []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_planted_mistake_is_caught(mutant: Mutant) -> None:
    with planted(mutant) as worlds:
        assert _is_caught(mutant, worlds), f"{mutant.caught_by} does not notice: {mutant.name}"
    _caught.append(mutant.name)
    if mutant is MUTANTS[-1]:
        show(f"Raft, mistakes caught: {len(_caught)} of {len(MUTANTS)}")


def _is_caught(mutant: Mutant, worlds: Worlds) -> bool:
    try:
        if mutant.caught_by == SEEDS:
            return any(worlds.runner.run_seed(seed).breach for seed in range(SEEDS_MAX))
        getattr(worlds.stories, mutant.caught_by)()
    except (AssertionError, RaftBroken, LookupError):  # a core with a mistake may also break down
        return True
    return False


def test_the_bank_is_large_and_names_each_mistake_once() -> None:
    assert len(MUTANTS) >= 40
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
