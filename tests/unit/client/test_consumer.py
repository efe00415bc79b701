from pathlib import Path

from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire, take


def test_what_was_sent_is_received_and_not_again(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders")
            for number in range(20):
                await wire.send("orders", b"%d" % number, queue=number % 4, TAGS="a", mine="x")
            async with client.consumer("orders", group="billing", start="earliest") as consumer:
                found = await take(consumer, 20)
            assert sorted(int(message.body) for message in found) == list(range(20))
            assert {(m.topic, m.tag, m.attempt, m.headers["mine"]) for m in found} == {
                ("orders", "a", 1, "x")
            }
            await wire.send("orders", b"later")
            async with client.consumer("orders", group="billing", start="earliest") as consumer:
                assert [message.body for message in await take(consumer, 1)] == [b"later"]

    with_cluster(tmp_path, test)
