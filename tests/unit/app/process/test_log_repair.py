"""LogRepair: a damaged record comes back from a slave; without one the damage is reported."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.settings.broker_settings import BrokerSettings, read_settings
from aerobee.app.settings.config import Given
from aerobee.client.client import Client
from aerobee.service.broker.assembly import build_broker
from aerobee.testing import Cluster
from tests.net_kit import in_loop
from tests.unit.app.process.test_broker_process import SMALL, no_failure

COUNT = 5


def settings(folder: Path, **given: str) -> BrokerSettings:
    texts = {**SMALL, "storePathRootDir": str(folder), "listenPort": "0", **given}
    return read_settings(None, {}, [Given(key, text, "test") for key, text in texts.items()])


@contextlib.asynccontextmanager
async def running(told: BrokerSettings, cluster: Cluster) -> AsyncIterator[BrokerPart]:
    part = BrokerPart(told, build_broker, lambda: [cluster.address])
    await part.start(no_failure)
    try:
        yield part
    finally:
        await part.stop()


async def sent(client: Client) -> None:
    await client.admin.topics.create("orders", queues=1)
    for number in range(COUNT):
        await client.send("orders", b"body %d" % number)


def damage(folder: Path) -> None:
    """Flip a bit in the second message, of a process that was killed."""
    (log,) = (folder / "commitlog").glob("0*")
    data = bytearray(log.read_bytes())
    data[data.index(b"body 1")] ^= 1
    log.write_bytes(data)
    (folder / "abort").write_bytes(b"aerobee")


async def caught_up(folder: Path) -> None:
    async with asyncio.timeout(30):
        while not any(b"body 4" in log.read_bytes() for log in (folder / "commitlog").glob("0*")):
            await asyncio.to_thread(lambda: None)


def test_a_damaged_record_is_fetched_from_a_slave(tmp_path: Path) -> None:
    async def test() -> None:
        master = settings(tmp_path / "m")
        slave = settings(tmp_path / "s", brokerRole="SLAVE", brokerId="1")
        async with Cluster() as cluster:
            await cluster.stop_broker("broker-a")  # those of this test have its name
            async with running(slave, cluster):
                async with running(master, cluster), cluster.connect() as client:
                    await sent(client)
                    await caught_up(tmp_path / "s")
                damage(tmp_path / "m")
                async with running(master, cluster) as part:
                    assert part.holdings().messages == COUNT
        (ours,) = (tmp_path / "m/commitlog").glob("0*")
        (theirs,) = (tmp_path / "s/commitlog").glob("0*")
        assert ours.read_bytes() == theirs.read_bytes()

    in_loop(test)


def test_without_a_replica_the_damage_is_reported_and_nothing_changed(tmp_path: Path) -> None:
    async def test() -> None:
        master = settings(tmp_path / "m")
        async with Cluster() as cluster:
            await cluster.stop_broker("broker-a")  # those of this test have its name
            async with running(master, cluster), cluster.connect() as client:
                await sent(client)
            damage(tmp_path / "m")
            (log,) = (tmp_path / "m/commitlog").glob("0*")
            before = log.read_bytes()
            with pytest.raises(CannotStart, match="checksum"):
                async with running(master, cluster):
                    pass
            assert log.read_bytes() == before

    in_loop(test)
