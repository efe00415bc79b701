from pathlib import Path

import pytest

from aerobee.client.client import Client
from aerobee.client.group.group_requests import GroupRequests
from aerobee.errors import TopicNotFound, Unreachable
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))


async def calls_of(client: Client, sent: int = 3) -> GroupRequests:
    wire = Wire(client)
    await wire.make_topic("orders", 2)
    for number in range(sent):
        await wire.send("orders", b"%d" % number)
    return GroupRequests(client._session, "g")


def test_offsets_are_asked_for_and_committed(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            calls = await calls_of(client)
            assert (await calls.beginning_of(QUEUE), await calls.end_of(QUEUE)) == (0, 3)
            assert await calls.offset_at(QUEUE, 0) == 0
            assert await calls.offset_at(QUEUE, 2**42) == 3
            async with client.consumer("orders", group="g", start="latest"):
                await calls.commit(QUEUE, 2, is_certain=True)
                assert await calls.committed(QUEUE) == 2

    with_cluster(tmp_path, test)


def test_a_group_that_was_never_there_has_no_offset(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            calls = await calls_of(client, 0)
            assert await calls.committed(QUEUE) in (None, 0)

    with_cluster(tmp_path, test)


def test_members_are_those_who_beat(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            calls = await calls_of(client)
            assert await calls.members("orders") is None
            async with client.consumer("orders", group="g"):
                assert await calls.members("orders") == (client.id,)
            assert await calls.members("nowhere") is None

    with_cluster(tmp_path, test)


def test_a_lock_is_one_clients_until_it_gives_it_back(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, cluster.client() as other:
            mine = await calls_of(client)
            theirs = GroupRequests(other._session, "g")
            assert await mine.lock([QUEUE]) == {QUEUE}
            assert await theirs.lock([QUEUE]) == set()
            await mine.unlock([QUEUE])
            assert await theirs.lock([QUEUE]) == {QUEUE}

    with_cluster(tmp_path, test)


def test_a_slave_answers_and_takes_offsets_while_the_master_does_not_answer(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            calls, session = await calls_of(client), client._session
            slave = await cluster.start_slave("broker-a")
            route = await session.routes.refresh("orders")
            master = route.master("broker-a")
            assert master is not None
            await calls.commit(QUEUE, 1, is_certain=True)
            session.silent.note(master, session.clock.monotonic_ms())
            await calls.commit(QUEUE, 2, is_certain=True)
            assert await calls.committed(QUEUE) == 2
            assert await calls.end_of(QUEUE) == 3
            assert await calls.address("orders", "broker-a", is_reading=True) == slave
            assert await calls.address("orders", "broker-a") == master  # for locks and returns
            session.silent.answered(master)
            assert await calls.committed(QUEUE) == 1

    with_cluster(tmp_path, test)


def test_a_slave_names_the_members_where_no_master_does(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            calls, session = await calls_of(client), client._session
            await cluster.start_slave("broker-a")
            await session.routes.refresh("orders")
            async with client.consumer("orders", group="g"):
                await cluster.stop_broker("broker-a")
                assert await calls.members("orders") == (session.client_id,)

    with_cluster(tmp_path, test)


def test_a_broker_that_no_route_names_cannot_be_asked(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            calls = await calls_of(client)
            with pytest.raises(Unreachable, match="no broker broker-z"):
                await calls.end_of(MessageQueue("orders", "broker-z", QueueId(0)))
            with pytest.raises(TopicNotFound):
                await calls.end_of(MessageQueue("nowhere", "broker-a", QueueId(0)))
            assert await calls.lock([MessageQueue("orders", "broker-z", QueueId(0))]) == set()
            await calls.unlock([MessageQueue("orders", "broker-z", QueueId(0))])

    with_cluster(tmp_path, test)
