"""Changes on their way: a key's in order, a table's to all queues."""

import asyncio

import pytest

from aerobee.pipeline.capture.errors import BrokerGone
from aerobee.pipeline.capture.outlet import PENDING_MAX, Outlet
from tests.capture_kit import queues_of
from tests.server_kit import Server


def test_changes_of_a_key_stay_in_order_and_what_concerns_all_is_everywhere(
    server: Server,
) -> None:
    async def run() -> None:
        async with server.connect() as client:
            outlet = Outlet(client, 3)
            for number in range(300):
                key = str(number % 7)
                body = f"{key} {number:03d}".encode()
                await outlet.send("OutletOrder", body, op="c", key=key, order_by=key)
            await outlet.send_to_all_queues("OutletOrder", b"all", op="t")
            await outlet.send("OutletOrder", b"0 999", op="c", key="0", order_by="0")
            await outlet.drain()
            await outlet.close()

    asyncio.run(run())
    queues = queues_of(server, "OutletOrder")
    assert len(queues) == 3
    for queue in queues:
        assert queue.count(b"all") == 1
        before = queue[: queue.index(b"all")]
        assert len(before) + 1 + (b"0 999" in queue) == len(queue)
        for key in {body[:1] for body in before}:
            own = [body for body in before if body.startswith(key)]
            assert own == sorted(own)
    assert sum(map(len, queues)) == 300 + 3 + 1


def test_a_topic_that_was_there_is_not_made_a_second_time(server: Server) -> None:
    async def run() -> None:
        async with server.connect() as client:
            outlet = Outlet(client, 1, {"OutletGone"})
            with pytest.raises(BrokerGone):
                await outlet.send("OutletGone", b"x", op="c", key="", order_by="k")
            assert not await client.admin.topics.exists("OutletGone")

    asyncio.run(run())


def test_more_than_there_is_room_for_waits(server: Server) -> None:
    async def run() -> None:
        async with server.connect() as client:
            outlet = Outlet(client, 1)
            for _ in range(PENDING_MAX + 10):
                await outlet.send("OutletFull", b"x", op="c", key="", order_by="k")
            await outlet.drain()
            await outlet.close()

    asyncio.run(run())
    assert sum(map(len, queues_of(server, "OutletFull"))) == PENDING_MAX + 10
