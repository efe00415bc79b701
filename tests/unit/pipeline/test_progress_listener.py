import asyncio
import json
from typing import Any

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.progress_listener import GroupCommit, ProgressListener
from aerobee.pipeline.source.source_options import source_options
from aerobee.pipeline.source.stream_offsets import as_dict
from tests.server_kit import Server


class Told:
    """An event, as far as a listener looks at it."""

    def __init__(self, ends: dict[MessageQueue, int]) -> None:
        progress = {"id": "q", "sources": [{"endOffset": as_dict(ends), "latestOffset": None}]}
        self.progress = self
        self.json = json.dumps(progress)


def committed(server: Server, group: str, queue: MessageQueue) -> int | None:
    async def ask() -> int | None:
        async with server.connect() as client:
            return await client.admin.offsets.committed(group, queue)

    return asyncio.run(ask())


def listener(server: Server, **options: str) -> Any:
    given = {"nameServer": server.name_server, "group": "spark-told", "commitOffsets": "true"}
    return ProgressListener(GroupCommit(source_options({**given, **options}, is_stream=True)))


def test_a_group_is_told_how_far_a_query_is_in_the_topics_that_are_its_own(server: Server) -> None:
    server.send("Told", [b"x"] * 8)
    server.send("ToldNot", [b"x"] * 8)
    ours = MessageQueue("Told", "broker-a", QueueId(1))
    other = MessageQueue("ToldNot", "broker-a", QueueId(1))
    for number, options in enumerate(
        ({"topic": "Told"}, {"topicsPattern": "Tol."}, {"assign": '{"Told":{"broker-a":[1]}}'})
    ):
        watch = listener(server, **options)
        watch.onQueryStarted(None)
        watch.onQueryProgress(Told({ours: number, other: 1}))
        watch.onQueryIdle(None)
        watch.onQueryTerminated(None)
        watch.close()
        assert committed(server, "spark-told", ours) == number
        assert committed(server, "spark-told", other) is None
    assert watch.page_port is None
