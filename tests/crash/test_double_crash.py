"""Crash, recover, go on, crash again: nothing that the first crash cut off rises from the dead.

Records of both lives have one size, so that what the first left behind lies exactly where the
second writes. And a crash in the middle of recovering from a crash: the second start finds what the
first would have.
"""

import contextlib
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest

from aerobee.errors import StoreBusy
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.crash.recovery_check import RecoveryCheck, Truth, log_of
from tests.crash.story import Story, Watch, watched
from tests.crash.sweep import PROCESSES
from tests.score import show
from tests.store_kit import ROOT, SMALL, StoreKit, draft, properties

STATES_MIN = 3_000
NIGHT_STATES_MIN = 50_000


def _live(kit: StoreKit, generator: random.Random, word: bytes) -> None:
    """Some messages of one size, synced now and then."""
    for number in range(generator.randrange(2, 7)):
        body = (word + b" %03d " % number).ljust(250, b".")
        with contextlib.suppress(StoreBusy):
            kit.append(draft(b"Orders", number % 2, body, properties(KEYS="key")))
        kit.disk.observe()
        if generator.random() < 0.3:
            kit.step(generator.choice((1, 600, 5000)))
            kit.worker.run_next()
        if generator.random() < 0.2:
            kit.settle()


def check_two_lives(seed: int, mode: FlushMode, defects: Defects = NO_DEFECTS) -> int:
    """How many states of the second crash were checked, by a store without defects."""
    generator = random.Random(seed)
    config = replace(SMALL, flush_mode=mode)
    first = StoreKit(config=config, defects=defects)
    _live(first, generator, b"first")
    states = [first.disk.kill(), *first.disk.crash_states(seed=seed)]
    check = RecoveryCheck(config)
    for disk in generator.sample(states, min(8, len(states))):
        origin = disk.origin
        second = StoreKit(disk, config, clock=first.clock, defects=defects)
        _live(second, generator, b"other")
        truth = Truth(log_of(disk.kill())[: second.store.end_offset])
        flushed = second.store.flushed_offset
        check.check(disk.kill(), truth, second.store.end_offset)
        for state in disk.crash_states(random_count=8, seed=seed, share=0.5):
            state.origin = f"{origin}; then {state.origin}"
            check.check(state, truth, flushed)
    return check.count


def check_interrupted_recovery(seed: int, mode: FlushMode, defects: Defects = NO_DEFECTS) -> int:
    """A crash before every call of a recovery. How many states were checked."""
    moments = random.Random(seed)
    count = 0

    def visit(story: Story) -> None:
        nonlocal count
        if moments.random() < 0.02:
            states = story.disk.crash_states(seed=story.moments, share=0.05)
            state = next(states, story.disk.kill())
            count += _interrupt(state, story, seed, defects)

    Story(seed, mode, visit, defects=defects).run(60)
    return count


def _interrupt(disk: SimDisk, story: Story, seed: int, defects: Defects) -> int:
    check = RecoveryCheck(story.config, defects)
    truth = Truth(story.log)
    kept_to = story.durable_to

    def before_call() -> None:
        for state in disk.crash_states(random_count=4, seed=seed, share=0.1):
            state.origin = f"{disk.origin}; then {state.origin}"
            check.check(state, truth, kept_to)

    disk.faults = Watch(before_call)
    with watched():
        Store.open(disk, ROOT, story.config, SimDiskWorker(), defects=defects)
    return check.count


def _sum_over(check: Callable[[int, FlushMode], int], seeds: range) -> int:
    """Side by side: how many states were checked."""
    jobs = [(seed, mode) for seed in seeds for mode in FlushMode]
    with ProcessPoolExecutor(PROCESSES) as pool:
        return sum(pool.map(check, *zip(*jobs, strict=True), chunksize=4))


def test_nothing_rises_from_the_dead() -> None:
    count = _sum_over(check_two_lives, range(24))
    show(f"states of a second crash: {count:,}")
    assert count >= STATES_MIN


def test_a_crash_in_a_recovery_changes_nothing() -> None:
    count = _sum_over(check_interrupted_recovery, range(3))
    show(f"states of a crash in a recovery: {count:,}")
    assert count >= STATES_MIN


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_nothing_rises_from_the_dead_at_night() -> None:
    assert _sum_over(check_two_lives, range(1000, 1800)) >= NIGHT_STATES_MIN


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_a_crash_in_a_recovery_at_night_changes_nothing() -> None:
    assert _sum_over(check_interrupted_recovery, range(1000, 1100)) >= NIGHT_STATES_MIN
