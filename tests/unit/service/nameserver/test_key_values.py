import pytest

from aerobee.errors import CorruptFile
from aerobee.service.nameserver.key_values import KeyValueLimits, KeyValues
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "namesrv/kvConfig.json"


class Kept:
    def __init__(self, disk: SimDisk | None = None, limits: KeyValueLimits | None = None) -> None:
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        self.told: list[BaseException | None] = []
        file = ConfigFile(self.disk, PATH, is_pretty=False)
        self.values = KeyValues(file, self.worker, limits or KeyValueLimits())

    def put(self, namespace: str, key: str, value: str) -> None:
        self.values.put(namespace, key, value, self.told.append)

    def finish(self) -> None:
        while self.worker.run_all() + self.worker.collect():
            pass


def test_the_file_is_rocketmqs_and_is_read_again() -> None:
    kept = Kept()
    kept.put("ORDER_TOPIC_CONFIG", "Orders", "broker-a:4")
    kept.finish()
    assert kept.told == [None]
    assert kept.disk.read(PATH) == (
        b'{"configTable":{"ORDER_TOPIC_CONFIG":{"Orders":"broker-a:4"}}}'
    )
    again = Kept(kept.disk)
    assert again.values.find("ORDER_TOPIC_CONFIG", "Orders") == "broker-a:4"
    assert again.values.fault == ""


def test_a_value_is_not_seen_before_it_is_on_the_disk() -> None:
    kept = Kept()
    kept.put("n", "k", "v")
    assert kept.values.find("n", "k") is None
    kept.finish()
    assert kept.values.find("n", "k") == "v"
    assert kept.disk.power_cut().read(PATH) == b'{"configTable":{"n":{"k":"v"}}}'


def test_a_deleted_value_is_gone_and_its_namespace_stays() -> None:
    kept = Kept()
    kept.put("n", "k", "v")
    kept.values.delete("n", "k", kept.told.append)
    kept.values.delete("n", "never", kept.told.append)
    kept.values.delete("never", "k", kept.told.append)
    kept.finish()
    assert kept.told == [None] * 4
    assert kept.values.find("n", "k") is None
    assert kept.values.find_namespace("n") == {}
    assert kept.values.find_namespace("never") is None
    assert kept.disk.read(PATH) == b'{"configTable":{"n":{}}}'


def test_a_value_that_is_there_already_is_not_written_again() -> None:
    kept = Kept()
    kept.put("n", "k", "v")
    kept.finish()
    kept.put("n", "k", "v")
    assert kept.told == [None, None]
    assert kept.worker.pending() == 0


def test_what_is_over_a_limit_is_refused() -> None:
    kept = Kept(limits=KeyValueLimits(entries_max=3, chars_max=10))
    kept.put("n", "a", "12345678")
    kept.put("n", "b", "x")
    kept.put("n", "a", "1")
    kept.put("n", "b", "x")
    kept.put("n", "c", "x")
    kept.put("m", "c", "x")
    kept.finish()
    assert [str(error) for error in kept.told if error is not None] == [
        "more than 10 characters of key-values",
        "more than 3 key-values",
        "more than 3 key-values",
    ]
    assert kept.values.find_namespace("n") == {"a": "1", "b": "x"}


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"configTable":[]}', b'{"configTable":{"n":{"k":1}}}']
)
def test_a_file_that_cannot_be_believed_is_an_error_that_names_it(content: bytes) -> None:
    disk = SimDisk()
    disk.replace(PATH, content)
    with pytest.raises(CorruptFile, match=PATH):
        Kept(disk)


def test_a_file_that_cannot_be_read_is_replaced_by_its_backup_and_that_is_said() -> None:
    disk = SimDisk()
    disk.replace(PATH, b"{")
    disk.replace(PATH + ".bak", b'{"configTable":{"n":{"k":"v"}}}')
    kept = Kept(disk)
    assert kept.values.find("n", "k") == "v"
    assert "backup was used" in kept.values.fault
