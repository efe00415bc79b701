from datetime import UTC, datetime
from pathlib import Path

from aerobee.client.core.consume.start_rule import Start, StartRule
from aerobee.client.group.group_requests import GroupRequests
from aerobee.client.group.start_position import find_offset, first_offset
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))


def test_offsets_are_found_by_what_people_call_them(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for _ in range(3):
                await wire.send("orders", b"x")
            calls = GroupRequests(client._session, "g")
            assert await find_offset(calls, QUEUE, 77) == 77
            assert await find_offset(calls, QUEUE, "earliest") == 0
            assert await find_offset(calls, QUEUE, "latest") == 3
            assert await find_offset(calls, QUEUE, datetime(2020, 1, 1, tzinfo=UTC)) == 0
            assert await first_offset(calls, QUEUE, StartRule(Start.LATEST)) == 3
            assert await first_offset(calls, QUEUE, StartRule(Start.EARLIEST)) == 0
            assert await first_offset(calls, QUEUE, StartRule(Start.MOMENT, 2**42)) == 3

    with_cluster(tmp_path, test)
