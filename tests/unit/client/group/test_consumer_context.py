from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from aerobee.client.api.consumer_options import Mode, StartAt, consumer_options
from aerobee.client.client import connect
from aerobee.client.consumer.consumer import Consumer
from aerobee.client.consumer.reader import Reader
from aerobee.client.group.consumer_context import consumer_context, offsets_of, subscriptions_of
from aerobee.client.group.offset_stores import BrokerOffsetStore, LocalOffsetStore
from aerobee.errors import Refused
from aerobee.testing import Cluster
from tests.client_kit import LocalCluster, with_cluster
from tests.net_kit import in_loop
from tests.received_kit import received


def test_on_the_wire_names_are_in_their_namespace(tmp_path: Path) -> None:
    async def test() -> None:
        session = connect("localhost", namespace="shop")._session
        made = consumer_context(session, consumer_options("orders", group="g", tags="a"))
        assert made.calls.group == "shop%g"
        assert [(one.topic, one.expression) for one in subscriptions_of(made)] == [
            ("shop%orders", "a"),
            ("%RETRY%shop%g", "*"),
        ]
        assert isinstance(offsets_of(made), BrokerOffsetStore)

    in_loop(test)


def test_a_broadcasting_consumer_has_no_retries_and_its_own_offsets(tmp_path: Path) -> None:
    async def test() -> None:
        session = connect("localhost")._session
        options = consumer_options(
            "orders", group="g", model="broadcasting", offsets_folder=tmp_path
        )
        made = consumer_context(session, options)
        assert [one.topic for one in subscriptions_of(made)] == ["orders"]
        assert isinstance(offsets_of(made), LocalOffsetStore)

    in_loop(test)


def test_lanes_are_queues_or_keys() -> None:
    async def test() -> None:
        session = connect("localhost")._session
        by_queue = consumer_context(session, consumer_options("T", group="g", order="queue")).inbox
        by_queue.put(received(0, 1, holder="q"))
        assert (by_queue.take_nowait() is not None, by_queue.take_nowait()) == (True, None)
        by_key = consumer_context(session, consumer_options("T", group="g", order="key")).inbox
        for number, sharding in enumerate(("a", "a", "b")):
            by_key.put(received(number, holder="q", __SHARDINGKEY=sharding))
        by_key.put(received(3, 4, holder="q", KEYS="k other"))
        by_key.put(received(5, 6, holder="q"))
        out = []
        while (message := by_key.take_nowait()) is not None:
            out.append(message.offset)
        assert out == [0, 2, 3, 5, 6]

    in_loop(test)


@pytest.mark.parametrize("mode", ["pull", "pop", "reader"])
def test_an_expression_that_no_broker_understands_is_refused_at_once(
    tmp_path: Path, mode: str
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("orders", b"x")

            def consuming(sql: str) -> Consumer | Reader:
                if mode == "reader":
                    return client.reader("orders", sql=sql)
                return client.consumer("orders", group="g", sql=sql, mode=cast("Mode", mode))

            with pytest.raises(Refused, match="cannot filter orders by 'n >>> 1'") as caught:
                await consuming("n >>> 1").open()
            assert caught.value.hint == "mend the expression"
            async with consuming("n > 1"):
                pass

    with_cluster(tmp_path, test)


def test_a_broker_that_does_not_filter_by_sql_says_so_at_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("orders", b"x")
            with pytest.raises(Refused, match="does not support") as caught:
                await client.consumer("orders", group="g", sql="n > 1").open()
            assert "enablePropertyFilter" in str(caught.value.hint)
            # Nobody can be asked about a topic that is not there yet.
            async with client.consumer("later", group="g", sql="n > 1"):
                pass

    with_cluster(tmp_path, test, enablePropertyFilter="false")


@pytest.mark.parametrize(("start", "first"), [("moment", b"new"), ("latest", b"old")])
def test_a_new_group_begins_at_its_moment_also_in_a_young_queue(
    tmp_path: Path, start: str, first: bytes
) -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            client = cluster.client
            await client.admin.topics.create("orders", queues=1)
            await client.send("orders", b"old")
            cluster.clock.advance(60)
            moment = datetime.fromtimestamp(cluster.clock.now().wall_ms / 1000, UTC)
            await client.send("orders", b"new")
            at = moment if start == "moment" else "latest"
            async with client.consumer("orders", group="g", start=cast("StartAt", at)) as consumer:
                message = await consumer.receive()
                assert message.body == first
                await message.ack()

    in_loop(test)
