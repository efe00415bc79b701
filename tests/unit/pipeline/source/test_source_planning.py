import pytest

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.range_pull import DataLoss
from aerobee.pipeline.source.source_options import source_options
from aerobee.pipeline.source.source_planning import SourcePlanning
from aerobee.pipeline.spark.worker_client import kept
from tests.server_kit import Server

A, B = (MessageQueue("Planned", "broker-a", QueueId(number)) for number in (0, 1))


def planner(
    server: Server, *, is_stream: bool = False, cores: int = 2, **more: str
) -> SourcePlanning:
    given = {"nameServer": server.name_server, "topic": "Planned", **more}
    options = source_options(given, is_stream=is_stream)
    return SourcePlanning(options, kept(options.target, 3.0), cores)


@pytest.fixture(scope="module", autouse=True)
def _filled(server: Server) -> None:
    server.send("Planned", [bytes(100)] * 40)


def sizes(planned: list[list[object]]) -> list[int]:
    return [sum(one.size for one in ranges) for ranges in planned]  # type: ignore[attr-defined]


def test_queues_are_packed_into_as_many_partitions_as_there_are_cores(server: Server) -> None:
    plan = planner(server)
    ends = plan.latest()
    assert list(ends.values()) == [10] * 4
    start = dict.fromkeys(ends, 0)
    assert sizes(plan.partitions(start, ends)) == [20, 20]  # type: ignore[arg-type]
    many = planner(server, minPartitions="8")
    assert sizes(many.partitions(start, ends)) == [5] * 8  # type: ignore[arg-type]
    small = planner(server, maxRecordsPerPartition="4")
    assert max(sizes(small.partitions(start, ends))) <= 4  # type: ignore[arg-type]
    assert plan.partitions(ends, ends) == []


def test_a_trigger_goes_as_far_as_messages_and_bytes_allow(server: Server) -> None:
    plan = planner(server, is_stream=True, maxOffsetsPerTrigger="8")
    ends = plan.latest()
    start = dict.fromkeys(ends, 0)
    assert list(plan.limited_end(start, ends).values()) == [2] * 4
    heavy = planner(server, is_stream=True, maxBytesPerTrigger="4000")
    taken = sum(heavy.limited_end(start, ends).values())
    assert 8 <= taken <= 24  # a message of 100 bytes is a record of 200 to 300


def test_a_new_queue_begins_at_its_earliest_and_a_lost_one_is_loss(server: Server) -> None:
    plan = planner(server)
    assert plan.with_new_queues({A: 7}, {A: 10, B: 10}) == {A: 7, B: 0}
    assert plan.without_lost_queues({A: 7}, {A: 10, B: 3}) == {A: 10, B: 3}
    for latest in ({B: 5}, {A: 3, B: 5}):
        with pytest.raises(DataLoss, match="Planned@broker-a:0"):
            plan.without_lost_queues({A: 7, B: 5}, latest)
        careless = planner(server, failOnDataLoss="false")
        assert careless.without_lost_queues({A: 7, B: 5}, latest) == {A: 7, B: 5}


def test_a_group_is_told_how_far_a_query_has_come(server: Server) -> None:
    plan = planner(server, group="shown", startingOffsets="group")
    plan.commit("shown", {A: 4})
    place = source_options(
        {
            "nameServer": server.name_server,
            "topic": "Planned",
            "group": "shown",
            "startingOffsets": "group",
        },
        is_stream=False,
    ).start
    assert plan.at(place)[A] == 4
