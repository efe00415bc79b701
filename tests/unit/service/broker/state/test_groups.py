from dataclasses import replace

import pytest

from aerobee.errors import CorruptFile, RemoteProtocolError
from aerobee.model.group import GroupConfig
from aerobee.model.topic import DataVersion
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.state.groups import SYSTEM_GROUPS_AT_START
from aerobee.service.broker.state.versioned_table import CopiedTable, VersionedRow
from aerobee.sim.disk import SimDisk
from tests.fixture_store import STORES, files
from tests.tables_kit import GROUPS_PATH, TablesKit

BILLING = GroupConfig("billing", retries_max=3)

# As 4.9 writes it: no forbidden table, no attributes, no policies.
OLD_FILE = (
    b'{"dataVersion":{"counter":3,"timestamp":50},"subscriptionGroupTable":{"old":{"brokerId":0,'
    b'"consumeBroadcastEnable":false,"consumeEnable":true,"consumeFromMinEnable":false,'
    b'"groupName":"old","notifyConsumerIdsChangedEnable":true,"retryMaxTimes":5,'
    b'"retryQueueNums":2,"whichBrokerWhenConsumeSlowly":1}}}'
)


def disk_with(content: bytes) -> SimDisk:
    disk = SimDisk()
    disk.replace(GROUPS_PATH, content)
    return disk


def put(kit: TablesKit, *configs: GroupConfig) -> None:
    kit.groups.put(configs, kit.clock.now(), kit.told.append)


def forbid(kit: TablesKit, group: str, topic: str, *, is_readable: bool = False) -> None:
    kit.groups.set_readable(
        group, topic, is_readable=is_readable, now=kit.clock.now(), done=kit.told.append
    )


# Administrators.


def test_a_group_is_not_seen_and_nobody_told_before_it_is_on_the_disk() -> None:
    kit = TablesKit()
    put(kit, BILLING)
    kit.worker.run_all()
    assert (kit.groups.find("billing"), kit.told) == (None, [])
    kit.worker.collect()
    assert (kit.groups.find("billing"), kit.told) == (BILLING, [None])
    assert TablesKit(kit.disk.power_cut()).groups.find("billing") == BILLING


def test_a_group_that_is_as_asked_for_makes_no_new_version() -> None:
    kit = TablesKit()
    put(kit, BILLING)
    kit.finish()
    version = kit.groups.version
    put(kit, replace(BILLING))
    assert (kit.worker.pending(), kit.groups.version) == (0, version)
    put(kit, replace(BILLING, is_enabled=False))
    kit.finish()
    assert kit.groups.version.counter == version.counter + 1


def test_a_group_was_removed_from_when_that_is_on_the_disk_until_it_is_made_again() -> None:
    kit = TablesKit()
    put(kit, BILLING)
    kit.finish()
    for is_by_consumer in (False, True):
        kit.groups.remove(["billing"], kit.clock.now(), kit.told.append)
        assert not kit.groups.was_removed("billing")
        kit.finish()
        assert kit.groups.was_removed("billing")
        if is_by_consumer:
            kit.groups.ensure("billing", kit.clock.now())
        else:
            put(kit, BILLING)
        kit.finish()
        assert not kit.groups.was_removed("billing")


def test_of_groups_that_were_removed_the_oldest_are_forgotten() -> None:
    kit = TablesKit(groups_max=20)
    for number in range(21):
        kit.groups.remove([f"g{number}"], kit.clock.now(), kit.told.append)
    kit.finish()
    assert [kit.groups.was_removed(f"g{number}") for number in (0, 1, 20)] == [False, True, True]


def test_a_removed_group_is_gone_with_what_it_was_forbidden() -> None:
    kit = TablesKit()
    put(kit, BILLING)
    forbid(kit, "billing", "Orders")
    forbid(kit, "other", "Orders")
    kit.groups.remove(["billing", "never"], kit.clock.now(), kit.told.append)
    kit.finish()
    assert kit.told == [None] * 4
    for left in (kit, TablesKit(kit.disk)):
        assert left.groups.find("billing") is None
        assert left.groups.forbidden == {"other": {"Orders": 4}}


# Made by their consumers.


def test_a_group_that_a_consumer_makes_is_there_at_once_and_saved_meanwhile() -> None:
    kit = TablesKit()
    made = kit.groups.ensure("g", kit.clock.now())
    assert made == GroupConfig("g")
    assert kit.groups.find("g") is made
    assert made in kit.groups.all()
    assert not kit.disk.exists(GROUPS_PATH)
    kit.finish()
    assert kit.groups.find("g") == made
    assert kit.groups.all().count(made) == 1
    assert TablesKit(kit.disk.power_cut()).groups.find("g") == made


def test_a_group_that_is_there_is_only_handed_out() -> None:
    kit = TablesKit()
    put(kit, BILLING)
    kit.finish()
    assert kit.groups.ensure("billing", kit.clock.now()) == BILLING
    kit.groups.ensure("g", kit.clock.now())
    kit.groups.ensure("g", kit.clock.now())
    assert kit.worker.pending() == 1


def test_an_administrators_change_holds_against_a_consumer_of_the_same_moment() -> None:
    kit = TablesKit()
    put(kit, GroupConfig("first"))
    put(kit, BILLING)
    kit.groups.ensure("billing", kit.clock.now())
    kit.finish()
    assert kit.groups.find("billing") == BILLING
    assert kit.groups.all().count(BILLING) == 1


def test_a_group_that_cannot_be_saved_goes_on_in_memory() -> None:
    kit = TablesKit()
    put(kit, BILLING)
    kit.finish()
    kit.disk.faults.fail_call(1)
    kit.groups.ensure("g", kit.clock.now())
    kit.finish()
    assert kit.groups.find("g") == GroupConfig("g")
    assert TablesKit(kit.disk).groups.find("g") is None
    put(kit, GroupConfig("g", retries_max=1))
    kit.finish()
    assert kit.groups.find("g") == GroupConfig("g", retries_max=1)
    kit.groups.remove(["g"], kit.clock.now(), kit.told.append)
    kit.finish()
    assert kit.groups.find("g") is None


def test_no_group_is_made_while_that_is_switched_off_but_the_systems() -> None:
    kit = TablesKit(config=BrokerConfig(creates_groups=False))
    assert kit.groups.ensure("g", kit.clock.now()) is None
    assert kit.groups.ensure("CID_RMQ_SYS_x", kit.clock.now()) is not None
    kit.change(autoCreateSubscriptionGroup="true")
    assert kit.groups.ensure("g", kit.clock.now()) is not None


@pytest.mark.parametrize("name", ["", "a b", "a/b", "g" * 121])
def test_no_group_is_made_of_a_bad_name(name: str) -> None:
    kit = TablesKit()
    assert kit.groups.ensure(name, kit.clock.now()) is None


def test_there_are_no_more_groups_than_there_may_be() -> None:
    kit = TablesKit(groups_max=len(SYSTEM_GROUPS_AT_START) + 1)
    assert kit.groups.ensure("a", kit.clock.now()) is not None
    assert kit.groups.ensure("b", kit.clock.now()) is None
    kit.finish()
    put(kit, BILLING)
    put(kit, replace(GroupConfig("a"), is_enabled=False))
    kit.finish()
    assert isinstance(kit.told[0], RemoteProtocolError)
    assert kit.told[1] is None
    assert kit.groups.find("billing") is None


# What is forbidden.


def test_a_topic_is_forbidden_to_one_group_and_allowed_again() -> None:
    kit = TablesKit()
    for group, topic in (("g", "A"), ("g", "B"), ("h", "A")):
        forbid(kit, group, topic)
    assert kit.groups.may_read("g", "A")
    kit.finish()
    assert not kit.groups.may_read("g", "A")
    assert kit.groups.may_read("h", "B")
    forbid(kit, "g", "A", is_readable=True)
    kit.finish()
    for left in (kit, TablesKit(kit.disk)):
        assert left.groups.may_read("g", "A")
        assert left.groups.forbidden == {"g": {"B": 4}, "h": {"A": 4}}
    version = kit.groups.version
    forbid(kit, "g", "B")
    kit.finish()
    assert kit.groups.version == version


def test_bits_of_something_else_stay() -> None:
    kit = TablesKit(disk_with(b'{"forbiddenTable":{"g":{"A":3}}}'))
    assert kit.groups.may_read("g", "A")
    forbid(kit, "g", "A")
    kit.finish()
    assert kit.groups.forbidden == {"g": {"A": 7}}
    forbid(kit, "g", "A", is_readable=True)
    kit.finish()
    assert kit.groups.forbidden == {"g": {"A": 3}}


# The file.


@pytest.mark.parametrize("name", STORES)
def test_apaches_groups_are_read_and_written_back_as_they_were(name: str) -> None:
    (content,) = (file.content() for file in files(name) if file.path == GROUPS_PATH)
    kit = TablesKit(disk_with(content))
    version = kit.groups.version
    assert kit.groups.find("fix-retry") == GroupConfig("fix-retry")
    put(kit, BILLING)
    kit.groups.remove(["billing"], kit.clock.now(), kit.told.append)
    kit.finish()
    counted = content.replace(
        f'"counter":{version.counter}'.encode(), f'"counter":{version.counter + 2}'.encode()
    ).replace(
        f'"timestamp":{version.timestamp}'.encode(),
        f'"timestamp":{kit.groups.version.timestamp}'.encode(),
    )
    assert kit.disk.read(GROUPS_PATH) == counted


def test_the_systems_groups_are_those_of_apache() -> None:
    (content,) = (file.content() for file in files("clean") if file.path == GROUPS_PATH)
    apaches = TablesKit(disk_with(content)).groups
    ours = TablesKit().groups.all()
    assert [config.name for config in ours] == list(SYSTEM_GROUPS_AT_START)
    assert all(apaches.find(config.name) == config for config in ours)


def test_a_file_of_4_9_is_read() -> None:
    kit = TablesKit(disk_with(OLD_FILE))
    assert kit.groups.find("old") == GroupConfig(
        "old", reads_from_min=False, may_broadcast=False, retry_queues=2, retries_max=5
    )
    assert kit.groups.forbidden == {}


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"forbiddenTable":[]}',
        b'{"forbiddenTable":{"g":{"A":"x"}}}',
        b'{"forbiddenTable":{"g":1}}',
        b'{"subscriptionGroupTable":{"g":{"retryQueueNums":{}}}}',
    ],
)
def test_a_file_that_cannot_be_believed_ends_the_start(content: bytes) -> None:
    with pytest.raises(CorruptFile, match=GROUPS_PATH):
        TablesKit(disk_with(content))


def test_the_groups_of_a_master_replace_all_but_system_groups() -> None:
    kit = TablesKit()
    now = kit.clock.now()
    kit.groups.put([GroupConfig("stays"), GroupConfig("gone")], now, kit.told.append)
    kit.groups.set_readable("gone", "T", is_readable=False, now=now, done=kit.told.append)
    kit.finish()
    kit.groups.remove(["new"], now, kit.told.append)
    kit.finish()
    rows = {name: VersionedRow(GroupConfig(name, retries_max=3)) for name in ("stays", "new")}
    copied = CopiedTable(DataVersion(0, 2, 5), rows)
    kit.groups.take_over(copied, {"new": {"U": 4}}, kit.told.append)
    kit.finish()
    assert kit.told[-1] is None
    for groups in (kit.groups, TablesKit(kit.disk.power_cut()).groups):
        assert groups.find("stays") == GroupConfig("stays", retries_max=3)
        assert groups.find("gone") is None
        assert groups.find("CID_RMQ_SYS_TRANS") is not None
        assert groups.forbidden == {"new": {"U": 4}}
    assert kit.groups.version == DataVersion(0, 2, 5)
    assert kit.groups.was_removed("gone")
    assert not kit.groups.was_removed("new")
    assert not kit.groups.was_removed("CID_RMQ_SYS_TRANS")


def test_a_group_that_its_consumer_made_meanwhile_stays() -> None:
    kit = TablesKit()
    kit.groups.take_over(CopiedTable(DataVersion(0, 2, 5), {}), {}, kit.told.append)
    kit.groups.ensure("mine", kit.clock.now())
    kit.finish()
    assert kit.groups.find("mine") is not None
    assert not kit.groups.was_removed("mine")
