from pathlib import Path

import pytest

from aerobee.errors import Misuse
from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire


def test_one_message_at_a_time_each_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for number in range(3):
                await wire.send("orders", b"%d" % number)
            for number in range(3):
                message = await client.receive("orders", group="g", timeout=60)
                assert message.body == b"%d" % number
            with pytest.raises(TimeoutError, match="orders for g"):
                await client.receive("orders", group="g", timeout=0.01)
            with pytest.raises(Misuse, match="one set of topics"):
                await client.receive("other", group="g", timeout=1)
        async with cluster.client() as client:
            await Wire(client).send("orders", b"3")
            assert (await client.receive("orders", group="g", timeout=60)).body == b"3"

    with_cluster(tmp_path, test)
