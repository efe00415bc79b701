"""The disk of a slave and of its master run full under load: who is full says so, the others go on.

Each store is on a file system in memory whose size is changed; needs root.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.app.chaos.log_check import SentOutcome
from tests.fault.replication.group import LOG_FILE_BYTES, Mode
from tests.fault.replication.world import World
from tests.score import show

_ROOM_BYTES = 1 << 30
_BLOCK_BYTES = 1 << 12


class SmallDisk:
    """A file system in memory."""

    def __init__(self, place: Path) -> None:
        place.mkdir()
        self.place = place
        _run("mount", "-t", "tmpfs", "-o", f"size={_ROOM_BYTES}", "tmpfs", str(place))

    def fill(self) -> None:
        """Leave no room but what files have already."""
        self._resize(self._used() + _BLOCK_BYTES)

    def empty(self) -> None:
        self._resize(_ROOM_BYTES)

    def close(self) -> None:
        _run("umount", "--lazy", str(self.place))

    def _used(self) -> int:
        state = os.statvfs(self.place)
        return (state.f_blocks - state.f_bfree) * state.f_frsize

    def _resize(self, size: int) -> None:
        _run("mount", "-o", f"remount,size={size}", str(self.place))


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[list[SmallDisk]]:
    """One for each broker."""
    made: list[SmallDisk] = []
    try:
        for number in range(3):
            try:
                made.append(SmallDisk(tmp_path / f"disk-{number}"))
            except (RuntimeError, OSError) as error:
                pytest.skip(f"no file system can be mounted here: {error}")
        yield made
    finally:
        for disk in made:
            disk.close()


@pytest.mark.parametrize(
    "mode",
    [
        Mode(slaves=1, copies=1),
        pytest.param(Mode(slaves=2, copies=2), marks=pytest.mark.night),
        pytest.param(Mode(slaves=2, copies=2, flush="SYNC_FLUSH"), marks=pytest.mark.night),
    ],
    ids=str,
)
def test_a_full_disk_stops_its_own_broker_alone(
    tmp_path: Path, disks: list[SmallDisk], mode: Mode
) -> None:
    stores = {number: disk.place / "store" for number, disk in enumerate(disks)}
    world = World(tmp_path / "world", mode, "full", stores)
    try:
        world.progress()
        # First the master, whose log is one file yet: of more files the oldest would go for room.
        _fill_master(world, disks)
        world.judge()
        _fill_slave(world, disks)
        world.judge()
    finally:
        show(f"full disks, {world.summary()}")
        world.close()


def _fill_slave(world: World, disks: list[SmallDisk]) -> None:
    """A slave that has no room for its next log file lags behind; it is told why, and recovers."""
    slave = world.a_slave()
    disks[slave.number].fill()
    with world.load.heavier(body_bytes=20_000, pause_seconds=0.01):
        world.until_behind(slave, LOG_FILE_BYTES // 4)
        world.progress()
    assert re.search("not following the master: (no room|the disk of .* used)", slave.said())
    assert slave.log_range()[0] == 0, "nothing of its log is removed for room"
    disks[slave.number].empty()
    world.until_caught_up()


def _fill_master(world: World, disks: list[SmallDisk]) -> None:
    """A master without room refuses before it stores anything, and goes on when there is some."""
    disks[world.master.number].fill()
    world.progress(20, SentOutcome.REFUSED)
    taken = world.load.count()
    world.progress(20, SentOutcome.REFUSED)
    assert world.load.count() == taken, "a full disk takes nothing"
    disks[world.master.number].empty()
    world.progress()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
