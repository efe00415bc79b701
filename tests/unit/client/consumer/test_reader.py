from pathlib import Path

import pytest

from aerobee.client.client import Client
from aerobee.errors import Misuse, TopicNotFound
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire, bodies

ZERO, ONE = (MessageQueue("orders", "broker-a", QueueId(number)) for number in range(2))


async def fill(client: Client) -> Wire:
    wire = Wire(client)
    await wire.make_topic("orders", 2)
    for number in range(6):
        await wire.send(
            "orders", b"%d" % number, queue=number % 2, TAGS=["even", "odd"][number % 2]
        )
    return wire


def test_a_reader_reads_everything_and_moves_nobody(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(client)
            for _ in range(2):
                async with client.reader("orders", start="earliest") as reader:
                    found = []
                    async for message in reader:
                        found.append(message.body)
                        if len(found) == 6:
                            break
                    assert sorted(found) == [b"%d" % number for number in range(6)]
                    assert (reader.position(ZERO), reader.queues) == (3, (ZERO, ONE))
                    with pytest.raises(Misuse, match="keeps no place"):
                        await reader.commit()

    with_cluster(tmp_path, test)


def test_queues_are_chosen_and_places_sought(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(client)
            async with client.reader("orders", start="latest", poll=0.05) as reader:
                await reader.assign([ONE])
                assert await reader.read(timeout=0.01) == []
                await reader.seek(1)
                assert bodies(await reader.read(1, timeout=60)) == [b"3"]
                assert bodies(await reader.read(9, timeout=60)) == [b"5"]
                await reader.seek("earliest", queue=ONE)
                reader.pause()
                assert await reader.read(timeout=0.05) == []
                reader.resume(ONE)
                assert bodies(await reader.read(9, timeout=60)) == [b"1", b"3", b"5"]

    with_cluster(tmp_path, test)


def test_with_a_group_a_reader_goes_on_where_it_committed(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(client)
            for expected in (b"0", b"2"):
                async with client.reader("orders", group="g", start="earliest") as reader:
                    await reader.assign([ZERO])
                    assert bodies(await reader.read(1)) == [expected]
                    await reader.commit()

    with_cluster(tmp_path, test)


def test_a_reader_chooses_by_tags_without_a_heartbeat(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(client)
            async with client.reader("orders", start="earliest", tags="odd") as reader:
                assert bodies(await reader.read(3)) == [b"1", b"3", b"5"]
            with pytest.raises(TopicNotFound):
                await client.reader("nowhere").open()

    with_cluster(tmp_path, test)


def test_a_reader_that_nobody_opened_says_so_instead_of_waiting_for_ever(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            reader = client.reader("orders")
            with pytest.raises(Misuse, match="not open"):
                async for _ in reader:
                    pass
            with pytest.raises(Misuse, match="not open"):
                await reader.read()

    with_cluster(tmp_path, test)


def test_as_many_are_read_at_once_as_there_are(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send_batch("orders", [b"%d" % n for n in range(300)], order_by="u")
            async with client.reader("orders", start="earliest") as reader:
                found = await reader.read(200, timeout=60)
                while len(found) < 300:
                    found += await reader.read(300 - len(found), timeout=60)
                assert bodies(found) == [b"%d" % n for n in range(300)]
                assert sum(map(reader.position, reader.queues)) == 300
                with pytest.raises(Misuse, match="0 messages are wanted"):
                    await reader.read(0)

    with_cluster(tmp_path, test)
