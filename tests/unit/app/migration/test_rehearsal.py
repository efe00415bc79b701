import socket
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding, worst
from aerobee.app.migration.carried_settings import NewPlace
from aerobee.app.migration.master_facts import MasterFacts
from aerobee.app.migration.rehearsal import rehearse
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.model.topic import TopicConfig
from tests.migration_kit import FACTS, facts_with

ROOM = 1 << 40


def bad(facts: MasterFacts, folder: Path, free: int = ROOM) -> list[Finding]:
    found = rehearse(facts, NewPlace(str(folder), port=0), free)
    return [one for one in found if one.level == BAD]


def test_nothing_is_against_a_plain_master_and_an_empty_folder(tmp_path: Path) -> None:
    assert worst(rehearse(FACTS, NewPlace(str(tmp_path / "new"), port=0), ROOM)) == OK


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enableDLegerCommitLog", "true"),
        ("enableControllerMode", "true"),
        ("storeType", "defaultRocksDB"),
        ("messageStorePlugIn", "org.apache.rocketmq.tieredstore.TieredMessageStore"),
        ("authenticationEnabled", "true"),
        ("enableLmq", "true"),
        ("timerRocksDBEnable", "true"),
    ],
)
def test_a_feature_that_is_missing_here_is_a_reason_not_to_begin(
    key: str, value: str, tmp_path: Path
) -> None:
    (found,) = bad(facts_with(**{key: value}), tmp_path)
    assert (found.area, found.subject) == ("features", key)
    assert found.change
    assert found.why


def test_lmq_topics_are_a_reason_not_to_begin(tmp_path: Path) -> None:
    (light,) = bad(replace(FACTS, topics=(TopicConfig("%LMQ%a"),)), tmp_path)
    assert light.subject == "LMQ topics"
    lite = TopicConfig("sessions", attributes={"message.type": "LITE"})
    (found,) = bad(replace(FACTS, topics=(lite,)), tmp_path)
    assert (found.subject, found.seen) == ("lite topics", "sessions")


def test_a_setting_for_lite_topics_that_rocketmq_has_on_by_default_is_no_reason(
    tmp_path: Path,
) -> None:
    assert bad(facts_with(enableLiteEventMode="true"), tmp_path) == []


def test_log_files_of_another_size_than_possible_here_are(tmp_path: Path) -> None:
    (found,) = bad(facts_with(mappedFileSizeCommitLog="100"), tmp_path)
    assert found.subject == "mappedFileSizeCommitLog"
    (untold,) = bad(replace(FACTS, settings={}), tmp_path)
    assert untold.seen == "the master does not tell it"


def test_a_disk_without_room_for_the_log_and_its_indexes_is(tmp_path: Path) -> None:
    runtime = RuntimeInfo({"commitLogMinOffset": "0", "commitLogMaxOffset": str(10 << 30)})
    facts = replace(FACTS, runtime=runtime)
    assert bad(facts, tmp_path, 14 << 30 | 1) == []
    (found,) = bad(facts, tmp_path, 13 << 30)
    assert found.subject == "room"


def test_a_silent_name_server_and_an_old_version_are(tmp_path: Path) -> None:
    servers = {"10.0.0.9:9876": None, "10.0.0.8:9876": "no connection"}
    (found,) = bad(replace(FACTS, name_servers=servers), tmp_path)
    assert found.subject == "name server 10.0.0.8:9876"
    old = RuntimeInfo({"brokerVersionDesc": "V3_5_8"})
    assert [one.subject for one in bad(replace(FACTS, runtime=old), tmp_path)] == ["version"]


def test_a_taken_port_is(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        found = rehearse(FACTS, NewPlace(str(tmp_path), port=port + 2), ROOM)
    assert f"port {port}" in [one.subject for one in found if one.level == BAD]


def test_the_folder_of_an_earlier_run_is_taken_and_that_of_others_is_not(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / f"{0:020d}").write_bytes(b"x")
    (strange,) = bad(FACTS, tmp_path)
    assert "no migration brought there" in strange.seen
    (tmp_path / "broker.conf").touch()
    assert bad(FACTS, tmp_path) == []
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "aerobee.properties").write_text("brokerRole=ASYNC_MASTER\n")
    (master,) = bad(FACTS, tmp_path)
    assert "is the store of a master" in master.seen


def test_slaves_and_a_synchronous_role_are_to_be_known_before(tmp_path: Path) -> None:
    facts = replace(facts_with(brokerRole="SYNC_MASTER"), slave_ids=(1,))
    found = rehearse(facts, NewPlace(str(tmp_path), port=0), ROOM)
    assert [one.subject for one in found if one.level == WARN] == ["slaves", "brokerRole"]
    assert worst(found) == WARN
