import socket
from pathlib import Path

from aerobee.app.diagnosis.neighbours import look_at
from tests.client_kit import LocalCluster
from tests.net_kit import in_loop


def test_a_cluster_is_seen_with_its_addresses_and_times(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster:
            found = await look_at(f"{cluster.address};127.0.0.1:1", is_chosen=True)
        good, gone = found.name_servers
        assert (good.address, good.complaint) == (cluster.address, "")
        assert gone.address == "127.0.0.1:1"
        assert "127.0.0.1:1" in gone.complaint
        (broker,) = found.brokers
        assert (broker.broker, broker.number, broker.complaint) == ("broker-a", 0, "")
        assert broker.name_server == cluster.address
        assert broker.is_loopback
        assert broker.is_name_server_here
        assert abs(found.offsets["broker-a"]) < 60

    in_loop(test)


def test_an_address_where_nobody_listens_is_found(tmp_path: Path) -> None:
    async def test() -> None:
        with socket.socket() as silent:
            silent.bind(("127.0.0.2", 0))  # and nobody listens
            async with LocalCluster(tmp_path, brokerIP1="127.0.0.2") as cluster:
                found = await look_at(cluster.address, is_chosen=True)
        (broker,) = found.brokers
        assert broker.address.startswith("127.0.0.2:")
        assert "refused" in broker.complaint.lower()
        assert found.offsets == {}

    in_loop(test)
