from pathlib import Path

import pytest

from aerobee.client.api.client_options import ClientOptions
from aerobee.client.connection.session import Session
from aerobee.client.core.send.latency_faults import LATENCY_TABLE
from aerobee.client.send.delivery import Delivery
from aerobee.client.send.fast_send_lanes import FastSendLanes
from aerobee.model.access import Credentials
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, with_cluster
from tests.net_kit import in_loop


def test_a_lane_is_open_once_the_route_is_known_and_until_it_changes(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = Session(ClientOptions((cluster.address,), namespace="shop"))
        await session.start()
        lanes = FastSendLanes(session, Delivery(session).command)
        lanes.open("orders", "shop%orders")
        assert lanes.find("orders") is None
        route = await session.routes.of("shop%orders", may_be_new=True)
        lanes.open("orders", "shop%orders")
        lane = lanes.find("orders")
        assert lane is not None
        lanes.open("orders", "shop%orders")
        assert lanes.find("orders") is lane
        assert lane.send(b"x", b"", 1.0) is None  # no line yet
        address = route.master("broker-a")
        assert address is not None
        await session.connections.to(address)
        waiter = lane.send(b"x", b"", 1.0)
        assert waiter is not None
        receipt = await waiter.answer
        assert receipt.queue.topic == "orders"
        await session.close()

    with_cluster(tmp_path, test)


def test_a_lane_goes_on_behind_the_queue_that_was_used_last(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = Session(ClientOptions((cluster.address,)))
        await session.start()
        route = await session.routes.of("orders", may_be_new=True)
        address = route.master("broker-a")
        assert address is not None
        await session.connections.to(address)
        for last in route.writable:
            lanes = FastSendLanes(session, Delivery(session).command)
            lanes.open("orders", "orders", last)
            lane = lanes.find("orders")
            assert lane is not None
            waiter = lane.send(b"x", b"", 3.0)
            assert waiter is not None
            sent = await waiter.answer
            assert sent.queue.queue_id == (last.queue_id + 1) % len(route.writable)
        await session.close()

    with_cluster(tmp_path, test)


def test_a_change_of_the_route_forgets_the_lane(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = Session(ClientOptions((cluster.address,), route_seconds=1000))
        await session.start()
        lanes = FastSendLanes(session, Delivery(session).command)
        await session.routes.of("orders", may_be_new=True)
        lanes.open("orders", "orders")
        await cluster.stop_broker("broker-b")
        await session.routes.refresh("orders", may_be_new=True)
        assert lanes.find("orders") is None
        await session.close()

    with_cluster(tmp_path, test, brokers=2)


@pytest.mark.parametrize(
    "options",
    [
        {"credentials": Credentials("key", "secret")},
        {"latency_table": LATENCY_TABLE},
        {"max_message_bytes": 1000},
    ],
    ids=lambda options: next(iter(options)),
)
def test_there_is_no_lane_where_every_request_takes_thought(
    tmp_path: Path, options: dict[str, object]
) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = Session(ClientOptions((cluster.address,), **options))  # type: ignore[arg-type]
        await session.start()
        lanes = FastSendLanes(session, Delivery(session).command)
        await session.routes.of("orders", may_be_new=True)
        lanes.open("orders", "orders")
        assert lanes.find("orders") is None
        await session.close()

    with_cluster(tmp_path, test)


def test_a_queue_is_shown_without_the_namespace() -> None:
    async def test() -> None:
        session = Session(ClientOptions(("127.0.0.1:1",), namespace="shop"))
        lanes = FastSendLanes(session, Delivery(session).command)
        queue = MessageQueue("shop%orders", "a", QueueId(1))
        assert lanes.shown(queue) == MessageQueue("orders", "a", QueueId(1))

    in_loop(test)
