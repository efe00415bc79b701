"""The test of the tests: every mistake that can be planted in the store is noticed by a check.

For each defect stands here the check that must notice it, the same function that the named test
runs on a sound store. A check that passes with its defect planted is no check, and a check that
fails without it says nothing: both are tried.
"""

import re
from collections.abc import Callable
from functools import partial

import pytest

from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from tests.crash.sweep import Job, sweep
from tests.crash.test_bit_flips import flip_and_open, one_bit_a_byte
from tests.crash.test_double_crash import check_two_lives
from tests.crash.test_files_damaged import base, deleted, outcome_of
from tests.crash.test_torn import check_state_file
from tests.fault.test_disk_full import story_of_a_sync_without_room
from tests.fault.test_failed_sync import check_failed_syncs
from tests.score import show
from tests.store_kit import ROOT
from tests.tidy.source_tree import SourceTree
from tests.unit.storage.retain.test_cleaner import story_of_a_reader

Check = Callable[[Defects], object]


def sync_points(mode: FlushMode, defects: Defects) -> None:
    """test_sync_points: a sound store cannot make good what the one before it did."""
    sweep(Job(3, mode, 60, 0.05), defects)


def recovery(mode: FlushMode, defects: Defects) -> None:
    """test_sync_points: a sound store ran, one that recovers wrongly finds what it left."""
    sweep(Job(3, mode, 60, 0.05), recovery_defects=defects)


def failed_sync(mode: FlushMode, defects: Defects) -> None:
    """test_failed_sync"""
    check_failed_syncs(mode, defects=defects)


def double_crash(defects: Defects) -> None:
    """test_double_crash"""
    for seed in range(10):
        check_two_lives(seed, FlushMode.ASYNC, defects)


def bit_flips(stop: str, defects: Defects) -> None:
    """test_bit_flips"""
    flip_and_open(stop, one_bit_a_byte(2048, seed=1), defects=defects)


def missing_queue_file(defects: Defects) -> None:
    """test_files_damaged"""
    files = base("cut").files
    last = max(path for path in files if path.startswith(f"{ROOT}/consumequeue/Orders/0/"))
    assert outcome_of(deleted(files, last), "cut", defects) == "rebuilt"


def state_file(defects: Defects) -> None:
    """test_torn"""
    check_state_file(defects)


def full_disk(defects: Defects) -> None:
    """test_disk_full"""
    story_of_a_sync_without_room(defects)


def file_in_use(defects: Defects) -> None:
    """test_cleaner"""
    story_of_a_reader(defects)


SYNC = partial(sync_points, FlushMode.SYNC)
ASYNC = partial(sync_points, FlushMode.ASYNC)
RECOVERY = partial(recovery, FlushMode.ASYNC)
FAILED_SYNC = partial(failed_sync, FlushMode.SYNC)

BANK: dict[Defect, Check] = {
    Defect.ACKNOWLEDGE_BEFORE_SYNC: SYNC,
    Defect.ACKNOWLEDGE_FAILED_SYNC: FAILED_SYNC,
    Defect.SKIP_SYNC: SYNC,
    Defect.RETRY_FAILED_SYNC: FAILED_SYNC,
    Defect.READ_AFTER_FAILED_SYNC: partial(failed_sync, FlushMode.ASYNC),
    Defect.MARK_BEFORE_SYNC: SYNC,
    Defect.ABORT_FLAG_NOT_SET: ASYNC,
    Defect.NO_DIRECTORY_SYNC_ON_ROLL: SYNC,
    Defect.TAIL_NOT_ZEROED: double_crash,
    Defect.MIDDLE_OF_LOG_CUT: partial(bit_flips, "cut, in one file"),
    Defect.CRC_OFF: ASYNC,
    Defect.CRC_NOT_CHECKED: partial(bit_flips, "above mark"),
    Defect.CACHE_TRUSTED_AFTER_CRASH: FAILED_SYNC,
    Defect.CHECKPOINT_AHEAD_OF_DATA: ASYNC,
    Defect.QUEUE_NOT_CUT_WITH_LOG: RECOVERY,
    Defect.MISSING_FILES_UNNOTICED: missing_queue_file,
    Defect.DISPATCHED_UNCHECKED: partial(bit_flips, "derived again"),
    Defect.DISPATCH_AHEAD_OF_SYNC: SYNC,
    Defect.CONFIG_WRITTEN_IN_PLACE: state_file,
    Defect.ACKNOWLEDGE_ON_FULL_DISK: full_disk,
    Defect.FILE_IN_USE_WIPED: file_in_use,
}

CHECKS: list[Check] = list(dict.fromkeys(BANK.values()))


def _name(check: Check) -> str:
    """`failed_sync SYNC_FLUSH` for a partial, the function's name for a function."""
    if isinstance(check, partial):
        return f"{check.func.__name__} {getattr(check.args[0], 'value', check.args[0])}"
    return getattr(check, "__name__", str(check))


@pytest.mark.parametrize("check", CHECKS, ids=_name)
def test_a_sound_store_passes_the_check(check: Check) -> None:
    check(NO_DEFECTS)


def test_every_planted_defect_is_caught() -> None:
    missed = []
    for defect, check in BANK.items():
        try:
            check(frozenset({defect}))
        except AssertionError:
            continue
        missed.append(f"{defect.name} by {_name(check)}")
    show(f"defects caught: {len(BANK) - len(missed)} of {len(Defect)}")
    assert missed == []
    assert BANK.keys() == set(Defect)


def test_only_the_store_knows_of_defects() -> None:
    """Nothing that ships can plant one: outside the store nobody so much as says the word."""
    named = [
        f"{module.place}: {found.group()}"
        for module in SourceTree().package
        if not module.name.startswith("aerobee.storage")
        for found in re.finditer(r"\b(Defects?|NO_DEFECTS|defects)\b", module.text)
    ]
    assert named == []
