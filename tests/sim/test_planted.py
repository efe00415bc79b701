"""The test of the tests: stories find what is planted, and say how to see it again."""

import pytest

from aerobee.storage.defects import Defect
from tests.sim.runner import run_seed

SEEDS = range(60)


@pytest.mark.parametrize(
    "defect",
    [Defect.SKIP_SYNC, Defect.DISPATCH_AHEAD_OF_SYNC, Defect.NO_DIRECTORY_SYNC_ON_ROLL],
    ids=lambda defect: defect.name.lower(),
)
def test_a_store_that_breaks_its_promises_is_found(defect: Defect) -> None:
    told = (run_seed(seed, defects=frozenset({defect})) for seed in SEEDS)
    found = next((one for one in told if one.breaches), None)
    assert found is not None, f"{len(SEEDS)} seeds noticed nothing"
    assert f"python -m tests.sim {found.seed} --trace" in found.explain()
