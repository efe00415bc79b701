"""A topic that was deleted does not come back, whatever stops the process, and whenever.

Before its note is on the disk a deletion may be undone by a crash, whole. After that nothing of the
topic's first life is ever seen again, not even when all queues are built anew, and nothing of its
second is lost. A crash in between does not make a start build everything again.
"""

from dataclasses import replace

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.config import FlushMode, StorageConfig
from tests.store_kit import ROOT, SMALL, StoreKit, bodies_of, contents, draft

KEPT = [b"kept %d" % number for number in range(10)]
FIRST = [b"first %d" % number for number in range(12)]
SECOND = [b"second %d" % number for number in range(3)]
NOTE = f"{ROOT}/deleted_topics"


def with_two_topics(config: StorageConfig = SMALL) -> StoreKit:
    kit = StoreKit(config=config)
    for kept, first in zip(KEPT, FIRST, strict=False):
        kit.append(draft(b"Kept", 0, kept))
        kit.append(draft(b"Gone", 0, first))
    for first in FIRST[len(KEPT) :]:
        kit.append(draft(b"Gone", 0, first))
    kit.settle()
    return kit


def check(survivor: SimDisk, seconds: int) -> None:
    """What a start finds; `seconds`: how many messages of the second life must be there."""
    is_noted = survivor.exists(NOTE)
    kit = StoreKit(survivor)
    assert bodies_of(kit.store, b"Kept") == KEPT, survivor.origin
    found = bodies_of(kit.store, b"Gone")
    if is_noted:
        assert found == SECOND[: len(found)], survivor.origin
        assert len(found) >= seconds, survivor.origin
    else:
        assert found == FIRST, survivor.origin
    # And the start after that one, when every queue has to be built again.
    kit.store.close()
    for path in contents(survivor, f"{ROOT}/consumequeue"):
        survivor.remove(path)
    again = StoreKit(survivor)
    assert bodies_of(again.store, b"Kept") == KEPT, survivor.origin
    assert bodies_of(again.store, b"Gone") == found, survivor.origin
    again.store.close()


def was_rebuilt(disk: SimDisk) -> bool:
    """Whether a start makes queue files again that were there."""
    before = len(disk.faults.calls)
    StoreKit(disk)
    made = [call for call in disk.faults.calls[before:] if call.name == "create_sparse"]
    return any("/Kept/" in call.path for call in made)


def test_at_every_disk_job_of_a_deletion_a_crash_leaves_all_of_a_topic_or_nothing() -> None:
    kit = with_two_topics()
    kit.store.delete_topic(b"Gone")
    states = 0
    for _ in range(40):
        kit.step(700)
        for survivor in kit.disk.crash_states(random_count=4):
            check(survivor, 0)
            states += 1
        if not kit.worker.run_next():
            break
    assert kit.disk.list_directory(f"{ROOT}/consumequeue") == ["Kept"]
    assert states > 30


def test_in_every_disk_call_of_a_deletion_a_crash_leaves_all_of_a_topic_or_nothing() -> None:
    number, is_over = 0, False
    while not is_over:
        number += 1
        kit = with_two_topics()
        kit.store.delete_topic(b"Gone")
        kit.disk.faults.power_cut_at(number)
        is_over = survives(kit)
        for survivor in kit.disk.crash_states(random_count=2):
            assert not was_rebuilt(survivor.kill()), survivor.origin
            check(survivor, 0)
    assert number > 15


def survives(kit: StoreKit) -> bool:
    """Whether a deletion comes to its end without meeting a power cut."""
    try:
        for _ in range(3):
            kit.settle()
    except PowerCut:
        return False
    return True


def test_the_second_life_of_a_topic_survives_and_the_first_does_not() -> None:
    kit = with_two_topics()
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.settle()
    for seconds, body in enumerate(SECOND, 1):
        kit.append(draft(b"Gone", 0, body))
        kit.step()
        for survivor in kit.disk.crash_states(random_count=4):
            check(survivor, seconds - 1)
        check(kit.disk.kill(), seconds)
        kit.settle()
        check(kit.disk.power_cut(), seconds)
    kit.store.close()
    check(kit.disk, len(SECOND))


@pytest.mark.parametrize("mode", FlushMode)
def test_a_deletion_that_is_ahead_of_the_log_leaves_what_comes_after_visible(
    mode: FlushMode,
) -> None:
    """The end of the log is lost, the note of the deletion is not: it must not hide the messages
    that take that place."""
    config = replace(SMALL, flush_mode=mode)
    kit = with_two_topics(config)
    for number in range(5):
        kit.append(draft(b"Gone", 0, b"lost %d" % number))
    kit.store.delete_topic(b"Gone")
    kit.store._deletions.note_now()
    survivor = kit.disk.power_cut()
    for _ in range(3):
        again = StoreKit(survivor, config)
        assert len(bodies_of(again.store, b"Gone")) in (0, 1)
        again.settle()
        survivor = again.disk.power_cut()
        again.store.close()
    again = StoreKit(survivor, config)
    again.append(draft(b"Gone", 0, b"anew"))
    assert again.store.appender.queue_offset == 0
    again.settle()
    assert bodies_of(again.store, b"Gone") == [b"anew"]
    assert bodies_of(StoreKit(again.disk.power_cut(), config).store, b"Gone") == [b"anew"]
