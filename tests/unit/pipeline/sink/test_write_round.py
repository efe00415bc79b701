import asyncio
from pathlib import Path

import pytest

from aerobee.errors import Refused, TopicNotFound
from aerobee.pipeline.sink.queue_plan import QueuePlan
from aerobee.pipeline.sink.write_round import (
    OpenedRound,
    Succeeded,
    agree,
    finish_task,
    finish_write,
)
from aerobee.protocol.request_codes import RequestCode
from tests.client_kit import LocalCluster, session_of, with_cluster
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker

A4, B4 = ("broker-a", 4), ("broker-b", 4)


def test_all_brokers_of_a_topic_learn_the_round_and_its_plan(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("Orders", queues=4)
            session = session_of(client)
            first, second = OpenedRound("q/0", 5), OpenedRound("q/0", 5)
            assert await agree(session, first, "Orders", 5) == QueuePlan((A4, B4))
            assert first.epochs == {"broker-a": 5 << 20, "broker-b": 5 << 20}
            assert await agree(session, first, "Orders", 5) == QueuePlan((A4, B4))
            assert first.epochs == {"broker-a": 5 << 20, "broker-b": 5 << 20}
            await agree(session, second, "Orders", 5)
            assert second.epochs == {"broker-a": (5 << 20) + 1, "broker-b": (5 << 20) + 1}

    with_cluster(tmp_path, test, brokers=2)


@pytest.mark.parametrize("first", ["broker-a", "broker-b"])
def test_whoever_comes_later_goes_by_the_firsts_plan(tmp_path: Path, first: str) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            topics, session = client.admin.topics, session_of(client)
            await topics.create("Orders", queues=4, on=first)
            plan = QueuePlan(((first, 4),))
            assert await agree(session, OpenedRound("q/0", 5), "Orders", 5) == plan
            await topics.create("Orders", queues=4)
            for _ in range(2):
                later = OpenedRound("q/0", 5)
                assert await agree(session, later, "Orders", 5) == plan
                assert first in later.epochs
            await topics.create("Orders", queues=6)
            assert await agree(session, OpenedRound("q/0", 5), "Orders", 5) == plan
            both = QueuePlan((("broker-a", 6), ("broker-b", 6)))
            assert await agree(session, OpenedRound("q/0", 6), "Orders", 5) == both

    with_cluster(tmp_path, test, brokers=2)


def test_a_round_that_is_over_says_so(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            session = session_of(client)
            await agree(session, OpenedRound("q/0", 6), "Orders", 5)
            with pytest.raises(Succeeded, match="round 5 of q/0 is over"):
                await agree(session, OpenedRound("q/0", 5), "Orders", 5)
            attempt = OpenedRound("q/0", 6)
            await agree(session, attempt, "Orders", 5)
            await agree(session, OpenedRound("q/0", 6), "Orders", 5)
            with pytest.raises(Succeeded):
                await agree(session, attempt, "Other", 5)

    with_cluster(tmp_path, test)


def test_a_broker_that_comes_back_is_waited_for(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("Orders", queues=4)
            session = session_of(client)
            await agree(session, OpenedRound("q/0", 5), "Orders", 5)
            route = await session.routes.of("Orders")
            address = route.master("broker-a")
            assert address is not None
            await cluster.stop_broker("broker-a")
            await cluster.start_broker("broker-a", int(address.rpartition(":")[2]))
            again = OpenedRound("q/0", 5)
            assert await agree(session, again, "Orders", 20) == QueuePlan((A4,))
            assert again.epochs == {"broker-a": (5 << 20) + 1}

    with_cluster(tmp_path, test)


def test_a_broker_of_another_make_is_told_from_ours() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            broker.not_known = frozenset({RequestCode.OPEN_PRODUCER})
            with pytest.raises(Refused, match="remembers no producers"):
                await agree(session_of(client), OpenedRound("q/0", 1), "Orders", 1)

    in_loop(test)


def test_a_topic_without_queues_to_write_to_is_none(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("Closed", queues=1, permission=4)
            with pytest.raises(TopicNotFound, match="no queue that can be written to"):
                await agree(session_of(client), OpenedRound("q/0", 1), "Closed", 1)

    with_cluster(tmp_path, test)


def test_a_batch_of_more_queues_and_tasks_than_a_broker_remembers_is_told_what_to_do(
    tmp_path: Path,
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("Wide", queues=1000)
            session = session_of(client)
            for task in range(10):
                await agree(session, OpenedRound(f"q/{task}", 5), "Wide", 5)
            with pytest.raises(
                Refused, match="10000 queues, each counted for every task"
            ) as raised:
                await agree(session, OpenedRound("q/10", 5), "Wide", 0.3)
            assert "coalesce(N)" in raised.value.hint
            await agree(session, OpenedRound("q/0", 6), "Wide", 5)

    with_cluster(tmp_path, test)


def test_a_task_waits_until_others_of_its_round_have_made_room(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("Wide", queues=1000)
            session = session_of(client)
            tasks = [OpenedRound(f"q/{task}", 5) for task in range(10)]
            for task in tasks:
                await agree(session, task, "Wide", 5)
            waiting = asyncio.ensure_future(agree(session, OpenedRound("q/10", 5), "Wide", 20))
            for _ in range(3):  # by the time that these are refused it was, too
                with pytest.raises(Refused):
                    await agree(session, OpenedRound("q/11", 5), "Wide", 0)
            assert not waiting.done()
            await finish_task(session, tasks[4])
            assert await waiting is not None

    with_cluster(tmp_path, test)


def test_a_write_is_finished_at_all_its_brokers(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            for topic in ("Orders", "Other"):
                await client.admin.topics.create(topic, queues=4)
            session = session_of(client)
            task = OpenedRound("q/0", 5)
            assert await agree(session, task, "Orders", 5) == QueuePlan((A4, B4))
            assert task.places == {("Orders", "broker-a"), ("Orders", "broker-b")}
            await finish_write(session, "q", 5, task.places)
            for number in range(2):
                late = OpenedRound(f"q/{number}", 5)
                assert await agree(session, late, "Orders", 5) is None
                assert late.places == task.places
            assert await agree(session, OpenedRound("q/0", 5), "Other", 5) is not None
            assert await agree(session, OpenedRound("q/0", 6), "Orders", 5) is not None
            with pytest.raises(Succeeded):
                await agree(session, OpenedRound("q/0", 4), "Orders", 5)

    with_cluster(tmp_path, test, brokers=2)


@pytest.mark.parametrize("told", ["broker-a", "broker-b"])
def test_what_one_broker_knows_to_be_finished_is_finished(tmp_path: Path, told: str) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("Orders", queues=4)
            session = session_of(client)
            await agree(session, OpenedRound("q/0", 5), "Orders", 5)
            await finish_write(session, "q", 5, [("Orders", told), ("Orders", "broker-x")])
            assert await agree(session, OpenedRound("q/0", 5), "Orders", 5) is None

    with_cluster(tmp_path, test, brokers=2)


def test_tasks_that_are_through_make_room_at_brokers_that_ask_for_it(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            for topic in ("Wide", "Wider"):
                await client.admin.topics.create(topic, queues=1000)
            session = session_of(client)
            tasks = [OpenedRound(f"q/{number}", 5) for number in range(25)]
            for number, task in enumerate(tasks):
                for topic in ("Wide", "Wider"):
                    assert await agree(session, task, topic, 10) is not None
                assert bool(task.crowded) == (number > 0)
                if number > 0:
                    await finish_task(session, task)
            again = OpenedRound("q/7", 5)
            assert await agree(session, again, "Wide", 5) is None
            assert await agree(session, again, "Wider", 5) is None

    with_cluster(tmp_path, test)


def test_nobody_fails_for_a_broker_that_does_not_want_to_hear_of_it(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            session = session_of(client)
            first, second = OpenedRound("q/0", 5), OpenedRound("q/0", 5)
            for task in (first, second):
                await agree(session, task, "Orders", 5)
            first.crowded.add("broker-a")
            await finish_task(session, first)  # which was succeeded
            assert await agree(session, second, "Orders", 5) is not None
            await finish_write(session, "q", 5, [("Nowhere", "broker-a")])

    with_cluster(tmp_path, test)


def test_a_broker_that_knows_no_such_request_is_left_alone() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            broker.not_known = frozenset({RequestCode.FINISH_ROUND})
            await finish_write(session_of(client), "q", 5, [("Orders", "broker-a")])
            assert broker.asked.count(RequestCode.FINISH_ROUND) == 1

    in_loop(test)
