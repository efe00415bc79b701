"""The admin client at Apache's servers: every section, against the same bytes that its own tools
get."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

import aerobee as mq
from aerobee.client.admin.admin import Admin
from aerobee.client.admin.message_tracks import Track
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.replica_status import MasterStatus
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.assignment import POP, RequestMode
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer
from tests.net_kit import in_loop

pytestmark = pytest.mark.java

Test = Callable[[Admin, mq.Client], Awaitable[None]]


@pytest.fixture(scope="module")
def name_server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("apache")
    with ApacheServer(folder, jars) as server:
        yield server.name_server


def at(name_server: str, test: Test) -> None:
    async def run() -> None:
        async with mq.connect(name_server) as client:
            await test(client.admin, client)

    in_loop(run)


def test_topics(name_server: str) -> None:
    async def test(admin: Admin, client: mq.Client) -> None:
        await admin.topics.create("T1", queues=2, attributes={"message.type": "NORMAL"})
        await admin.topics.put_many([TopicConfig("T2", 1, 1)])
        configs = await admin.topics.config("T1")
        assert configs["broker-a"].attributes == {"message.type": "NORMAL"}
        assert {"T1", "T2"} <= {one.name for one in (await admin.topics.configs())["broker-a"]}
        assert "T1" in await admin.topics.names(cluster="DefaultCluster")
        assert "TBW102" in await admin.topics.system_names()
        await admin.topics.set_permission("T1", 4)
        assert (await admin.topics.config("T1"))["broker-a"].permission == 4
        await admin.topics.set_permission("T1", 6)
        await client.send("T1", b"x", queue=MessageQueue("T1", "broker-a", QueueId(1)))
        stats = await admin.topics.stats("T1")
        assert [one.max_offset for one in stats.queues.values()] == [0, 1]
        await admin.topics.set_order("T1", {"broker-a": 2})
        assert await admin.topics.order("T1") == "broker-a:2"
        await admin.topics.set_order("T1", {})
        await admin.topics.delete("T2")
        assert not await admin.topics.exists("T2")

    at(name_server, test)


def test_groups_offsets_and_queues(name_server: str) -> None:
    async def test(admin: Admin, client: mq.Client) -> None:
        await admin.topics.create("T3", queues=1)
        queue = MessageQueue("T3", "broker-a", QueueId(0))
        for number in range(3):
            await client.send("T3", b"%d" % number, queue=queue, tag="even" if number != 1 else "")
        config = GroupConfig("g3", retries_max=3)
        await admin.groups.put(config)
        await admin.groups.put_many([GroupConfig("g4")])
        assert (await admin.groups.config("g3"))["broker-a"].retries_max == 3
        assert {"g3", "g4"} <= set(await admin.groups.names())
        await admin.offsets.commit("g3", queue, 1)
        assert await admin.offsets.committed("g3", queue) == 1
        assert await admin.offsets.committed("g4", queue) is None
        assert (await admin.groups.progress("g3", topic="T3")).lag == 2
        assert (await admin.groups.progress_of_all())["g3"].lag == 2
        (span,) = await admin.groups.time_spans("g3", "T3")
        assert span.max_timestamp >= span.min_timestamp > 0
        assert await admin.groups.topics("g3") == ["T3"]
        assert await admin.topics.groups("T3") == ["g3"]
        assert await admin.offsets.bounds(queue) == (0, 3)
        first_ms = await admin.offsets.earliest_ms(queue)
        assert await admin.offsets.at_time(queue, first_ms) == 0
        assert (await admin.offsets.reset("g3", "T3", "earliest"))[queue] == 0
        assert (await admin.offsets.skip("g3", "T3"))[queue] == 3
        assert await admin.offsets.reset_queue("g3", queue, 2) == {queue: 2}
        await admin.offsets.clone("g3", "g4", topic="T3")
        assert ("T3", "g3") in (await admin.offsets.all())["broker-a"]
        assert [one.body async for one in admin.queues.read(queue)] == [b"0", b"1", b"2"]
        assert [one.body async for one in admin.queues.read(queue, tags="even")] == [b"0", b"2"]
        found = await admin.queues.at(queue, 1)
        assert found is not None
        assert (await admin.queues.units(queue)).max_offset == 3
        assert await admin.groups.allow("g3", "T3", is_allowed=False) == {"broker-a": False}
        await admin.groups.allow("g3", "T3")
        mode = RequestMode("T3", "g3", POP)
        await admin.groups.set_request_mode(mode)
        assert mode in (await admin.groups.request_modes())["broker-a"]
        await admin.groups.delete("g4")
        assert "g4" not in await admin.groups.names()

    at(name_server, test)


def test_messages_and_who_consumes_them(name_server: str) -> None:
    async def test(admin: Admin, client: mq.Client) -> None:
        await admin.topics.create("T5", queues=1)
        receipt = await client.send("T5", b"x", tag="paid", keys=["o-1"])
        assert (await admin.messages.by_offset_id(receipt.offset_id)).body == b"x"
        found = None
        while found is None:  # Apache builds its index a moment later
            found = await admin.messages.find("T5", receipt.message_id)
        (by_key,) = await admin.messages.by_key("T5", "o-1")
        assert by_key.message_id == receipt.message_id
        async with client.consumer("T5", group="g5", start="earliest") as consumer:
            message = await consumer.receive()
            there = await admin.connections.consumers("g5")
            assert [one.client_id for one in there.clients] == [client.id]
            assert await admin.connections.client_ids("g5") == [client.id]
            info = await admin.connections.running_info("g5", client.id)
            assert [queue.topic for queue in info.queues if queue.topic == "T5"] == ["T5"]
            assert await admin.messages.tracks(found) == {"g5": Track.WAITING}
            subscription = await admin.groups.subscription("g5", "T5")
            assert subscription is not None
            await message.ack()
            await consumer.commit()
            assert await admin.messages.tracks(found) == {"g5": Track.CONSUMED}
        assert await admin.messages.by_key("T5", "o-2") == []
        between = [one.body async for one in admin.messages.between("T5")]
        assert between == [b"x"]

    at(name_server, test)


def test_a_dead_letter_is_sent_again_to_its_group(name_server: str) -> None:
    async def test(admin: Admin, client: mq.Client) -> None:
        await client.send("T6", b"bad")
        async with client.consumer("T6", group="g6", start="earliest") as consumer:
            message = await consumer.receive()
            await message.reject(reason="no")
            while await admin.dead_letters.count("g6") == 0:
                pass
            (letter,) = [one async for one in admin.dead_letters.of("g6")]
            assert letter.body == b"bad"
            assert await admin.dead_letters.resend_all("g6") == 1
            again = await consumer.receive()
            assert (again.body, again.topic) == (b"bad", "T6")
            await again.ack()
        assert "g6" in await admin.dead_letters.groups()

    at(name_server, test)


def test_brokers_and_name_servers(name_server: str) -> None:
    async def test(admin: Admin, client: mq.Client) -> None:
        assert (await admin.cluster()).names_by_cluster() == {"DefaultCluster": ["broker-a"]}
        runtime = (await admin.brokers.runtime())["broker-a"]
        assert runtime.version.startswith("V5")
        assert runtime.log_end > 0
        config = (await admin.brokers.config())["broker-a"]
        assert config["brokerName"] == "broker-a"
        await admin.brokers.set_config({"traceOn": "true"})
        assert isinstance((await admin.replicas.status())["broker-a"], MasterStatus)
        assert list((await admin.replicas.members("DefaultCluster", "broker-a")).addresses) == [0]
        await admin.brokers.delay_offsets()
        await admin.brokers.waiting_for_a_time()
        assert await admin.brokers.stats("TOPIC_PUT_NUMS", "nothing") == {"broker-a": None}
        await admin.brokers.forbid_writes("broker-a")
        await admin.brokers.allow_writes("broker-a")
        await admin.brokers.clean_unused_topics()
        await admin.brokers.clean_expired_queues()
        await admin.brokers.delete_expired_log()
        await admin.name_servers.put_value("shop", "colour", "red")
        assert await admin.name_servers.values("shop") == {"colour": "red"}
        assert await admin.name_servers.value("shop", "size") is None
        await admin.name_servers.delete_value("shop", "colour")
        assert name_server in await admin.name_servers.config()
        await client.send("T7", b"x")
        await admin.connections.producers_of_all()

    at(name_server, test)


def test_the_waiting_client(name_server: str) -> None:
    with mq.connect_sync(name_server) as client:
        client.send("T8", "x")
        assert client.receive("T8", group="g8", timeout=20).body == b"x"
        assert client.admin.topics.exists("T8")
