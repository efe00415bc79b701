from pathlib import Path
from typing import Any

import pytest

from aerobee.app.settings import broker_settings
from aerobee.app.settings.config import BadConfig
from aerobee.app.settings.monitor_settings import Exporter
from aerobee.app.settings.up_settings import (
    UpFlags,
    brokers_kept,
    read_settings,
    slaves_kept,
    store_folder,
)
from aerobee.model.broker_role import BrokerRole


def test_everything_is_in_one_folder_in_small_files(tmp_path: Path) -> None:
    settings = read_settings(UpFlags(str(tmp_path)), {})
    (broker,) = settings.brokers
    assert settings.nameserver.paths.key_values == f"{tmp_path}/namesrv/kvConfig.json"
    assert broker.paths.root == f"{tmp_path}/store"
    assert broker.storage.log_file_bytes == 16 << 20
    assert broker.service.recalls
    assert (broker.listen.port, broker.monitor.port) == (10911, 5557)
    assert broker.monitor.exporter is Exporter.PROM
    assert list(tmp_path.iterdir()) == []


def test_several_brokers_have_names_ports_and_stores_of_their_own(tmp_path: Path) -> None:
    first, second, third = read_settings(UpFlags(str(tmp_path), brokers=3), {}).brokers
    assert [one.names.name for one in (first, second, third)] == [
        "broker-a",
        "broker-b",
        "broker-c",
    ]
    assert [one.listen.port for one in (first, second, third)] == [10911, 10921, 10931]
    assert [one.monitor.port for one in (first, second, third)] == [5557, 5567, 5577]
    assert first.paths.root == f"{tmp_path}/store"
    assert third.paths.root == f"{tmp_path}/store-c"


@pytest.mark.parametrize(("port", "ports"), [("0", [0, 0]), ("7000", [7000, 7010])])
def test_ports_follow_the_first_ones_and_metrics_are_anywhere_when_it_is_unusual(
    port: str, ports: list[int], tmp_path: Path
) -> None:
    brokers = read_settings(UpFlags(str(tmp_path), port=port, brokers=2), {}).brokers
    assert [one.listen.port for one in brokers] == ports
    assert [one.monitor.port for one in brokers] == [0, 0]


def test_variables_count_below_flags(tmp_path: Path) -> None:
    environment = {
        "AEROBEE_BROKER_LISTEN_PORT": "7000",
        "AEROBEE_BROKER_BROKER_NAME": "mine",
        "AEROBEE_NAMESRV_LISTEN_PORT": "7001",
    }
    one = read_settings(UpFlags(str(tmp_path)), environment)
    assert one.brokers[0].names.name == "mine"
    assert (one.brokers[0].listen.port, one.nameserver.listen.port) == (7000, 7001)
    two = read_settings(UpFlags(str(tmp_path), brokers=2, nameserver_port="7002"), environment)
    assert [broker.listen.port for broker in two.brokers] == [7000, 7010]
    assert [broker.names.name for broker in two.brokers] == ["broker-a", "broker-b"]
    assert two.nameserver.listen.port == 7002


def test_a_log_that_is_there_goes_on_in_files_of_its_size(tmp_path: Path) -> None:
    (tmp_path / "store/commitlog").mkdir(parents=True)
    (tmp_path / "store/commitlog/00000000000000000000").write_bytes(bytes(65536))
    first, second = read_settings(UpFlags(str(tmp_path), brokers=2), {}).brokers
    assert first.storage.log_file_bytes == 65536
    assert second.storage.log_file_bytes == 16 << 20


def test_what_is_said_beside_counts_if_nothing_else_does(tmp_path: Path) -> None:
    flags = UpFlags(str(tmp_path), beside={"transactionTimeOut": "2000"})
    assert read_settings(flags, {}).brokers[0].service.transaction_timeout_ms == 2000
    environment = {"AEROBEE_BROKER_TRANSACTION_TIME_OUT": "9000"}
    assert read_settings(flags, environment).brokers[0].service.transaction_timeout_ms == 9000


def test_all_mistakes_are_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadConfig) as caught:
        read_settings(UpFlags(str(tmp_path), port="x", nameserver_port="y", brokers=27), {})
    assert [mistake.split(":")[0] for mistake in caught.value.mistakes] == [
        "--brokers must be from 1 to 26, not 27",
        "--nameserver-port",
        "--port",
    ]


def test_brokers_that_left_something_are_counted(tmp_path: Path) -> None:
    assert brokers_kept(str(tmp_path)) == 0
    Path(store_folder(str(tmp_path), 0)).mkdir()
    assert brokers_kept(str(tmp_path)) == 1
    Path(store_folder(str(tmp_path), 2)).mkdir()
    assert brokers_kept(str(tmp_path)) == 3


def test_slaves_have_the_name_of_their_master_ids_stores_and_ports_above_all_masters(
    tmp_path: Path,
) -> None:
    flags = UpFlags(str(tmp_path), brokers=2, slaves=2)
    brokers = read_settings(flags, {}).brokers
    assert [(one.names.name, one.broker_id) for one in brokers] == [
        ("broker-a", 0),
        ("broker-b", 0),
        ("broker-a", 1),
        ("broker-b", 1),
        ("broker-a", 2),
        ("broker-b", 2),
    ]
    assert [one.listen.port for one in brokers] == [10911, 10921, 10931, 10941, 10951, 10961]
    assert [one.monitor.port for one in brokers] == [5557, 5567, 5577, 5587, 5597, 5607]
    assert [one.paths.root.removeprefix(f"{tmp_path}/") for one in brokers] == [
        "store",
        "store-b",
        "store-a-slave-1",
        "store-b-slave-1",
        "store-a-slave-2",
        "store-b-slave-2",
    ]
    assert not any(one.warnings for one in brokers)


@pytest.mark.parametrize(
    ("replication", "role", "copies"),
    [
        ("sync", BrokerRole.SYNC_MASTER, 2),
        ("async", BrokerRole.ASYNC_MASTER, 1),
        (None, BrokerRole.ASYNC_MASTER, 1),
    ],
)
@pytest.mark.parametrize("slaves", [1, 3])
def test_a_synchronous_master_waits_for_one_slave_and_an_asynchronous_one_for_none(
    replication: str | None, role: BrokerRole, copies: int, slaves: int, tmp_path: Path
) -> None:
    flags = UpFlags(str(tmp_path), slaves=slaves, replication=replication)
    master, *others = (one.replication for one in read_settings(flags, {}).brokers)
    assert (master.role, master.in_sync_replicas) == (role, copies)
    assert master.total_replicas == 1 + slaves
    assert [one.role for one in others] == [BrokerRole.SLAVE] * slaves


def test_without_slaves_nothing_is_said_of_replication(tmp_path: Path) -> None:
    (alone,) = read_settings(UpFlags(str(tmp_path)), {}).brokers
    assert (alone.replication.role, alone.broker_id) == (BrokerRole.ASYNC_MASTER, 0)
    assert alone.replication.total_replicas == 1


def test_a_role_that_was_changed_while_it_ran_is_kept(tmp_path: Path) -> None:
    saved = Path(store_folder(str(tmp_path), 0, 1), "config/aerobee.properties")
    saved.parent.mkdir(parents=True)
    saved.write_text("brokerRole=ASYNC_MASTER\nbrokerId=0\n")
    flags = UpFlags(str(tmp_path), slaves=1, replication="sync")
    promoted = read_settings(flags, {}).brokers[1]
    assert (promoted.replication.role, promoted.broker_id) == (BrokerRole.ASYNC_MASTER, 0)


def test_a_new_slave_has_log_files_of_the_size_of_its_masters(tmp_path: Path) -> None:
    (tmp_path / "store-b/commitlog").mkdir(parents=True)
    (tmp_path / "store-b/commitlog/00000000000000000000").write_bytes(bytes(65536))
    brokers = read_settings(UpFlags(str(tmp_path), brokers=2, slaves=1), {}).brokers
    sizes = [one.storage.log_file_bytes for one in brokers]
    assert sizes == [16 << 20, 65536, 16 << 20, 65536]


def test_an_ha_port_that_was_said_is_the_first_brokers(tmp_path: Path) -> None:
    environment = {"AEROBEE_BROKER_HA_LISTEN_PORT": "7500"}
    brokers = read_settings(UpFlags(str(tmp_path), slaves=1), environment).brokers
    assert [one.names.ha_port for one in brokers] == [7500, 7510]
    brokers = read_settings(UpFlags(str(tmp_path), slaves=1), {}).brokers
    assert [one.names.ha_port for one in brokers] == [0, 0]


@pytest.mark.parametrize("replication", ["sync", "async"])
def test_replication_without_slaves_is_refused_with_the_flags_to_write(
    replication: str, tmp_path: Path
) -> None:
    with pytest.raises(BadConfig) as caught:
        read_settings(UpFlags(str(tmp_path), replication=replication), {})
    assert list(caught.value.mistakes) == [
        f"--replication {replication} has no slaves to copy to: "
        f"write --slaves 1 --replication {replication}, or leave --replication out"
    ]


@pytest.mark.parametrize(("brokers", "slaves"), [(0, 1), (27, 1), (1, -1), (1, 10), (27, 10**6)])
def test_numbers_of_brokers_out_of_range_are_refused(
    brokers: int, slaves: int, tmp_path: Path
) -> None:
    with pytest.raises(BadConfig) as caught:
        read_settings(UpFlags(str(tmp_path), brokers=brokers, slaves=slaves), {})
    wrong = {one.split(" must")[0] for one in caught.value.mistakes}
    assert ("--brokers" in wrong) is (brokers != 1)
    assert ("--slaves" in wrong) is (slaves != 1)


def test_slaves_that_left_something_are_counted(tmp_path: Path) -> None:
    assert slaves_kept(str(tmp_path)) == 0
    Path(store_folder(str(tmp_path), 1)).mkdir()
    assert slaves_kept(str(tmp_path)) == 0
    Path(store_folder(str(tmp_path), 1, 2)).mkdir()
    assert slaves_kept(str(tmp_path)) == 2
    assert brokers_kept(str(tmp_path)) == 2


def test_members_of_a_group_have_ports_stores_and_numbers_of_their_own(tmp_path: Path) -> None:
    flags = UpFlags(str(tmp_path), replication="raft")
    brokers = read_settings(flags, {}).brokers
    assert [one.listen.port for one in brokers] == [10911, 10921, 10931]
    assert [one.raft.node for one in brokers] == [0, 1, 2]
    assert {one.names.name for one in brokers} == {"broker-a"}
    assert [one.paths.root for one in brokers] == [f"{tmp_path}/store-n{at}" for at in range(3)]
    addresses = [peer.address for peer in brokers[2].raft.peers]
    assert addresses == ["127.0.0.1:10912", "127.0.0.1:10922", "127.0.0.1:10932"]
    assert len(read_settings(UpFlags(str(tmp_path), replication="raft", nodes=5), {}).brokers) == 5


def test_a_member_is_read_again_from_what_it_was_read_from(tmp_path: Path) -> None:
    members = read_settings(UpFlags(str(tmp_path), replication="raft"), {}).members
    assert len(members) == 3
    for one in members:
        again = broker_settings.read_settings(None, {}, one.told, one.defaults)
        assert again == one.settings
    assert read_settings(UpFlags(str(tmp_path)), {}).members == ()


@pytest.mark.parametrize(
    ("flags", "mistake"),
    [
        ({"replication": "raft", "nodes": 10}, "--nodes must be from 1 to 9"),
        ({"replication": "raft", "slaves": 1}, "leave --brokers and --slaves out"),
        ({"replication": "raft", "port": "0"}, "--port 0 is no port"),
        ({"nodes": 3}, "write --replication raft"),
    ],
)
def test_a_group_that_cannot_be_is_a_mistake(
    flags: dict[str, Any], mistake: str, tmp_path: Path
) -> None:
    with pytest.raises(BadConfig, match=mistake):
        read_settings(UpFlags(str(tmp_path), **flags), {})
