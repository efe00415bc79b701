from dataclasses import replace

import pytest

from aerobee.errors import CorruptFile, RemoteProtocolError
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.state.topics import Find, system_topics
from aerobee.service.broker.state.versioned_table import CopiedTable, VersionedRow
from aerobee.sim.disk import SimDisk
from tests.fixture_store import STORES, expected, files
from tests.tables_kit import IDENTITY, TOPICS_PATH, TablesKit

ORDERS = TopicConfig("Orders", 4, 4)
BILLS = TopicConfig("Bills", 2, 2)

# As 4.9 writes it: no attributes, no state version.
OLD_FILE = (
    b'{"dataVersion":{"counter":3,"timestamp":50},"topicConfigTable":{"Old":{"order":false,'
    b'"perm":4,"readQueueNums":2,"topicFilterType":"SINGLE_TAG","topicName":"Old",'
    b'"topicSysFlag":0,"writeQueueNums":3}}}'
)


def disk_with(content: bytes) -> SimDisk:
    disk = SimDisk()
    disk.replace(TOPICS_PATH, content)
    return disk


def put(kit: TablesKit, *configs: TopicConfig) -> None:
    kit.topics.put(configs, kit.clock.now(), kit.told.append)


# Seen when saved.


def test_a_topic_is_not_seen_and_nobody_told_before_it_is_on_the_disk() -> None:
    kit = TablesKit()
    put(kit, ORDERS)
    kit.worker.run_all()
    assert kit.topics.find("Orders") is None
    assert b"Orders" not in kit.topics.entries
    assert (kit.told, kit.topics.take_changed()) == ([], [])
    kit.worker.collect()
    assert kit.told == [None]
    assert kit.topics.find("Orders") == ORDERS
    assert TablesKit(kit.disk.power_cut()).topics.find("Orders") == ORDERS


def test_what_cannot_be_saved_never_happened() -> None:
    kit = TablesKit()
    put(kit, ORDERS)
    kit.finish()
    version = kit.topics.version
    kit.disk.faults.fail_call(1)
    put(kit, TopicConfig("Bills"))
    kit.finish()
    assert isinstance(kit.told[-1], OSError)
    assert (kit.topics.find("Bills"), kit.topics.version) == (None, version)
    assert b"Bills" not in kit.topics.entries
    assert kit.topics.take_changed() == ["Orders"]


def test_many_topics_of_one_moment_are_one_write() -> None:
    kit = TablesKit()
    for number in range(50):
        put(kit, TopicConfig(f"T{number}"))
    kit.finish()
    assert kit.told == [None] * 50
    stores = [call for call in kit.disk.faults.calls if TOPICS_PATH in call.path]
    alone = TablesKit()
    put(alone, ORDERS)
    alone.finish()
    put(alone, TopicConfig("Bills"))
    alone.finish()
    assert len(stores) <= len([c for c in alone.disk.faults.calls if TOPICS_PATH in c.path])


def test_a_topic_that_is_as_asked_for_makes_no_new_version_and_no_write() -> None:
    kit = TablesKit()
    put(kit, ORDERS)
    kit.finish()
    kit.topics.take_changed()
    version = kit.topics.version
    put(kit, replace(ORDERS))
    assert kit.told == [None, None]
    assert (kit.worker.pending(), kit.topics.version) == (0, version)
    assert kit.topics.take_changed() == []


def test_every_change_is_a_new_version_of_its_time() -> None:
    kit = TablesKit()
    put(kit, ORDERS)
    kit.finish()
    first = kit.topics.version
    kit.clock.advance(1000)
    put(kit, replace(ORDERS, permission=4))
    kit.finish()
    assert kit.topics.version == DataVersion(0, first.counter + 1, kit.clock.now().wall_ms)
    assert TablesKit(kit.disk).topics.version == kit.topics.version


# Views.


def test_the_send_path_sees_the_same_topics_in_the_same_dict() -> None:
    kit = TablesKit()
    entries = kit.topics.entries
    assert set(entries) == {config.name.encode() for config in kit.topics.all()}
    put(kit, ORDERS)
    kit.finish()
    assert entries[b"Orders"].write_queues == 4
    put(kit, replace(ORDERS, write_queues=6))
    kit.finish()
    assert entries[b"Orders"].write_queues == 6
    kit.topics.remove(["Orders"], kit.clock.now(), kit.told.append)
    kit.finish()
    assert b"Orders" not in entries
    assert kit.topics.entries is entries


def test_the_fast_path_takes_nothing_while_the_broker_has_no_permission_to_write() -> None:
    kit = TablesKit()
    put(kit, ORDERS)
    kit.finish()
    entries = kit.topics.entries
    assert entries[b"Orders"].kinds != 0
    kit.change(brokerPermission="4")
    put(kit, BILLS)
    kit.finish()
    assert (entries[b"Orders"].kinds, entries[b"Bills"].kinds) == (0, 0)
    assert not kit.topics.takes_sends(ORDERS)
    kit.change(brokerPermission="6")
    assert entries[b"Orders"].kinds != 0
    assert entries[b"Bills"].kinds != 0
    assert kit.topics.takes_sends(ORDERS)


def test_what_changed_is_told_once_removals_included() -> None:
    kit = TablesKit()
    put(kit, ORDERS, TopicConfig("Bills"))
    kit.finish()
    assert kit.topics.take_changed() == ["Orders", "Bills"]
    kit.topics.remove(["Orders", "Never"], kit.clock.now(), kit.told.append)
    put(kit, replace(ORDERS, permission=2), TopicConfig("Bills"))
    kit.finish()
    assert kit.topics.take_changed() == ["Orders"]
    assert kit.topics.take_changed() == []


def test_adding_leaves_alone_what_somebody_made_meanwhile() -> None:
    kit = TablesKit()
    wide = TopicConfig("Orders", 8, 8)
    put(kit, TopicConfig("Bills"))
    put(kit, wide)
    kit.topics.add([ORDERS, TopicConfig("More", 1, 1)], kit.clock.now(), kit.told.append)
    kit.finish()
    assert kit.topics.find("Orders") == wide
    assert kit.topics.find("More") == TopicConfig("More", 1, 1)


def test_an_edit_sees_what_was_asked_for_before_it() -> None:
    kit = TablesKit()
    seen: list[TopicConfig | None] = []
    put(kit, TopicConfig("Bills"))
    put(kit, ORDERS)

    def look(find: Find) -> list[TopicConfig]:
        seen.append(find("Orders"))
        return []

    kit.topics.edit(look, kit.clock.now(), kit.told.append)
    kit.finish()
    assert seen == [ORDERS]


def test_there_are_no_more_topics_than_there_may_be() -> None:
    count = len(TablesKit().topics.all())
    kit = TablesKit(topics_max=count + 1)
    put(kit, ORDERS)
    put(kit, TopicConfig("Bills"))
    put(kit, replace(ORDERS, permission=4))
    kit.finish()
    assert isinstance(kit.told[1] or kit.told[2], RemoteProtocolError)
    assert kit.told.count(None) == 2
    assert kit.topics.find("Bills") is None
    assert kit.topics.find("Orders") == replace(ORDERS, permission=4)


# The file.


@pytest.mark.parametrize("name", STORES)
def test_apaches_topics_are_read_and_written_back_as_they_were(name: str) -> None:
    (content,) = (file.content() for file in files(name) if file.path == TOPICS_PATH)
    kit = TablesKit(disk_with(content))
    wanted = expected(name)["topics"]
    for topic, described in wanted.items():
        config = kit.topics.find(topic)
        assert config is not None
        assert config.read_queues == described["readQueueNums"]
        assert config.permission == described["perm"]
        assert config.attributes == described["attributes"]
    version = kit.topics.version
    put(kit, ORDERS)
    kit.topics.remove(["Orders"], kit.clock.now(), kit.told.append)
    kit.finish()
    counted = content.replace(
        f'"counter":{version.counter}'.encode(), f'"counter":{version.counter + 2}'.encode()
    ).replace(
        f'"timestamp":{version.timestamp}'.encode(),
        f'"timestamp":{kit.topics.version.timestamp}'.encode(),
    )
    assert kit.disk.read(TOPICS_PATH) == counted


def test_a_file_of_4_9_is_read() -> None:
    kit = TablesKit(disk_with(OLD_FILE))
    assert kit.topics.find("Old") == TopicConfig("Old", 2, 3, 4)
    assert kit.topics.version.counter == 4  # the system's topics came to it


def test_a_file_that_cannot_be_believed_ends_the_start() -> None:
    with pytest.raises(CorruptFile):
        TablesKit(disk_with(b"{"))


def test_a_backup_that_had_to_do_is_said() -> None:
    disk = disk_with(b"{")
    disk.replace(TOPICS_PATH + ".bak", OLD_FILE)
    kit = TablesKit(disk)
    assert kit.topics.find("Old") is not None
    assert "backup was used" in kit.topics.fault
    assert TablesKit().topics.fault == ""


# The system's.


def test_the_systems_topics_are_those_of_apache() -> None:
    (content,) = (file.content() for file in files("clean") if file.path == TOPICS_PATH)
    apaches = TablesKit(disk_with(content)).topics
    for config in TablesKit().topics.all():
        assert apaches.find(config.name) == config
    assert len(TablesKit().topics.all()) == len(system_topics(IDENTITY)) + 1


def test_the_systems_topics_are_seen_but_written_only_with_a_change() -> None:
    kit = TablesKit()
    assert kit.topics.find("SCHEDULE_TOPIC_XXXX") == TopicConfig("SCHEDULE_TOPIC_XXXX", 18, 18)
    assert not kit.disk.exists(TOPICS_PATH)
    assert kit.topics.take_changed() == []


def test_queues_of_a_system_topic_that_the_file_has_stay() -> None:
    kit = TablesKit()
    put(kit, TopicConfig("SCHEDULE_TOPIC_XXXX", 20, 20))
    kit.finish()
    found = TablesKit(kit.disk).topics.find("SCHEDULE_TOPIC_XXXX")
    assert found == TopicConfig("SCHEDULE_TOPIC_XXXX", 20, 20)


def test_the_template_is_as_configured_whatever_the_file_says() -> None:
    kit = TablesKit()
    put(kit, ORDERS)
    kit.finish()
    wide = TablesKit(kit.disk, BrokerConfig(default_queues=32))
    assert wide.topics.find("TBW102") == TopicConfig("TBW102", 32, 32, 7)
    assert wide.topics.version != kit.topics.version
    off = TablesKit(kit.disk, BrokerConfig(creates_topics=False))
    assert off.topics.find("TBW102") is None


def test_the_trace_topic_is_there_where_it_is_wanted() -> None:
    assert TablesKit().topics.find("RMQ_SYS_TRACE_TOPIC") is None
    kit = TablesKit(config=BrokerConfig(has_trace_topic=True))
    assert kit.topics.find("RMQ_SYS_TRACE_TOPIC") == TopicConfig("RMQ_SYS_TRACE_TOPIC", 1, 1)


# Topics made by a first send.


def test_a_first_send_makes_as_many_queues_as_asked_for_up_to_the_templates() -> None:
    topics = TablesKit().topics
    assert topics.from_template("New", "TBW102", 4) == TopicConfig("New", 4, 4, 6)
    assert topics.from_template("New", "TBW102", 1 << 30) == TopicConfig("New", 8, 8, 6)
    assert topics.from_template("New", "TBW102", -1) == TopicConfig("New", 0, 0, 6)
    assert topics.from_template("New", "TBW102", 4, 1) == TopicConfig("New", 4, 4, 6, 1)
    assert topics.find("New") is None


def test_the_queues_of_a_topic_are_those_it_has_or_would_be_made_with() -> None:
    kit = TablesKit()
    put(kit, TopicConfig("Orders", 4, 3))
    kit.finish()
    assert (kit.topics.queues_of("Orders"), kit.topics.queues_of("New")) == (3, 8)


def test_any_topic_that_may_be_inherited_is_a_template() -> None:
    kit = TablesKit()
    put(kit, TopicConfig("Plain", 4, 4, 6), TopicConfig("Mother", 4, 4, 5, filter_type="MULTI_TAG"))
    kit.finish()
    assert kit.topics.from_template("New", "Plain", 4) is None
    assert kit.topics.from_template("New", "Never", 4) is None
    assert kit.topics.from_template("New", "Mother", 4) == TopicConfig(
        "New", 4, 4, 4, filter_type="MULTI_TAG"
    )


def test_no_topic_is_made_while_that_is_switched_off_or_of_a_bad_name() -> None:
    kit = TablesKit()
    assert kit.topics.from_template("a/b", "TBW102", 4) is None
    kit.change(autoCreateTopicEnable="false")
    assert kit.topics.from_template("New", "TBW102", 4) is None
    assert kit.topics.from_template("New", "DefaultCluster", 4) is not None
    kit.change(autoCreateTopicEnable="true")
    assert kit.topics.from_template("New", "TBW102", 4) is not None


# Topics of a master.


def copied(version: DataVersion, *configs: TopicConfig) -> CopiedTable[TopicConfig]:
    return CopiedTable(version, {config.name: VersionedRow(config) for config in configs})


def test_the_topics_of_a_master_replace_all_but_system_topics() -> None:
    kit = TablesKit()
    put(kit, ORDERS, TopicConfig("Gone"))
    kit.finish()
    kit.topics.take_changed()
    version = DataVersion(0, 2, 5)
    kit.topics.take_over(copied(version, TopicConfig("Orders", 9, 9), BILLS), kit.told.append)
    assert kit.topics.find("Bills") is None, "not before it is on the disk"
    kit.finish()
    assert kit.told[-1] is None
    for topics in (kit.topics, TablesKit(kit.disk.power_cut()).topics):
        assert topics.find("Orders") == TopicConfig("Orders", 9, 9)
        assert topics.find("Bills") == BILLS
        assert topics.find("Gone") is None
        assert topics.find("SCHEDULE_TOPIC_XXXX") is not None
    assert kit.topics.version == version
    assert kit.topics.entries[b"Orders"].write_queues == 9
    assert b"Gone" not in kit.topics.entries
    assert {"Orders", "Bills", "Gone"} <= set(kit.topics.take_changed())


def test_topics_of_a_master_that_cannot_be_saved_are_not_taken_over() -> None:
    kit = TablesKit()
    kit.disk.faults.fail_sync(f"{TOPICS_PATH}*")
    version = kit.topics.version
    kit.topics.take_over(copied(DataVersion(0, 2, 5), BILLS), kit.told.append)
    kit.finish()
    assert isinstance(kit.told[-1], OSError)
    assert (kit.topics.version, kit.topics.find("Bills")) == (version, None)
