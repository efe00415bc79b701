import errno

import pytest

from aerobee.sim.faults import DiskCall, PowerCut, SimFaults


def test_every_call_is_logged_with_its_path() -> None:
    faults = SimFaults()
    faults.enter("open", "a")
    faults.enter("sync", "b", is_sync=True)
    assert faults.calls == [DiskCall("open", "a"), DiskCall("sync", "b")]


def test_the_nth_call_from_now_fails_once_with_the_error_asked_for() -> None:
    faults = SimFaults()
    faults.enter("open", "a")
    faults.fail_call(2, errno.EMFILE)
    faults.enter("open", "b")
    with pytest.raises(OSError, match="Too many open files") as failure:
        faults.enter("open", "c")
    assert failure.value.errno == errno.EMFILE
    assert failure.value.filename == "c"
    faults.enter("open", "d")
    assert len(faults.calls) == 4


def test_the_nth_sync_of_matching_files_fails_once_and_other_calls_do_not_count() -> None:
    faults = SimFaults()
    faults.fail_sync("*/commitlog/*", 2, errno.ENOSPC)
    faults.enter("sync", "s/commitlog/0", is_sync=True)
    faults.enter("open", "s/commitlog/0")
    faults.enter("sync", "s/index/0", is_sync=True)
    with pytest.raises(OSError, match="No space left"):
        faults.enter("sync", "s/commitlog/1", is_sync=True)
    faults.enter("sync", "s/commitlog/1", is_sync=True)


def test_after_a_power_cut_no_call_comes_through() -> None:
    faults = SimFaults()
    faults.power_cut_at(2)
    faults.enter("open", "a")
    assert not faults.is_off
    for _ in range(3):
        with pytest.raises(PowerCut):
            faults.enter("sync", "b", is_sync=True)
    assert faults.is_off
    assert len(faults.calls) == 2
    assert not issubclass(PowerCut, Exception)


def test_cold_files_are_those_that_match() -> None:
    faults = SimFaults()
    faults.make_cold("*/commitlog/*")
    assert faults.is_cold("s/commitlog/0")
    assert not faults.is_cold("s/index/0")
