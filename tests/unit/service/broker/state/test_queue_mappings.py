from dataclasses import replace

import pytest

from aerobee.errors import CorruptFile, RemoteProtocolError
from aerobee.model.queue_mapping import UNDECIDED, MappingItem, TopicMapping
from aerobee.model.topic import TopicConfig
from aerobee.service.broker.state.queue_mappings import QueueMappings
from aerobee.service.broker.state.versioned_table import CopiedTable, VersionedRow
from aerobee.storage.metadata.config_file import ConfigFile
from tests.tables_kit import MAPPINGS_PATH, TablesKit

MAPPING = TopicMapping("T", "broker-a", 5, 2, {0: (MappingItem(0, 0, "broker-a", 0),)})


def put(kit: TablesKit, mapping: TopicMapping, *, is_forced: bool = False) -> BaseException | None:
    kit.mappings.put(mapping, kit.clock.now(), kit.told.append, is_forced=is_forced)
    kit.finish()
    return kit.told[-1]


def test_a_mapping_is_there_once_it_is_on_the_disk_and_after_a_start() -> None:
    kit = TablesKit()
    kit.mappings.put(MAPPING, kit.clock.now(), kit.told.append)
    assert not kit.mappings.has("T")
    kit.finish()
    assert (kit.told, kit.mappings.find("T")) == ([None], MAPPING)
    assert b'"topicQueueMappingInfoMap"' in kit.disk.read(MAPPINGS_PATH)
    again = TablesKit(kit.disk)
    assert again.mappings.all() == [MAPPING]
    assert again.mappings.version == kit.mappings.version
    assert again.topics.mappings.has("T")


def test_an_older_mapping_is_refused_unless_it_is_forced() -> None:
    kit = TablesKit()
    assert put(kit, MAPPING) is None
    older = replace(MAPPING, epoch=4, hosted={1: (MappingItem(0, 1, "broker-a", 0),)})
    error = put(kit, older)
    assert isinstance(error, RemoteProtocolError)
    assert "small epoch 4 < 5" in str(error)
    assert kit.mappings.find("T") == MAPPING
    assert put(kit, older, is_forced=True) is None
    kept = kit.mappings.find("T")
    assert kept is not None
    assert (kept.epoch, set(kept.hosted)) == (4, {0, 1})


def test_of_two_changes_at_once_the_older_one_is_compared_with_the_newer() -> None:
    kit = TablesKit()
    newer = replace(MAPPING, epoch=9)
    kit.mappings.put(newer, kit.clock.now(), kit.told.append)
    kit.mappings.put(MAPPING, kit.clock.now(), kit.told.append)
    kit.finish()
    assert kit.mappings.find("T") == newer
    assert [error for error in kit.told if error is not None]


def test_a_topic_with_a_mapping_has_no_fast_path() -> None:
    kit = TablesKit()
    kit.topics.put([TopicConfig("T", 2, 2)], kit.clock.now(), kit.told.append)
    kit.finish()
    assert b"T" in kit.topics.entries
    kit.topics.take_changed()
    put(kit, MAPPING)
    assert b"T" not in kit.topics.entries
    assert kit.topics.take_changed() == ["T"]
    kit.topics.put([TopicConfig("T", 3, 3)], kit.clock.now(), kit.told.append)
    kit.finish()
    assert b"T" not in kit.topics.entries
    assert b"T" not in TablesKit(kit.disk).topics.entries
    kit.mappings.remove(["T"], kit.clock.now(), kit.told.append)
    kit.finish()
    assert b"T" in kit.topics.entries


def test_a_slave_has_its_masters_mappings_and_no_others() -> None:
    kit = TablesKit()
    put(kit, replace(MAPPING, topic="Gone"))
    version = kit.mappings.version.next(7)
    copied = CopiedTable(version, {"T": VersionedRow(MAPPING)})
    kit.mappings.take_over(copied, kit.told.append)
    kit.finish()
    assert kit.mappings.all() == [MAPPING]
    assert kit.mappings.version == version


def test_apaches_file_is_read_and_a_damaged_one_is_noticed() -> None:
    kit = TablesKit()
    kit.disk.replace(
        MAPPINGS_PATH,
        b'{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":5},"topicQueueMappingInfoMap":'
        b'{"T":{"bname":"broker-a","currIdMap":{},"dirty":false,"epoch":5,"hostedQueues":{0:[{'
        b'"bname":"broker-a","endOffset":-1,"gen":0,"logicOffset":-1,"queueId":0,"startOffset":0,'
        b'"timeOfEnd":-1,"timeOfStart":-1}]},"scope":"__global__","topic":"T","totalQueues":2}}}',
    )
    again = TablesKit(kit.disk)
    undecided = (MappingItem(0, 0, "broker-a", UNDECIDED),)
    assert again.mappings.find("T") == replace(MAPPING, hosted={0: undecided})
    kit.disk.replace(MAPPINGS_PATH, b'{"topicQueueMappingInfoMap":{"T":{"hostedQueues":7}}}')
    with pytest.raises(CorruptFile):
        QueueMappings(ConfigFile(kit.disk, MAPPINGS_PATH), kit.worker, 0)


def test_a_disk_that_fails_changes_nothing() -> None:
    kit = TablesKit()
    put(kit, MAPPING)
    kit.disk.faults.fail_call(1)
    assert isinstance(put(kit, replace(MAPPING, epoch=6)), OSError)
    assert kit.mappings.find("T") == MAPPING


def test_only_the_oldest_item_of_the_generation_that_was_seen_is_dropped() -> None:
    kit = TablesKit()
    old, led = MappingItem(0, 0, "broker-b", 0), MappingItem(1, 0, "broker-a", 10_000)
    elsewhere = (MappingItem(0, 1, "broker-a", 0), MappingItem(1, 0, "broker-b", 10_000))
    mapping = replace(MAPPING, hosted={0: (old, led), 1: elsewhere})
    assert put(kit, mapping) is None
    for number, gen in ((0, 1), (1, 0), (7, 0)):
        kit.mappings.drop_oldest("T", number, gen, kit.clock.now())
    kit.mappings.drop_oldest("unknown", 0, 0, kit.clock.now())
    kit.finish()
    assert kit.mappings.find("T") == mapping
    for _ in range(2):  # the second finds another one
        kit.mappings.drop_oldest("T", 0, 0, kit.clock.now())
    kit.mappings.drop_oldest("T", 0, 1, kit.clock.now())  # the last one stays
    kit.finish()
    assert kit.mappings.find("T") == replace(mapping, hosted={0: (led,), 1: elsewhere})
