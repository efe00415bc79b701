"""A topic that is deleted and made again at once, over sockets and on a disk: no send to it is
refused, and it has its own messages from offset 0 on, and no others.
"""

from pathlib import Path

import pytest

from aerobee.client.admin.admin import admin
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import put
from tests.net_kit import in_loop

ROUNDS = 36
QUEUES = [MessageQueue("Orders", "broker-a", QueueId(number)) for number in range(2)]


@pytest.mark.parametrize("flush", ["ASYNC_FLUSH", "SYNC_FLUSH"])
def test_a_topic_that_is_made_again_at_once_takes_messages_from_0_on(
    flush: str, tmp_path: Path
) -> None:
    async def run() -> None:
        settings = {"flushDiskType": flush}
        async with (
            Cluster(folder=tmp_path, settings=settings) as cluster,
            admin(cluster.address, timeout=60, connect_timeout=60) as tool,
        ):

            async def bodies(queue: MessageQueue) -> list[tuple[int, bytes]]:
                return [
                    (message.queue_offset, bytes(message.body))
                    async for message in tool.queues.read(queue, start=0)
                ]

            for number in range(ROUNDS):
                await tool.topics.create("Orders", queues=2)
                # Each is one request, which nobody repeats.
                for queue in QUEUES[: 1 + number % 2]:
                    for part in range(3):
                        await put(cluster.client, queue, b"%d %d" % (number, part))
                own = [(part, b"%d %d" % (number, part)) for part in range(3)]
                expected = [own, own if number % 2 else []]
                assert [await bodies(queue) for queue in QUEUES] == expected, number
                if number < ROUNDS - 1:
                    await tool.topics.delete("Orders")
                    assert not await tool.topics.exists("Orders")
            await cluster.stop_broker("broker-a")
            await cluster.start_broker("broker-a")
            assert [await bodies(queue) for queue in QUEUES] == expected

    in_loop(run)
