"""Unit tests of offsets on the disk: what was committed survives a clean stop, and a crash as far
as the last save.
"""

import pytest

from aerobee.errors import CorruptFile
from aerobee.ports.clock import Now
from aerobee.protocol.text.json_text import parse
from aerobee.service.broker.state.consumer_offsets import UNKNOWN, ConsumerOffsets
from aerobee.service.broker.state.consumer_offsets_file import ConsumerOffsetsFile
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "config/consumerOffset.json"
INTERVAL_MS = 5_000


class Rig:
    """One process on a disk that may have served others before."""

    def __init__(
        self,
        disk: SimDisk | None = None,
        max_offset: int = 100,
        deleted_at: int = 0,
        end_offset: int = 700,
    ) -> None:
        self.end_offset = end_offset
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        self.offsets = ConsumerOffsets()
        self.file = ConsumerOffsetsFile(
            ConfigFile(self.disk, PATH),
            self.worker,
            self.offsets,
            INTERVAL_MS,
            0,
            lambda: self.end_offset,
        )
        self.file.load(lambda topic, queue_id: max_offset, lambda topic: deleted_at)

    def commit(self, offset: int) -> None:
        self.offsets.commit("g", "t", 0, offset, max_offset=100)

    def tick(self, monotonic_ms: int) -> int:
        """What is due; how many disk jobs that makes."""
        self.file.saving.on_tick(Now(1_700_000_000_000 + monotonic_ms, monotonic_ms))
        return self.worker.pending()

    def run_disk(self) -> None:
        self.worker.run_all()
        self.worker.collect()


def committed(disk: SimDisk) -> int:
    """What another process would go on with."""
    return Rig(disk).offsets.find("g", "t", 0)


def test_offsets_are_saved_after_the_interval_if_there_are_new_ones() -> None:
    rig = Rig()
    assert rig.tick(INTERVAL_MS) == 0
    rig.commit(7)
    assert rig.tick(2 * INTERVAL_MS - 1) == 0
    assert rig.tick(2 * INTERVAL_MS) == 1
    rig.run_disk()
    assert rig.tick(3 * INTERVAL_MS) == 0
    rig.commit(7)
    assert rig.tick(4 * INTERVAL_MS) == 0
    assert committed(rig.disk.power_cut()) == 7


def test_a_crash_goes_back_to_the_last_save_and_no_further() -> None:
    rig = Rig()
    rig.commit(7)
    rig.tick(INTERVAL_MS)
    rig.run_disk()
    rig.commit(9)
    assert committed(rig.disk.power_cut()) == 7


def test_what_is_committed_during_a_save_goes_into_the_next() -> None:
    rig = Rig()
    rig.commit(7)
    rig.tick(INTERVAL_MS)
    rig.commit(9)
    assert rig.tick(2 * INTERVAL_MS) == 1  # the first is still under way
    rig.run_disk()
    assert committed(rig.disk.power_cut()) == 7
    assert rig.tick(3 * INTERVAL_MS) == 1
    rig.run_disk()
    assert committed(rig.disk.power_cut()) == 9


def test_a_clean_stop_keeps_everything() -> None:
    rig = Rig()
    rig.commit(7)
    rig.tick(INTERVAL_MS)
    rig.commit(9)  # while a save is under way
    rig.file.saving.close(Now(0, INTERVAL_MS))
    assert rig.worker.pending() == 0
    assert committed(rig.disk.power_cut()) == 9


def test_a_stop_without_anything_new_writes_nothing() -> None:
    rig = Rig()
    rig.file.saving.close(Now(0, 1))
    assert not rig.disk.exists(PATH)


class _FullOnce(SimDisk):
    """Refuses to replace a file, once."""

    is_full = False

    def replace(self, path: str, content: bytes) -> None:
        if self.is_full:
            self.is_full = False
            raise OSError(28, "no room")
        super().replace(path, content)


def test_a_save_that_failed_is_tried_again() -> None:
    disk = _FullOnce()
    rig = Rig(disk)
    rig.commit(7)
    disk.is_full = True
    rig.tick(INTERVAL_MS)
    rig.run_disk()
    assert committed(rig.disk) == UNKNOWN
    assert rig.tick(2 * INTERVAL_MS) == 1
    rig.run_disk()
    assert committed(rig.disk) == 7


def test_offsets_beyond_their_queue_are_cut_at_the_start() -> None:
    rig = Rig()
    rig.commit(80)
    rig.file.saving.close(Now(0, 1))
    after = Rig(rig.disk, max_offset=50)
    assert after.offsets.find("g", "t", 0) == 50


def test_what_was_cut_is_on_the_disk_before_the_queue_grows_again() -> None:
    rig = Rig()
    rig.commit(50)
    rig.tick(INTERVAL_MS)
    rig.run_disk()
    after_loss = Rig(rig.disk.power_cut(), max_offset=20)
    assert committed(after_loss.disk.power_cut()) == 20
    assert after_loss.tick(INTERVAL_MS) == 0


def test_a_cut_that_cannot_be_saved_is_tried_again() -> None:
    rig = Rig()
    rig.commit(50)
    rig.tick(INTERVAL_MS)
    rig.run_disk()
    rig.disk.capacity_bytes = rig.disk.used_bytes()
    after_loss = Rig(rig.disk.power_cut(), max_offset=20)
    assert after_loss.offsets.find("g", "t", 0) == 20
    after_loss.disk.capacity_bytes = 1 << 40
    assert after_loss.tick(INTERVAL_MS) == 1
    after_loss.run_disk()
    assert committed(after_loss.disk) == 20


def test_a_backup_does_where_there_is_one_and_nonsense_stops_the_start() -> None:
    rig = Rig()
    for offset in (7, 9):
        rig.commit(offset)
        rig.file.saving.close(Now(0, 1))
    rig.disk.replace(PATH, b'{"offsetTable":')
    after = Rig(rig.disk)
    assert after.offsets.find("g", "t", 0) == 7
    assert "backup" in after.file.fault
    rig.disk.replace(PATH, b'{"offsetTable":{"t@g":7}}')
    with pytest.raises(CorruptFile, match=PATH):
        Rig(rig.disk)


def test_the_file_is_in_apaches_own_form() -> None:
    rig = Rig()
    rig.commit(7)
    rig.file.saving.close(Now(1_700_000_000_000, 1))
    assert rig.disk.read(PATH).startswith(b'{\n\t"dataVersion":{\n\t\t"counter":1,\n')
    assert parse(rig.disk.read(PATH)) == {
        "dataVersion": {"counter": 1, "stateVersion": 0, "timestamp": 1_700_000_000_000},
        "groupTopicMap": {"g": ["t"]},
        "logOffset": 700,
        "offsetTable": {"t@g": {0: 7}},
        "pullOffsetTable": {},
    }


def test_a_save_holds_the_end_of_the_log_at_its_begin() -> None:
    rig = Rig()
    rig.commit(7)
    rig.tick(INTERVAL_MS)
    rig.end_offset = 900  # of the save that is under way nothing changes
    rig.run_disk()
    assert Rig(rig.disk, deleted_at=699).offsets.find("g", "t", 0) == 7
    assert Rig(rig.disk.kill(), deleted_at=701).offsets.find("g", "t", 0) == UNKNOWN
    # What was left out is out of the file, too.
    cut = rig.disk.kill()
    Rig(cut, deleted_at=701)
    assert (saved(cut)["offsetTable"], saved(cut)["logOffset"]) == ({}, 700)


def saved(disk: SimDisk) -> dict[str, object]:
    found = parse(disk.read(PATH))
    assert isinstance(found, dict)
    return {str(name): value for name, value in found.items()}


def test_of_a_log_that_was_cut_no_offset_in_the_file_is_behind_its_end() -> None:
    rig = Rig()
    rig.offsets.popped_to = 650
    rig.commit(7)
    rig.tick(INTERVAL_MS)
    rig.run_disk()
    cut = Rig(rig.disk.power_cut(), end_offset=600)
    assert cut.offsets.popped_to == 600
    # The log has grown since, and the process died before its first save.
    grown = Rig(cut.disk.power_cut(), end_offset=900)
    assert grown.offsets.popped_to == 600
    assert grown.offsets.find("g", "t", 0) == 7


def test_offsets_of_a_topic_that_was_made_anew_behind_a_cut_are_not_kept() -> None:
    rig = Rig()
    rig.commit(7)
    rig.tick(INTERVAL_MS)
    rig.run_disk()
    cut = Rig(rig.disk.power_cut(), end_offset=600)
    assert cut.offsets.find("g", "t", 0) == 7
    grown = Rig(cut.disk.power_cut(), end_offset=900, deleted_at=650)
    assert grown.offsets.find("g", "t", 0) == UNKNOWN
