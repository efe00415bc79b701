"""The machine of a master loses its power under load: its slave takes over, and the master returns
with what its disk had.

POWER_CUTS=10   cuts for each flush mode
"""

import os
import time
from pathlib import Path

import pytest

from tests.fault.replication.cells import follow_new_master
from tests.fault.replication.group import Mode
from tests.fault.replication.world import World
from tests.power_cut import Rig, missing
from tests.score import show

pytestmark = [pytest.mark.root, pytest.mark.skipif(bool(missing()), reason=missing())]

CUTS = int(os.environ.get("POWER_CUTS", "10"))


@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("flush", ["ASYNC_FLUSH", "SYNC_FLUSH"])
@pytest.mark.parametrize("number", range(CUTS))
def test_a_slave_has_what_was_acknowledged_when_its_master_loses_power(
    tmp_path: Path, flush: str, number: int
) -> None:
    with Rig("ext4") as rig:
        stores = {0: rig.data / "store"}
        world = World(tmp_path, Mode(2, 2, flush), f"power {number}", stores)
        try:
            world.progress()
            world.wait(world.dice.uniform(0, 1.5))
            old = world.master
            old.freeze()
            place = rig.cut()
            old.kill()
            lost_s = time.monotonic()
            old.store = place / "store"
            follow_new_master(world, world.group.promote(), lost_s)
            world.judge()
        finally:
            show(f"power of the master, {world.summary()}")
            world.close()
