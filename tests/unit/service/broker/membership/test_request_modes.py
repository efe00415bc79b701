import pytest

from aerobee.errors import CorruptFile
from aerobee.protocol.bodies.assignment import POP, RequestMode
from aerobee.service.broker.membership.request_modes import RequestModes
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile
from tests.fixture_store import files

PATH = "config/messageRequestMode.json"
MODE = RequestMode("Orders", "g", POP, 2)


class Rig:
    def __init__(self, disk: SimDisk | None = None) -> None:
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        self.modes = RequestModes(ConfigFile(self.disk, PATH), self.worker)
        self.told: list[BaseException | None] = []

    def put(self, mode: RequestMode) -> None:
        self.modes.put(mode, self.told.append)


def test_a_mode_is_seen_and_told_once_it_is_on_the_disk() -> None:
    rig = Rig()
    rig.put(MODE)
    assert rig.modes.find("Orders", "g") is None
    assert rig.told == []
    rig.worker.run_all()
    rig.worker.collect()
    assert rig.modes.find("Orders", "g") == MODE
    assert rig.told == [None]
    assert Rig(rig.disk.power_cut()).modes.find("Orders", "g") == MODE


def test_the_same_mode_again_writes_nothing() -> None:
    rig = Rig()
    rig.put(MODE)
    rig.worker.run_all()
    rig.worker.collect()
    rig.put(MODE)
    assert rig.worker.pending() == 0
    assert rig.told == [None, None]


def test_the_file_of_apache_is_read_and_said_again() -> None:
    (packed,) = [one for one in files("clean") if one.path == PATH]
    disk = SimDisk()
    disk.make_directory("config")
    disk.replace(PATH, packed.content())
    rig = Rig(disk)
    assert rig.modes.find("FixPop", "fix-pop") == RequestMode("FixPop", "fix-pop", POP, 0)
    assert b'"mode":"POP","popShareQueueNum":0,"topic":"FixPop"' in rig.modes.body()


def test_a_file_that_says_nonsense_is_refused_by_name() -> None:
    disk = SimDisk()
    ConfigFile(disk, PATH).store({"messageRequestModeMap": {"T": {"g": {"mode": 7}}}})
    with pytest.raises(CorruptFile, match="messageRequestMode"):
        Rig(disk)


def test_the_modes_of_a_master_replace_all() -> None:
    rig = Rig()
    rig.put(RequestMode("Gone", "g", POP, 2))
    rig.worker.run_all()
    rig.worker.collect()
    rig.modes.take_over([MODE], rig.told.append)
    rig.worker.run_all()
    rig.worker.collect()
    assert rig.told == [None, None]
    for modes in (rig.modes, Rig(rig.disk.power_cut()).modes):
        assert modes.find("Orders", "g") == MODE
        assert modes.find("Gone", "g") is None
    writes = len(rig.disk.faults.calls)
    rig.modes.take_over([MODE], rig.told.append)
    rig.worker.run_all()
    assert (len(rig.disk.faults.calls), rig.told[-1]) == (writes, None)
