"""The n-th disk call of a store's life fails, for every n and every error that a disk knows.

Two lives: one that appends, rolls, syncs, marks, reads, stops and starts (`life`), and one that
cleans, whose log begins later and later. What must hold is said where the lives are.
"""

import errno
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, product

import pytest

from aerobee.errors import DiskFailed
from aerobee.sim.faults import SimFaults
from aerobee.storage.config import FlushMode
from tests.crash.test_cleaning import check_queues, clean, ends_of, filled, logs, reopened
from tests.fault.failing_disk import OneFault
from tests.fault.life import Life, suffer
from tests.store_kit import ROOT, StoreKit, draft

CODES = (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EROFS, errno.EDQUOT)
EVERY_CODE = tuple((code,) for code in CODES)
ONE_AND_THE_OTHERS = ((errno.EIO,), CODES[1:])
"""A part of them: every call fails twice, once with one of the other codes, which take turns."""
PROCESSES = 2

# Every call of the port that a store makes, but for the removal of whole folders.
CALLS = {
    "create",
    "create_sparse",
    "drop_cache",
    "exists",
    "find_data",
    "is_resident",
    "list_directory",
    "lock",
    "make_directory",
    "open",
    "open_sparse",
    "read",
    "remove",
    "replace.rename",
    "replace.sync",
    "replace.sync_directory",
    "replace.write",
    "reserve",
    "size",
    "space",
    "sync",
    "sync_directory",
    "warm",
}


@pytest.mark.parametrize("mode", FlushMode)
def test_a_life_without_a_fault_is_complete(mode: FlushMode) -> None:
    life = Life(mode, OneFault())
    life.live()
    assert life.is_complete
    assert life.durable_to == life.kept_to > 5 * life.config.log_file_bytes
    assert len(life.faults.calls) > 350


def check_every_call(codes: Sequence[tuple[int, ...]]) -> int:
    """Fail every call with the codes of each entry; returns the states of disks that were seen."""
    calls = {}
    for mode in FlushMode:
        life = Life(mode, OneFault())
        life.live()
        calls[mode] = len(life.faults.calls)
    jobs = list(product(FlushMode, codes))
    with ProcessPoolExecutor(PROCESSES) as pool:
        done = list(pool.map(suffer, *zip(*jobs, strict=True)))
    for (mode, _), suffered in zip(jobs, done, strict=True):
        assert suffered.lives == calls[mode]
        assert suffered.hits == CALLS
    return sum(suffered.states for suffered in done)


def test_whichever_call_fails_the_outcome_is_definite_and_nothing_promised_is_lost() -> None:
    assert check_every_call(ONE_AND_THE_OTHERS) > 2_000


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_whatever_the_error_the_outcome_is_definite_and_nothing_promised_is_lost() -> None:
    assert check_every_call(EVERY_CODE) > 5_000


# Cleaning.


def cleaned(n: int, code: int) -> tuple[StoreKit, bool]:
    """A store whose n-th call of a long cleaning failed; whether there was such a call."""
    kit = filled()
    faults = OneFault()
    faults.fail_call(n, code)
    kit.disk.faults = faults
    clean(kit)
    clean(kit)
    return kit, faults.hit is not None


@pytest.mark.parametrize(
    "code",
    [CODES[0], *(pytest.param(code, marks=pytest.mark.night) for code in CODES[1:])],
    ids=lambda code: errno.errorcode[code],
)
def test_whichever_call_of_a_cleaning_fails_it_goes_on_or_the_store_has_failed(code: int) -> None:
    whole, _ = cleaned(1 << 30, code)
    calls = len(whole.disk.faults.calls)
    ends = ends_of(whole)
    kept = logs(whole.disk)
    n = failures = 0
    while True:
        n += 1
        kit, was_hit = cleaned(n, code)
        if not was_hit:
            break
        kit.disk.faults = SimFaults()
        origin = f"call {n}"
        check_queues(kit, ends, origin)
        if kit.store.failure is None:
            assert logs(kit.disk) == kept, origin
        else:
            failures += 1
            with pytest.raises(DiskFailed):
                kit.append(draft())
        for state in (kit.disk.kill(), *islice(kit.disk.crash_states(random_count=2, seed=n), 3)):
            check_queues(reopened(state, kit.clock), ends, f"{origin}, {state.origin}")
        kit.store.close()
        assert kit.worker.pending() == 0, origin
        kit.disk.lock(f"{ROOT}/lock").release()
        check_queues(reopened(kit.disk.kill(), kit.clock), ends, f"{origin}, closed")
    assert n - 1 == calls > 40
    assert 10 < failures < n - 10
