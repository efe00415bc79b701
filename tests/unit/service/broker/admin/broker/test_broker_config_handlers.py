import json
from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.text.java_properties import parse_properties
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import STORAGE, BrokerKit
from tests.captured import captured
from tests.store_kit import draft

ORDERS = TopicConfig("Orders", 4, 4)
HOUR_MS = 3_600_000
STORAGE_OF_DAYS = replace(STORAGE, log_file_bytes=4096, retention_ms=72 * HOUR_MS)


def settings(kit: BrokerKit) -> dict[str, str]:
    text = bytes(kit.ask(26).body).decode()
    return {key: value for _, key, value in parse_properties(text)}


def test_the_configuration_is_shown_under_rocketmqs_names() -> None:
    kit = BrokerKit(config=BrokerConfig(permission=4, region="Moon"))
    found = settings(kit)
    assert (found["brokerPermission"], found["regionId"]) == ("4", "Moon")
    version = json.loads(kit.ask(26).ext_fields["version"])
    assert version["timestamp"] == kit.clock.now().wall_ms


def test_apache_has_every_setting_that_is_shown_and_most_have_its_default() -> None:
    (recorded, *_) = captured("GET_BROKER_CONFIG", "response")
    apaches = {
        key: value for _, key, value in parse_properties(bytes(recorded.body).decode("utf-8"))
    }
    ours = settings(BrokerKit())
    # One that its proxy has, and ours: of timers, of chaos, and limits of users, addresses, groups.
    limits = ("user", "address", "group")
    more = {key for key in ours.keys() - apaches.keys() if not key.startswith(limits)}
    assert more <= {"enableTopicMessageTypeCheck", "timerWheelSlots", "testCluster"}
    differ = {key for key, value in ours.items() if apaches.get(key, value) != value}
    # The recording's own settings, and one whose default is ours: a pull may bring more.
    own = {"traceTopicEnable", "enablePropertyFilter", "recallMessageEnable"}
    own.add("mappedFileSizeTimerLog")  # the kit's: its disk is slow with large files
    assert differ <= own | {"transactionCheckInterval", "maxTransferCountOnMessageInMemory"}


def test_a_setting_is_changed_once_it_is_on_the_disk_and_stays() -> None:
    kit = BrokerKit(ORDERS)
    kit.tell(25, body=b"brokerPermission=2\n")
    assert kit.heard() == []
    assert not kit.disk.exists("store/config/broker.properties")
    kit.finish()
    assert [answer.code for answer in kit.heard()] == [0]
    assert settings(kit)["brokerPermission"] == "2"
    assert kit.pull().code == 16
    assert b"brokerPermission=2" in kit.disk.power_cut().read("store/config/broker.properties")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"brokerPermission=9\n", 1),
        (b"brokerPermission=x\n", 1),
        (b"regionId=Moon\n", 16),
        (b"traceOn=false\n", 16),  # said in every answer, which is made once
        (b"storeReplyMessageEnable=false\n", 16),
        (b"storePathRootDir=/\n", 16),
        (b"brokerPermission=2\nlistenPort=1\n", 16),
        (b"\\u00zz=1\n", 1),
    ],
)
def test_what_may_not_be_changed_is_refused_and_changes_nothing(text: bytes, code: int) -> None:
    kit = BrokerKit()
    before = settings(kit)
    answer = kit.ask(25, body=text)
    assert answer.code == code
    assert answer.remark
    assert settings(kit) == before


def test_every_key_that_is_refused_is_named_with_its_reason() -> None:
    answer = BrokerKit().ask(
        25, body=b"brokerPermission=9\nstorePathRootDir=/\nregionId=Moon\nfileReservedTime=0\n"
    )
    assert answer.code == 16
    for fault in (
        "storePathRootDir cannot be changed by a request",
        "regionId is read at the start",
        "brokerPermission must be a whole number from 0 to 7, not '9'",
        "fileReservedTime must be a whole number from 1 to 87600, not '0'",
    ):
        assert fault in answer.remark


def test_no_setting_that_can_be_changed_names_a_path_an_address_or_a_command() -> None:
    kit = BrokerKit()
    changeable = [key for key in settings(kit) if kit.ask(25, body=f"{key}=\n".encode()).code != 16]
    assert changeable, "some can be"
    suspicious = ("path", "dir", "file", "addr", "ip", "home", "command", "class", "plugin")
    assert [key for key in changeable if key.lower().endswith(suspicious)] == []


def test_what_was_changed_is_kept_in_a_file_of_its_own() -> None:
    kit = BrokerKit(ORDERS)
    kit.ask(25, body=b"fileReservedTime=73\n")
    kit.ask(25, body=b"longPollingEnable=false\n")
    assert kit.disk.read("store/config/broker.properties") == (
        b"fileReservedTime=73\nlongPollingEnable=false\n"
    )


def aged(hours: int) -> BrokerKit:
    """A log of several files, so many hours old."""
    kit = BrokerKit(TopicConfig("Orders", 1, 1), storage=STORAGE_OF_DAYS)
    for _ in range(40):
        kit.store.append(draft(b"Orders", 0, bytes(300)), kit.clock.now().wall_ms)
        kit.finish()
    kit.run(hours * HOUR_MS, HOUR_MS // 4)
    kit.run(20_000, 1_000)
    return kit


def test_a_shorter_time_lets_files_go_without_a_restart() -> None:
    kit = aged(10)
    assert kit.store.min_offset == 0
    assert kit.ask(25, body=b"fileReservedTime=9\n").code == 0
    kit.run(60_000, 1_000)
    assert kit.store.min_offset > 0


def test_a_longer_time_keeps_them() -> None:
    kit = aged(70)
    assert kit.ask(25, body=b"fileReservedTime=100\n").code == 0
    kit.run(10 * HOUR_MS, HOUR_MS // 4)
    assert kit.store.min_offset == 0


def test_without_a_change_the_store_keeps_to_what_it_was_opened_with() -> None:
    storage = replace(STORAGE_OF_DAYS, retention_ms=5 * HOUR_MS)
    kit = BrokerKit(TopicConfig("Orders", 1, 1), storage=storage)
    for _ in range(40):
        kit.store.append(draft(b"Orders", 0, bytes(300)), kit.clock.now().wall_ms)
        kit.finish()
    kit.run(6 * HOUR_MS, HOUR_MS // 4)
    kit.run(60_000, 1_000)
    assert kit.store.min_offset > 0
