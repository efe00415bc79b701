import zlib

import pytest

from aerobee.errors import CorruptFile
from aerobee.service.broker.replication.metadata.copied_files import CopiedFiles, FileCopy
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

ROUNDS = "store/config/stagedRounds.json"


class Rig:
    def __init__(self) -> None:
        self.disk = SimDisk()
        self.worker = SimDiskWorker()
        self.files = CopiedFiles(self.disk, self.worker, "store")
        self.told: list[BaseException | None] = []

    def copy(self, *copies: FileCopy) -> BaseException | None:
        self.files.begin(copies, self.told.append)
        self.worker.run_all()
        self.worker.collect()
        return self.told[-1]


def test_files_are_replaced_and_told_of_when_they_are_on_the_disk() -> None:
    rig = Rig()
    copies = [
        FileCopy("stagedRounds.json", b'{"writes":{}}'),
        FileCopy("timercheck", b"\x00\x01", is_json=False),
    ]
    rig.files.begin(copies, rig.told.append)
    assert rig.files.is_busy
    assert rig.told == []
    rig.worker.run_all()
    rig.worker.collect()
    assert not rig.files.is_busy
    assert rig.told == [None]
    after = rig.disk.power_cut()
    assert after.read(ROUNDS) == b'{"writes":{}}'
    assert after.read("store/config/timercheck") == b"\x00\x01"
    assert rig.files.crcs["stagedRounds.json"] == zlib.crc32(b'{"writes":{}}')


def test_the_file_before_is_kept_as_a_backup() -> None:
    rig = Rig()
    rig.copy(FileCopy("stagedRounds.json", b'{"a":1}'))
    rig.copy(FileCopy("stagedRounds.json", b'{"a":2}'))
    rig.disk.replace(ROUNDS, b"torn")
    loaded = ConfigFile(rig.disk, ROUNDS).load()
    assert loaded is not None
    assert loaded.value == {"a": 1}


def test_a_file_that_is_written_already_is_not_written_again() -> None:
    rig = Rig()
    rig.copy(FileCopy("stagedRounds.json", b"{}"))
    calls = len(rig.disk.faults.calls)
    assert rig.copy(FileCopy("stagedRounds.json", b"{}")) is None
    assert len(rig.disk.faults.calls) == calls


def test_a_file_that_the_master_does_not_have_is_removed_with_its_backup() -> None:
    rig = Rig()
    rig.copy(FileCopy("stagedRounds.json", b'{"a":1}'))
    rig.copy(FileCopy("stagedRounds.json", b'{"a":2}'))
    assert rig.copy(FileCopy("stagedRounds.json", b"")) is None
    assert ConfigFile(rig.disk, ROUNDS).load() is None
    assert rig.files.crcs["stagedRounds.json"] == 0
    assert rig.copy(FileCopy("consumerOrderInfo.json", b"")) is None


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff"])
def test_what_is_no_json_object_replaces_nothing(content: bytes) -> None:
    rig = Rig()
    rig.copy(FileCopy("stagedRounds.json", b'{"a":1}'))
    assert isinstance(rig.copy(FileCopy("stagedRounds.json", content)), CorruptFile)
    assert rig.disk.read(ROUNDS) == b'{"a":1}'


def test_after_an_error_the_rest_is_left_and_written_the_next_time() -> None:
    rig = Rig()
    rig.disk.faults.fail_sync(f"{ROUNDS}*")
    copies = [
        FileCopy("producerEpochs.json", b"{}"),
        FileCopy("stagedRounds.json", b"{}"),
        FileCopy("consumerOrderInfo.json", b"{}"),
    ]
    assert isinstance(rig.copy(*copies), OSError)
    assert set(rig.files.crcs) == {"producerEpochs.json"}
    assert rig.copy(*copies) is None
    assert len(rig.files.crcs) == 3


def test_the_end_waits_for_the_job_under_way() -> None:
    rig = Rig()
    rig.files.begin([FileCopy("stagedRounds.json", b"{}")], rig.told.append)
    rig.files.finish()
    assert rig.told == [None]
