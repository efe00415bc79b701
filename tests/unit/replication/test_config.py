import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from aerobee.model.broker_role import BrokerRole
from aerobee.model.setting import changed, texts
from aerobee.replication.config import SETTINGS, ReplicationConfig, Severity, contradictions


def test_every_field_has_a_setting_and_every_setting_a_field() -> None:
    assert [setting.field for setting in SETTINGS] == [
        field.name for field in fields(ReplicationConfig)
    ]


def test_every_setting_reads_back_what_it_writes() -> None:
    config = ReplicationConfig(role=BrokerRole.SLAVE, master_ha_address="[::1]:10912")
    for setting in SETTINGS:
        value = getattr(config, setting.field)
        assert setting.kind.read(setting.kind.write(value)) == value


def test_the_defaults_are_rocketmqs_but_for_larger_packets() -> None:
    told = texts(ReplicationConfig(), SETTINGS)
    assert told["haTransferBatchSize"] == "1048576"
    assert {key: told[key] for key in ("brokerRole", "haMasterAddress", "inSyncReplicas")} == {
        "brokerRole": "ASYNC_MASTER",
        "haMasterAddress": "",
        "inSyncReplicas": "1",
    }
    assert told["haSendHeartbeatInterval"] == "5000"
    assert told["haHousekeepingInterval"] == "20000"
    assert told["haMaxGapNotInSync"] == "268435456"
    assert told["maxHaTransferByteInSecond"] == "104857600"
    assert told["slaveTimeout"] == "3000"
    assert told["accessMessageInMemoryMaxRatio"] == "40"


@pytest.mark.parametrize("text", ["10.0.0.7", ":10912", "host:", "host:0", "host:70000", "host:x"])
def test_an_address_without_host_or_port_is_refused(text: str) -> None:
    kind = next(s.kind for s in SETTINGS if s.key == "haMasterAddress")
    with pytest.raises(ValueError, match=r"10\.0\.0\.7:10912"):
        kind.read(text)


def test_a_role_is_read_whatever_its_case_and_never_changed_live() -> None:
    kind = next(s.kind for s in SETTINGS if s.key == "brokerRole")
    assert kind.read("sync_master") is BrokerRole.SYNC_MASTER
    with pytest.raises(ValueError, match="ASYNC_MASTER or SYNC_MASTER or SLAVE"):
        kind.read("leader")
    with pytest.raises(ValueError, match="cannot be changed"):
        changed(ReplicationConfig(), SETTINGS, {"brokerRole": "SLAVE"})


SYNC: dict[str, Any] = {"role": BrokerRole.SYNC_MASTER, "in_sync_replicas": 2}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        SYNC,
        {**SYNC, "total_replicas": 2},
        {**SYNC, "total_replicas": 3, "adapts_in_sync": True, "in_sync_replicas_min": 2},
        {"role": BrokerRole.SLAVE, "master_ha_address": "a:1"},
        {"role": BrokerRole.SLAVE, "in_sync_replicas": 2},
        {"role": BrokerRole.SLAVE, "serves_reads": True, "acts_as_master": True},
    ],
)
def test_settings_that_fit_together_are_not_complained_about(settings: dict[str, Any]) -> None:
    assert contradictions(ReplicationConfig(**settings)) == []


def test_a_master_with_acting_slaves_returns_isolated_unless_that_is_switched_off() -> None:
    acts = ReplicationConfig(acts_as_master=True, total_replicas=2)
    assert acts.returns_isolated
    changes: list[dict[str, Any]] = [
        {"acts_as_master": False},
        {"total_replicas": 1},
        {"skips_pre_online": True},
        {"role": BrokerRole.SLAVE},
    ]
    for change in changes:
        assert not replace(acts, **change).returns_isolated


@pytest.mark.parametrize(
    ("settings", "severity", "words"),
    [
        ({"role": BrokerRole.SYNC_MASTER}, Severity.WARNING, "write inSyncReplicas=2"),
        ({"in_sync_replicas": 2}, Severity.WARNING, "write brokerRole=SYNC_MASTER"),
        (
            {**SYNC, "in_sync_replicas": 3, "total_replicas": 2},
            Severity.ERROR,
            "write totalReplicas=3 or inSyncReplicas=2",
        ),
        ({**SYNC, "in_sync_replicas_min": 3}, Severity.ERROR, "write minInSyncReplicas=2"),
        ({**SYNC, "in_sync_replicas_min": 2}, Severity.WARNING, "enableAutoInSyncReplicas=true"),
        ({**SYNC, "adapts_in_sync": True}, Severity.WARNING, "write minInSyncReplicas=2"),
        ({"master_ha_address": "a:1"}, Severity.WARNING, "write brokerRole=SLAVE"),
        (
            {"role": BrokerRole.SLAVE, "acts_as_master": True, "serves_reads": False},
            Severity.WARNING,
            "write slaveReadEnable=true",
        ),
        ({"escapes_remotely": True}, Severity.WARNING, "enableSlaveActingMaster=true"),
        (
            {"role": BrokerRole.SLAVE, "escapes_remotely": True},
            Severity.WARNING,
            "enableSlaveActingMaster=true",
        ),
        ({"acts_as_master": True}, Severity.WARNING, "write totalReplicas=2"),
        (
            {"role": BrokerRole.SLAVE, "acts_as_master": True, "broker_silence_ms_max": 1_999},
            Severity.ERROR,
            "write brokerNotActiveTimeoutMillis=10000",
        ),
        ({"silence_ms_max": 9_999}, Severity.ERROR, "write haHousekeepingInterval=20000"),
    ],
)
def test_a_contradiction_is_named_with_what_to_write_instead(
    settings: dict[str, Any], severity: Severity, words: str
) -> None:
    (found,) = contradictions(ReplicationConfig(**settings))
    assert found.severity is severity
    assert words in found.text


def test_the_page_about_replication_says_every_key_with_its_default() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "replication.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.MULTILINE))
    told = texts(ReplicationConfig(), SETTINGS)
    for setting in SETTINGS:
        if setting.key not in ("brokerRole", "haMasterAddress"):
            assert rows[setting.key] == told[setting.key], setting.key
        assert f"`{setting.key}`" in page
