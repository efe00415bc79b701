from pathlib import Path

import pytest

from aerobee.app.settings.config import BadConfig
from aerobee.app.settings.monitor_settings import Exporter
from aerobee.app.settings.up_settings import UpFlags, brokers_kept, read_settings, store_folder


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
