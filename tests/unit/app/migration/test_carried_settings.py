from pathlib import Path

from aerobee.app.migration.carried_settings import (
    CARRIED,
    NewPlace,
    carried_settings,
    config_text,
    missing_features,
)
from aerobee.app.settings.broker_settings import ALL_SETTINGS, read_settings
from aerobee.app.settings.config import ListenConfig


def test_every_carried_setting_is_one_of_a_broker() -> None:
    assert set(CARRIED) <= {setting.key for setting in ALL_SETTINGS}


def test_settings_of_applications_are_carried_and_those_of_the_machine_are_not() -> None:
    theirs = {
        "maxMessageSize": "1048576",
        "sendMessageThreadPoolNums": "16",
        "brokerPermission": "4",
        "inSyncReplicas": "2",
    }
    assert carried_settings(theirs) == ({"maxMessageSize": "1048576"}, {})


def test_a_value_that_is_not_possible_here_is_named_with_its_reason() -> None:
    carried, refused = carried_settings({"maxMessageSize": "-1", "fileReservedTime": "48"})
    assert carried == {"fileReservedTime": "48"}
    assert "'-1' is not possible here: it must be a whole number" in refused["maxMessageSize"]


def test_features_that_are_missing_here_are_found_by_their_settings() -> None:
    theirs = {"storeType": "defaultRocksDB", "aclEnable": "true", "useTLS": "false"}
    assert set(missing_features(theirs)) == {"storeType", "aclEnable"}
    assert missing_features({"storeType": "default", "enableControllerMode": "false"}) == {}


def test_the_file_starts_a_broker_with_the_same_names(tmp_path: Path) -> None:
    place = NewPlace(str(tmp_path), "0.0.0.0", 20911, "10.0.0.2")
    names = {"brokerName": "broker-a", "namesrvAddr": "10.0.0.9:9876"}
    role = {"brokerRole": "SLAVE", "brokerId": "2"}
    text = config_text(names, {"mappedFileSizeCommitLog": "65536"}, place, role)
    Path(place.config_path).write_text(text)
    settings = read_settings(place.config_path, {}, [])
    assert (settings.names.name, settings.broker_id, settings.names.host) == (
        "broker-a",
        2,
        "10.0.0.2",
    )
    assert settings.listen == ListenConfig(20911, "0.0.0.0", is_insecure=True)
    assert "insecure" not in config_text(names, {}, NewPlace(str(tmp_path)), role)
    assert (settings.storage.log_file_bytes, settings.paths.root) == (65536, str(tmp_path))
