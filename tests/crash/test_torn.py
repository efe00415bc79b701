"""The last write of each kind of file cut short at every byte: nothing is lost but the torn thing.

A torn record is cut, a torn unit of a queue or of the index is made again from the log, a torn
mark or checkpoint falls back to the one before, a torn state file is the old one.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from aerobee.protocol.text.json_text import Key, Value
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.metadata.config_file import ConfigFile
from tests.crash.recovery_check import RecoveryCheck, Truth, log_of
from tests.store_kit import ROOT, SMALL, StoreKit, batch_draft, draft, properties

LAST_WRITES: dict[str, Callable[[StoreKit], None]] = {}


def last_write(kit_change: Callable[[StoreKit], None]) -> Callable[[StoreKit], None]:
    LAST_WRITES[kit_change.__name__] = kit_change
    return kit_change


@last_write
def record(kit: StoreKit) -> None:
    kit.append(draft(body=b"the last one " * 60, text=properties(TAGS="t", KEYS="k")))


@last_write
def record_of_zeros(kit: StoreKit) -> None:
    """A tear that leaves the old zeros looks whole but for its checksums."""
    kit.append(draft(body=bytes(700)))


@last_write
def batch(kit: StoreKit) -> None:
    kit.append(batch_draft(b"Orders", 0, [b"x" * 90, b"", b"y" * 300]))


@last_write
def record_in_a_new_file(kit: StoreKit) -> None:
    """The filler of the old file is torn as well."""
    before = kit.store.end_offset // kit.config.log_file_bytes
    while kit.store.end_offset // kit.config.log_file_bytes == before:
        kit.disk.observe()
        kit.append(draft(body=b"z" * 500))


@last_write
def unit_and_keys(kit: StoreKit) -> None:
    text = properties(TAGS="a tag with a long hash", KEYS="k1 k2")
    kit.append(draft(b"Orders", 0, b"a message", text))
    kit.disk.observe()
    kit.store.sync()
    kit.store.dispatch()
    kit.store.records_by_key(b"Orders", b"k1", 0, 1, 1)  # whoever looks has waiting keys written


@last_write
def marks(kit: StoreKit) -> None:
    kit.append(draft(b"Orders", 0, b"a message"))
    kit.store.sync()
    kit.step(kit.config.checkpoint_interval_ms)
    kit.worker.run_all()
    kit.step(kit.config.mark_interval_ms)


# Bytes that the write does not change are no places to tear it.
TEARS_MIN = {
    "record": 800,
    "record_of_zeros": 60,
    "batch": 500,
    "record_in_a_new_file": 500,
    "unit_and_keys": 40,
    "marks": 12,
}


def check_torn(name: str, mode: FlushMode, defects: Defects = NO_DEFECTS) -> int:
    """Tear the last write of every file that it changed; how many tears there were."""
    kit = StoreKit(config=replace(SMALL, flush_mode=mode), defects=defects)
    kit.append_many(11)
    kit.append_many(5, b"Refunds", 1)
    kit.settle()
    LAST_WRITES[name](kit)
    kit.disk.observe()
    truth = Truth(log_of(kit.disk.kill())[: kit.store.end_offset])
    check = RecoveryCheck(kit.config, defects)
    for state in kit.disk.torn_states():
        check.check(state, truth, kit.store.flushed_offset)
    return check.count


@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("name", LAST_WRITES)
def test_the_last_write_torn_at_any_byte_costs_nothing_else(name: str, mode: FlushMode) -> None:
    assert check_torn(name, mode) >= TEARS_MIN[name]


# State files.

OLD: dict[Key, Value] = {"topics": {"Orders": {"queues": 4}}, "version": 1}
NEW: dict[Key, Value] = {"topics": {"Orders": {"queues": 8}, "Refunds": {}}, "version": 2}
PATH = f"{ROOT}/config/topics.json"


def check_state_file(defects: Defects = NO_DEFECTS) -> int:
    """Cut the power at every call of a replacement: what loads is old or new, from the file itself,
    and new once the call has returned."""
    count = 0
    calls = _replace_state(SimDisk(), None, defects)
    for n in range(1, calls + 2):
        disk = SimDisk()
        is_done = _replace_state(disk, n, defects) == calls
        states = [*disk.crash_states(), *disk.torn_states(), disk.kill()]
        for state in states:
            loaded = ConfigFile(state, PATH).load()
            assert loaded is not None, f"[{state.origin}] at call {n}: nothing is there"
            assert not loaded.fault, f"[{state.origin}] at call {n}: {loaded.fault}"
            wanted = (NEW,) if is_done else (OLD, NEW)
            assert loaded.value in wanted, f"[{state.origin}] at call {n}: {loaded.value}"
        count += len(states)
    return count


def _replace_state(disk: SimDisk, cut_at: int | None, defects: Defects) -> int:
    """Replace the state once, with the power cut at the n-th call of it; how many were made."""
    file = ConfigFile(disk, PATH, defects=defects)
    file.store({"version": 0})
    file.store(OLD)
    before = len(disk.faults.calls)
    if cut_at is not None:
        disk.faults.power_cut_at(cut_at)
    try:
        file.store(NEW)
    except PowerCut:
        return len(disk.faults.calls) - before - 1
    return len(disk.faults.calls) - before


def test_a_state_file_is_old_or_new_after_any_power_cut() -> None:
    assert check_state_file() > 30
