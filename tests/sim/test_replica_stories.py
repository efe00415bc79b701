"""Masters that end in turn, slaves that lose power, roles that go back and forth."""

from collections import Counter
from collections.abc import Sequence

import pytest

from aerobee.storage.config import FlushMode
from tests.sim.plan import ReplicaTrouble
from tests.sim.replica_stories import Script, tell, tell_of_offsets

T = ReplicaTrouble
BOTH = pytest.mark.parametrize("flush", FlushMode)


def tell_all(seeds: Sequence[int], script: Script) -> Counter[str]:
    """Tell the story with each seed, and add up what happened: no seed has every fault for ever."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        told = tell(seed, script)
        assert not told.breaches, told.explain()
        counts.update(told.counts)
    return counts


@BOTH
def test_nothing_acknowledged_is_lost_when_the_longest_slave_is_promoted(flush: FlushMode) -> None:
    troubles = [T.LEAVE_BEHIND, T.POWER_CUT_MASTER, T.LEAVE_BEHIND, T.KILL_MASTER, T.LEAVE_BEHIND]
    told = tell_all((18, 22), Script(troubles, 2, flush, 2_000))
    assert told["promotions"] >= 6
    assert told["cuts"] >= 1  # tails of old masters, saved byte by byte


@pytest.mark.parametrize(("flush", "needed"), [(FlushMode.SYNC, 1), (FlushMode.ASYNC, 2)])
def test_a_slave_that_loses_power_goes_on_from_what_it_has(flush: FlushMode, needed: int) -> None:
    told = tell_all((2, 3), Script([T.POWER_CUT_SLAVE] * 6, needed, flush, 1_000))
    assert told["without power"] >= 7
    assert told["bytes compared"] > 200_000


def test_roles_go_back_and_forth_and_no_offset_is_set_back_for_long() -> None:
    told, watch = tell_of_offsets(3, Script([T.SWITCH] * 6, 2, FlushMode.ASYNC, 8_000))
    assert not told.breaches, told.explain()
    assert watch.changes >= 5
    assert watch.compared >= 10
