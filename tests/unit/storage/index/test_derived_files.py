"""Queues, batch queues and index as one thing: counted, cut, synced and trimmed together."""

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.derived_files import NO_COUNT, DerivedFiles, Fingerprint
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.index.key_index import KeyIndex, KeyIndexConfig
from tests.store_kit import contents, properties

STAMP = 1_700_000_000_000


def made(disk: SimDisk, *, with_index: bool = True) -> DerivedFiles:
    return DerivedFiles(
        ConsumeQueues(disk, "store/consumequeue", 4),
        BatchConsumeQueues(disk, "store/batchconsumequeue", 2),
        KeyIndex.open(disk, "store/index", KeyIndexConfig(8, 4)) if with_index else None,
        KeptFiles(disk, "store/compacted"),
    )


def filled(disk: SimDisk) -> DerivedFiles:
    """Six messages at 0, 1000, ... and three batches of two at 500, 1500, 2500; a key each."""
    derived = made(disk)
    for number in range(6):
        derived.queues.find_or_make(b"Orders", 1).append(number, 1000 * number, 100, 0)
        assert derived.index is not None
        derived.index.put_keys(b"Orders", b"", b"k%d" % number, b"", 1000 * number, STAMP + number)
    for number in range(3):
        text = properties(INNER_BASE=str(2 * number), INNER_NUM="2")
        derived.batch_queues.append(b"Batches", 0, 1000 * number + 500, 100, 0, STAMP, text)
    return derived


@pytest.mark.parametrize("with_empty_queues", [True, False])
def test_nothing_derived_counts_nothing(with_empty_queues: bool) -> None:
    disk = SimDisk()
    derived = made(disk)
    if with_empty_queues:
        disk.make_directory("store/batchconsumequeue/Batches/0")
        disk.make_directory("store/consumequeue/Orders/0")
        derived.queues.load(is_torn=False)
        derived.batch_queues.load(is_torn=False)
        assert len(derived.all_queues()) == 2
    assert derived.fingerprint() == Fingerprint(0, 0, 0, 0)
    assert derived.log_end() == 0
    assert derived.newest_record() == -1
    assert derived.take_unsynced() == ([], [])


def test_the_fingerprint_is_of_all_queues_and_of_the_last_index_file() -> None:
    derived = filled(SimDisk())
    assert derived.fingerprint() == Fingerprint(2, 12, 3, 0)
    derived.queues.find_or_make(b"Empty", 0)
    assert derived.fingerprint() == Fingerprint(2, 12, 3, 0)


def test_without_an_index_the_fingerprint_is_that_of_no_index_ever() -> None:
    """An index that is switched on later must not take itself for complete."""
    assert made(SimDisk(), with_index=False).fingerprint() == Fingerprint(0, 0, NO_COUNT, 0)


def test_the_newest_record_is_found_in_either_kind_of_queue() -> None:
    derived = filled(SimDisk())
    assert derived.newest_record() == 5000
    assert derived.log_end() == 5100
    text = properties(INNER_BASE="6", INNER_NUM="1")
    derived.batch_queues.append(b"Batches", 0, 7000, 100, 0, STAMP, text)
    assert derived.newest_record() == 7000
    assert derived.log_end() == 7100


def test_a_gap_at_the_end_of_a_queue_points_at_no_record() -> None:
    derived = made(SimDisk())
    queue = derived.queues.find_or_make(b"Orders", 0)
    queue.append(0, 100, 50, 0)
    queue.append(3, 900, 50, 0)
    queue.truncate_to(900, is_torn=False)
    assert queue.max_offset == 3
    assert derived.newest_record() == -1


def test_all_queues_are_cut_at_the_same_place() -> None:
    derived = filled(SimDisk())
    derived.truncate_queues_to(1500, is_torn=False)
    assert [queue.max_offset for queue in derived.all_queues()] == [2, 2]
    derived.clear_queues()
    assert derived.all_queues() == []


def test_a_checkpoint_syncs_what_changed_and_every_folder_above_a_new_name() -> None:
    disk = SimDisk()
    disk.make_directory("store")
    derived = filled(disk)
    unsynced = derived.take_unsynced()
    assert {file.path for file in unsynced.files} == set(contents(disk, "store"))
    assert unsynced.directories == [
        "store",
        "store/batchconsumequeue",
        "store/batchconsumequeue/Batches",
        "store/batchconsumequeue/Batches/0",
        "store/consumequeue",
        "store/consumequeue/Orders",
        "store/consumequeue/Orders/1",
        "store/index",
    ]
    for file in unsynced.files:
        file.sync()
    for directory in unsynced.directories:
        disk.sync_directory(directory)
    assert contents(disk.power_cut(), "store") == contents(disk, "store")
    assert derived.take_unsynced() == ([], [])
    derived.queues.find_or_make(b"Orders", 1).append(6, 9000, 100, 0)
    again = derived.take_unsynced()
    assert [file.path for file in again.files] == [f"store/consumequeue/Orders/1/{80:020}"]
    assert again.directories == []


def test_a_removed_file_leaves_its_folder_to_be_synced() -> None:
    derived = filled(SimDisk())
    derived.take_unsynced()
    for queue in derived.all_queues():
        queue.drop_below(4000)
    unsynced = derived.take_unsynced()
    assert "store/consumequeue/Orders/1" in unsynced.directories
    assert unsynced.files == []


def test_without_an_index_there_is_none_to_sync() -> None:
    derived = made(SimDisk(), with_index=False)
    derived.queues.find_or_make(b"Orders", 1).append(0, 0, 100, 0)
    assert len(derived.take_unsynced().files) == 1


@pytest.mark.parametrize("with_index", [True, False])
def test_closing_gives_up_every_file(with_index: bool) -> None:
    derived = filled(SimDisk())
    files = derived.take_unsynced().files
    if not with_index:
        files = [file for file in files if "index" not in file.path]
        derived.index = None
    derived.close()
    for file in files:
        with pytest.raises(ValueError, match="closed"):
            file.sync()


@pytest.mark.parametrize("log_offset", [0, 1, 500, 501, 1000, 2501, 4999, 5000, 5001, 9000])
def test_the_share_of_a_topic_is_what_the_fingerprint_loses_without_it(
    log_offset: int,
) -> None:
    cut = filled(SimDisk())
    cut.truncate_queues_to(log_offset, is_torn=False)
    before = cut.fingerprint()
    for topic in (b"Orders", b"Batches"):
        taken = filled(SimDisk()).take_topic(topic)
        others = filled(SimDisk())
        others.truncate_queues_to(log_offset, is_torn=False)
        others.take_topic(topic)
        after = others.fingerprint()
        share = taken.share_at(log_offset)
        assert share.queue_count == before.queue_count - after.queue_count
        assert share.unit_total == before.unit_total - after.unit_total
        assert share.first_total == before.first_total - after.first_total


def test_a_topic_that_is_taken_out_keeps_its_files_and_names_their_folders() -> None:
    disk = SimDisk()
    derived = filled(disk)
    before = contents(disk, "store")
    assert derived.take_topic(b"Never").folders == []
    taken = derived.take_topic(b"Orders")
    batches = derived.take_topic(b"Batches")
    assert derived.all_queues() == []
    assert (taken.folders, batches.folders) == (
        ["store/consumequeue/Orders/1"],
        ["store/batchconsumequeue/Batches/0"],
    )
    for one in (taken, batches):
        assert one.share_at(9000).unit_total == 6
        one.let_go()
        assert one.share_at(9000) == Fingerprint(0, 0, 0, 0)
    assert contents(disk, "store") == before


def test_the_share_of_a_topic_counts_the_files_that_retention_left() -> None:
    derived = filled(SimDisk())
    derived.queues.find_or_make(b"Orders", 1).drop_below(4500)
    derived.batch_queues.all()[0].drop_below(2400)
    before = derived.fingerprint()
    shares = [derived.take_topic(topic).share_at(9000) for topic in (b"Orders", b"Batches")]
    assert (before.first_total, before.unit_total) == (4 + 2, 12)
    assert sum(share.first_total for share in shares) == before.first_total
    assert sum(share.unit_total for share in shares) == before.unit_total


def test_queues_that_end_before_a_log_offset_are_cleared_and_others_stay() -> None:
    disk = SimDisk()
    derived = filled(disk)
    derived.queues.find_or_make(b"Orders", 2).append(0, 7000, 100, 0)
    before = derived.fingerprint()
    assert derived.ended_before(b"Orders", 5099).folders == []
    ended = derived.ended_before(b"Orders", 5100)
    assert ended.folders == ["store/consumequeue/Orders/1"]
    share = ended.share_at(1 << 40)
    ended.clear()
    after = derived.fingerprint()
    assert after[:2] == (before[0] - share[0], before[1] - share[1])
    assert [queue.max_offset for queue in derived.queues.of_topic(b"Orders")] == [0, 1]
    assert disk.list_directory("store/consumequeue/Orders/1") == []
    batches = derived.ended_before(b"Batches", 1 << 40)
    batches.clear()
    assert derived.fingerprint()[:2] == (1, 1)
    assert derived.ended_before(b"Batches", 1 << 40).folders == []
