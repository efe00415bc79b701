import logging

import pytest

from aerobee.errors import CorruptFile
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.state.tables import Ground, Tables, open_tables
from aerobee.service.live_config import ChangesFile, LiveConfig
from tests.store_kit import ROOT, StoreKit, draft
from tests.tables_kit import IDENTITY


def opened(kit: StoreKit) -> Tables:
    ground = Ground(kit.store, kit.disk, kit.worker)
    config = LiveConfig(
        BrokerConfig(), SETTINGS, ChangesFile(kit.disk, "changes", {}), kit.worker, {}
    )
    return open_tables(IDENTITY, config, ground, kit.clock.now())


def test_files_lie_in_the_config_folder_of_the_store() -> None:
    kit = StoreKit()
    ground = Ground(kit.store, kit.disk, kit.worker)
    assert ground.config_file("topics.json").path == "store/config/topics.json"


def test_a_new_broker_has_the_systems_topics_and_groups_and_nobody_is_connected() -> None:
    tables = opened(StoreKit())
    assert tables.topics.find("TBW102") is not None
    assert tables.groups.find("TOOLS_CONSUMER") is not None
    assert tables.consumers.find("TOOLS_CONSUMER") is None


def test_offsets_are_loaded_and_none_is_beyond_its_queue() -> None:
    kit = StoreKit()
    for _ in range(3):
        kit.append(draft())
    kit.store.dispatch()
    kit.disk.make_directory(f"{ROOT}/config")
    kit.disk.replace(
        f"{ROOT}/config/consumerOffset.json",
        b'{"offsetTable":{"Orders@g":{0:2,1:5},"Orders@h":{0:7}}}',
    )
    offsets = opened(kit).offsets
    assert offsets.find("g", "Orders", 0) == 2
    assert offsets.find("h", "Orders", 0) == 3
    assert offsets.find("g", "Orders", 1) <= 0


def test_a_backup_that_had_to_do_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    kit = StoreKit()
    kit.disk.make_directory(f"{ROOT}/config")
    path = f"{ROOT}/config/consumerOffset.json"
    kit.disk.replace(path, b"half of")
    kit.disk.replace(f"{path}.bak", b'{"offsetTable":{}}')
    with caplog.at_level(logging.WARNING):
        opened(kit)
    assert "consumerOffset.json" in caplog.text


def test_a_file_without_a_backup_that_cannot_be_believed_is_an_error() -> None:
    kit = StoreKit()
    kit.disk.make_directory(f"{ROOT}/config")
    kit.disk.replace(f"{ROOT}/config/topics.json", b"[]")
    with pytest.raises(CorruptFile):
        opened(kit)
