"""A sync that fails is the last: nothing is acknowledged after it, and nothing that was is lost.

What Linux does: the failed sync says so once, the pages count as clean from then on, the next sync
says OK, and the cache shows bytes that the disk never got, to the next process too. So here the
n-th sync of each kind of file and folder fails, for every n, and the life (`life`) is then killed
and started again, acknowledges more behind what it found, and has its power cut.
"""

import errno

import pytest

from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from tests.fault.failing_disk import OneFault
from tests.fault.life import Life, Suffered, suffer
from tests.store_kit import ROOT

LOG_FILES = f"{ROOT}/commitlog/*"
# Every sync of a life is of one of these.
TARGETS = (
    LOG_FILES,
    f"{ROOT}/commitlog",
    f"{ROOT}/consumequeue*",
    f"{ROOT}/index*",
    f"{ROOT}/checkpoint",
    f"{ROOT}/durable_mark",
    f"{ROOT}/abort",
    ROOT,
)


def check_failed_syncs(
    mode: FlushMode, target: str = LOG_FILES, defects: Defects = NO_DEFECTS
) -> Suffered:
    """Every sync of a target fails once, each in a life of its own; AssertionError if one of them
    breaks a promise."""
    return suffer(mode, (errno.EIO,), target, defects=defects)


@pytest.mark.parametrize("mode", FlushMode)
def test_whichever_sync_fails_nothing_is_acknowledged_after_it_and_nothing_promised_is_lost(
    mode: FlushMode,
) -> None:
    done = {target: check_failed_syncs(mode, target) for target in TARGETS}
    life = Life(mode, OneFault())
    life.live()
    syncs = [call for call in life.faults.calls if call.name.endswith(("sync", "sync_directory"))]
    assert sum(suffered.lives for suffered in done.values()) == len(syncs) > 100
    assert all(suffered.lives >= 2 for suffered in done.values())
    assert sum(suffered.states for suffered in done.values()) > 3 * len(syncs)


@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("defect", [Defect.RETRY_FAILED_SYNC, Defect.CACHE_TRUSTED_AFTER_CRASH])
def test_a_planted_trust_in_what_a_failed_sync_left_is_noticed(
    mode: FlushMode, defect: Defect
) -> None:
    with pytest.raises(AssertionError, match=r"n = \d+, .*commitlog"):
        check_failed_syncs(mode, defects=frozenset({defect}))
