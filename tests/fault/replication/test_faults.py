"""Masters and slaves as real processes: killed, stopped, cut off and slowed down under load.

FAULT_ROUNDS=5           that many rounds of all faults, instead of one, in each mode, at night
FAULT_NETWORK=loopback   no network namespaces, also where they are possible
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.replication.cells import CELLS, run_cell
from tests.fault.replication.group import Mode
from tests.fault.replication.world import World
from tests.score import show

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
QUICK = {
    Mode(slaves=1, copies=1): ["slow_link"],
    Mode(slaves=1, copies=2): [
        "cut_link",
        "freeze_slave",
        "slow_link",
        "kill_master_with_one_behind",
    ],
    Mode(slaves=2, copies=2): [
        "rogue_peers",
        "kill_slave",
        "flap_link",
        "freeze_master",
        "kill_all",
        "kill_master",
        "kill_master_with_one_behind",
    ],
}
MODES = [
    Mode(slaves, copies, flush)
    for slaves, copies in ((1, 1), (2, 1), (1, 2), (2, 2), (2, 3))
    for flush in ("ASYNC_FLUSH", "SYNC_FLUSH")
]


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """One for all faults of a mode: what one leaves behind is the next one's world."""
    one = World(tmp_path_factory.mktemp("faults"), request.param, "quick")
    try:
        yield one
    finally:
        show(one.summary())
        one.close()


@pytest.mark.parametrize(
    ("world", "cell"),
    [(mode, cell) for mode, cells in QUICK.items() for cell in cells],
    ids=str,
    indirect=["world"],
    scope="module",
)
def test_nothing_acknowledged_is_lost_by(world: World, cell: str) -> None:
    run_cell(world, cell)


@pytest.mark.night
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_nothing_acknowledged_is_lost_in_a_night_of_faults(tmp_path: Path, mode: Mode) -> None:
    world = World(tmp_path, mode, str(mode))
    try:
        for _ in range(ROUNDS):
            for cell in world.dice.sample(sorted(CELLS), len(CELLS)):
                run_cell(world, cell)
    finally:
        show(world.summary())
        world.close()
