from dataclasses import replace

import pytest

from aerobee.errors import CorruptFile
from aerobee.model.access import Credentials
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_store import AccessStore, seeded
from aerobee.service.access.access_table import AccessRefused, AccessTable
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile
from tests.access_kit import ACCESS

PATH = "config/access.json"


class StoreRig:
    def __init__(self, disk: SimDisk | None = None, key: bytes = ACCESS.key) -> None:
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        config = replace(ACCESS, key=key)
        self.store = AccessStore(config, ConfigFile(self.disk, PATH), self.worker)
        self.heard: list[BaseException | None] = []

    def add(self, name: str) -> None:
        user = UserChange(name, "hidden")
        self.store.change(lambda table: table.with_user(user, None), self.heard.append)

    def work(self) -> None:
        self.worker.run_all()
        self.worker.collect()


def test_the_users_of_the_settings_are_there_from_the_start() -> None:
    users = StoreRig().store.accounts.table.users
    assert {name: user.kind for name, user in users.items()} == {"root": "Super", "inner": "Super"}


def test_a_user_of_the_settings_who_was_changed_stays_changed() -> None:
    changed = AccessTable().with_user(UserChange("root", "another"), None)
    assert seeded(changed, ACCESS).users["root"] == changed.users["root"]


def test_a_change_holds_when_it_is_on_the_disk() -> None:
    rig = StoreRig()
    rig.add("alice")
    assert rig.store.accounts.find("alice") is None
    rig.work()
    assert rig.heard == [None]
    assert rig.store.accounts.find("alice") is not None
    again = StoreRig(rig.disk.power_cut())
    found = again.store.accounts.find("alice")
    assert found is not None
    assert found.user.password == "hidden"


def test_no_secret_is_on_the_disk() -> None:
    rig = StoreRig()
    rig.add("alice")
    rig.work()
    assert b"hidden" not in rig.disk.read(PATH)
    assert b"root-secret" not in rig.disk.read(PATH)


def test_a_refused_change_leaves_all_as_it_was() -> None:
    rig = StoreRig()
    rig.add("root")
    rig.work()
    assert isinstance(rig.heard[0], AccessRefused)
    assert rig.store.accounts.epoch == 0


def test_a_file_of_another_key_stops_the_start() -> None:
    rig = StoreRig()
    rig.add("alice")
    rig.work()
    with pytest.raises(CorruptFile, match="key file"):
        StoreRig(rig.disk, key=b"j" * 32)


def test_a_slave_has_its_masters_table() -> None:
    master, slave = StoreRig(), StoreRig()
    master.add("alice")
    master.work()
    table = master.store.accounts.table
    slave.store.take_over(table, slave.heard.append)
    slave.work()
    assert slave.store.accounts.table == table
    epoch = slave.store.accounts.epoch
    slave.store.take_over(replace(table), slave.heard.append)
    slave.work()
    assert slave.store.accounts.epoch == epoch


def test_the_same_user_may_be_both() -> None:
    both = Credentials("one", "secret")
    table = seeded(AccessTable(), replace(ACCESS, init_user=both, inner=both))
    assert list(table.users) == ["one"]
