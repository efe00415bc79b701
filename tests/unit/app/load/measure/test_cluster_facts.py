import os
from pathlib import Path

from aerobee.app.load.measure.cluster_facts import brokers_of, device_of, is_here
from aerobee.app.load.measure.proc import Proc
from aerobee.client.admin.admin import admin
from tests.client_kit import LocalCluster
from tests.net_kit import in_loop


def test_a_broker_says_how_it_flushes_and_is_found_on_this_machine(tmp_path: Path) -> None:
    async def test() -> None:
        async with (
            LocalCluster(tmp_path, flushDiskType="SYNC_FLUSH") as cluster,
            admin(cluster.address) as asking,
        ):
            (broker,) = await brokers_of(asking, Proc())
        assert (broker.name, broker.flush) == ("broker-a", "SYNC_FLUSH")
        assert broker.version.startswith("V5")
        assert broker.pid == os.getpid()
        assert broker.to_json()["is_local"] is True

    in_loop(test)


def test_an_address_of_another_machine_is_not_here() -> None:
    assert is_here("127.0.0.1")
    assert not is_here("192.0.2.1")
    assert not is_here("no such host")


def test_a_store_that_is_not_here_is_on_no_disk(tmp_path: Path) -> None:
    assert device_of("", Proc()) == ""
    assert device_of(str(tmp_path / "gone"), Proc()) == ""
