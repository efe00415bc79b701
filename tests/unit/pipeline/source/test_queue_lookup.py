import time
from collections.abc import Mapping

import pytest

from aerobee.errors import Misuse, TopicNotFound
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.queue_lookup import QueueLookup
from aerobee.pipeline.source.source_options import StartPlace, source_options
from aerobee.pipeline.source.stream_offsets import EARLIEST, LATEST
from aerobee.pipeline.spark.worker_client import kept
from tests.server_kit import Server


class Asking:
    def __init__(self, server: Server, **options: str) -> None:
        given = {"nameServer": server.name_server, **options}
        read = source_options(given, is_stream=False)
        self.blocking = kept(read.target, 3.0)
        self.queues = QueueLookup(self.blocking.session, read)

    def found(self) -> list[MessageQueue]:
        return self.blocking.run(self.queues.found())

    def at(self, place: StartPlace) -> list[int]:
        found: Mapping[MessageQueue, int] = self.blocking.run(self.queues.at(self.found(), place))
        return [found[key] for key in sorted(found)]


def test_queues_are_found_by_name_by_pattern_and_as_assigned(server: Server) -> None:
    server.send("QueuesA", [b"x"])
    server.send("QueuesB", [b"x"])
    named = [
        MessageQueue(topic, "broker-a", QueueId(number))
        for topic in ("QueuesA", "QueuesB")
        for number in range(4)
    ]
    assert Asking(server, topics="QueuesB,QueuesA").found() == named
    assert Asking(server, topicsPattern="Queues.").found() == named
    assert Asking(server, assign='{"QueuesA":{"broker-a":[2]}}').found() == [
        MessageQueue("QueuesA", "broker-a", QueueId(2))
    ]
    for way in ({"topic": "Nowhere"}, {"topicsPattern": "Nowhere.*"}):
        with pytest.raises(TopicNotFound, match="Nowhere"):
            Asking(server, **way).found()


def test_places_are_found_by_name_by_number_by_time_and_by_group(server: Server) -> None:
    server.send("Places", [b"%d" % number for number in range(8)])
    between_ms = int(time.time() * 1000) + 1
    asking = Asking(server, topic="Places", group="g")
    assert asking.at(StartPlace(EARLIEST)) == [0, 0, 0, 0]
    assert asking.at(StartPlace(LATEST)) == [2, 2, 2, 2]
    first, *others = asking.found()
    assert asking.at(StartPlace(LATEST, offsets={first: 1})) == [1, 2, 2, 2]
    assert asking.at(StartPlace(EARLIEST, timestamp_ms=1)) == [0, 0, 0, 0]
    assert asking.at(StartPlace(EARLIEST, timestamp_ms=between_ms)) == [2, 2, 2, 2]
    assert asking.at(StartPlace(EARLIEST, timestamps_ms={first: between_ms})) == [2, 0, 0, 0]
    with pytest.raises(Misuse, match="no message of"):
        asking.at(StartPlace(EARLIEST, timestamp_ms=between_ms, is_late_refused=True))
    assert asking.at(StartPlace(LATEST, is_group=True)) == [2, 2, 2, 2]
    asking.blocking.run(asking.queues.commit("g", {first: 1}))
    assert asking.at(StartPlace(LATEST, is_group=True)) == [1, 2, 2, 2]
    assert len(others) == 3
