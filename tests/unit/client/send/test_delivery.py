import asyncio
from pathlib import Path

import pytest

from aerobee.client.api.client_options import ClientOptions
from aerobee.client.connection.session import Session
from aerobee.client.core.send.latency_faults import LATENCY_TABLE
from aerobee.client.send.delivery import Delivery
from aerobee.client.send.drafts import Drafts
from aerobee.errors import Misuse, SendFailed, Stored, TopicNotFound, Unreachable
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, until, with_cluster
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker


async def opened(cluster: LocalCluster, **options: object) -> Session:
    session = Session(ClientOptions((cluster.address,), **options))  # type: ignore[arg-type]
    await session.start()
    return session


def test_sends_go_round_the_queues_of_all_brokers(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = await opened(cluster)
        delivery, drafts = Delivery(session), Drafts(session)
        used = [(await delivery.deliver(drafts.draft("t", b"x"))).queue for _ in range(16)]
        assert len(set(used[:8])) == 8
        assert used[:8] == used[8:]
        assert {queue.broker_name for queue in used} == {"broker-a", "broker-b"}
        await session.close()

    with_cluster(tmp_path, test, brokers=2)


def test_a_send_to_a_broker_that_is_gone_is_stored_by_the_other(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = await opened(cluster, latency_table=LATENCY_TABLE)
        delivery, drafts = Delivery(session), Drafts(session)
        await delivery.deliver(drafts.draft("t", b"x"))
        await cluster.stop_broker("broker-a")
        for _ in range(8):
            sent = await delivery.deliver(drafts.draft("t", b"x"))
            assert sent.queue.broker_name == "broker-b"
        await session.close()

    with_cluster(tmp_path, test, brokers=2)


def test_a_priority_goes_to_its_queue_of_every_broker_in_turn(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = await opened(cluster)
        delivery, drafts = Delivery(session), Drafts(session)
        for priority, queue_id in ((2, 2), (9, 3)):
            drafted = [drafts.draft("t", b"x", priority=priority) for _ in range(8)]
            sent = [await delivery.deliver(draft) for draft in drafted]
            assert {one.queue.queue_id for one in sent} == {queue_id}
            assert {one.said.queue_id for one in sent} == {queue_id}
            assert {one.queue.broker_name for one in sent} == {"broker-a", "broker-b"}
        await session.close()

    with_cluster(tmp_path, test, brokers=2)


def test_a_message_that_must_go_to_one_queue_goes_to_no_other(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = await opened(cluster)
        delivery, drafts = Delivery(session), Drafts(session)
        wanted = MessageQueue("t", "broker-a", QueueId(2))
        for _ in range(3):
            sent = await delivery.deliver(drafts.draft("t", b"x"), queue=wanted)
            assert sent.queue == wanted
        keyed = await delivery.deliver(drafts.draft("t", b"x", order_by="k"))
        assert keyed.queue == (await delivery.deliver(drafts.draft("t", b"x", order_by="k"))).queue
        nowhere = MessageQueue("t", "z", QueueId(0))
        with pytest.raises(SendFailed, match="t@z:0 is no queue that can be written to"):
            await delivery.deliver(drafts.draft("t", b"x"), queue=nowhere, retries=0)
        await cluster.stop_broker("broker-a")
        with pytest.raises(SendFailed) as caught:
            await delivery.deliver(drafts.draft("t", b"x"), queue=wanted, timeout=60)
        assert caught.value.stored is Stored.NO
        assert len(caught.value.attempts) == 3
        assert all("broker-a" in note for note in caught.value.attempts)
        await session.close()

    with_cluster(tmp_path, test, brokers=2)


def test_a_key_stays_with_its_queue_for_all_tries_even_if_the_queues_change() -> None:
    async def test() -> None:
        async with ScriptedBroker(queues=4) as broker, broker.client() as client:
            await client.send("t", b"x", order_by="u7")
            broker.queues = 3
            broker.codes = [17, 17, 0]
            await client.send("t", b"x", order_by="u7")
            tried = [send.ext_fields["e"] for send in broker.sends]
            assert tried[1] == tried[2] == tried[3]
            await client.send("t", b"x", order_by="u7")
            assert broker.sends[-1].ext_fields["e"] != tried[2]  # the route has come, too

    in_loop(test)


def test_a_send_waits_for_a_master_as_long_as_it_has_time(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = await opened(cluster, timeout=60.0)
        delivery, drafts = Delivery(session), Drafts(session)
        await delivery.deliver(drafts.draft("t", b"x"))
        await cluster.start_slave("broker-a")
        await cluster.stop_broker("broker-a")
        assert (await session.routes.refresh("t")).waits_for_master
        with pytest.raises(SendFailed, match="no broker of it has a master") as caught:
            await delivery.deliver(drafts.draft("t", b"x"), timeout=0.3)
        assert caught.value.stored is Stored.NO
        waiting = asyncio.create_task(delivery.deliver(drafts.draft("t", b"x")))
        await cluster.start_broker("broker-a")
        assert (await waiting).queue.broker_name == "broker-a"
        await session.close()

    with_cluster(tmp_path, test)


def test_a_broker_that_is_no_master_any_more_has_the_route_asked_for() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            # Only an answer has it asked for again: no clock does.
            session = Session(ClientOptions((broker.address,), route_seconds=3_600.0))
            await session.start()
            delivery, drafts = Delivery(session), Drafts(session)
            await delivery.deliver(drafts.draft("t", b"x"))
            known = len(broker.looked_up)
            broker.codes = [14, 0]
            await delivery.deliver(drafts.draft("t", b"x"))
            await until(lambda: len(broker.looked_up) > known)
            await session.close()

    in_loop(test)


@pytest.mark.parametrize(("version", "said"), [(411, "DELAY"), (413, "TIMER_DELAY_MS")])
def test_a_delay_is_said_as_the_broker_understands_it(version: int, said: str) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            broker.version = version
            await client.send("t", b"x", delay=10)
            assert said in broker.sends[0].ext_fields["i"]
            if version < 413:
                with pytest.raises(Misuse, match="older than"):
                    await client.send("t", b"x", delay=11)
            assert len(broker.sends) == 1

    in_loop(test)


def test_what_a_broker_refuses_is_not_tried_again_and_not_stored(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = await opened(cluster)
        draft = Drafts(session).draft("t", b"x" * 2000)
        with pytest.raises(SendFailed) as caught:
            await Delivery(session).deliver(draft)
        assert caught.value.stored is Stored.NO
        assert len(caught.value.attempts) == 1
        assert "MESSAGE_ILLEGAL" in caught.value.message
        await session.close()

    with_cluster(tmp_path, test, maxMessageSize="1000")


def test_a_topic_that_nobody_has_or_makes_is_named(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = await opened(cluster)
        with pytest.raises(TopicNotFound) as caught:
            await Delivery(session).deliver(Drafts(session).draft("nowhere", b"x"))
        assert caught.value.topic == "nowhere"
        assert "topic create nowhere" in caught.value.hint
        await session.close()

    with_cluster(tmp_path, test, autoCreateTopicEnable="false")


def test_without_a_name_server_nothing_was_stored_and_the_cause_is_kept() -> None:
    async def test() -> None:
        session = Session(ClientOptions(("127.0.0.1:1",)))
        await session.start()
        with pytest.raises(SendFailed) as caught:
            await Delivery(session).deliver(Drafts(session).draft("t", b"x"), retries=0)
        assert caught.value.stored is Stored.NO
        assert isinstance(caught.value.__cause__, Unreachable)
        assert "127.0.0.1:1" in caught.value.message
        await session.close()

    in_loop(test)
