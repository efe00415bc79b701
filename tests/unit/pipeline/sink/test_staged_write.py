from pathlib import Path

import pytest

from aerobee.errors import Misuse, RemoteAnswer
from aerobee.pipeline.sink.partition_writer import PartitionWriter, WriteTask, write_partition
from aerobee.pipeline.sink.queue_plan import QueuePlan
from aerobee.pipeline.sink.staged_write import StagedRows, publish, staging_plan
from aerobee.pipeline.sink.write_round import Succeeded
from aerobee.pipeline.spark.worker_client import WorkerClient, kept
from tests.client_kit import LocalCluster, session_of, with_cluster
from tests.server_kit import Server
from tests.sink_kit import all_values, batch, numbered, options_of, stored


def staged(
    server: Server, topic: str, task: WriteTask, batches: list[object], **more: str
) -> StagedRows:
    options = options_of(server, topic, deliveryGuarantee="transactional", **more)
    found = write_partition(options, task, batches).staged
    assert found is not None
    return found


def publish_all(server: Server, *written: StagedRows) -> None:
    options = options_of(server, "x")
    blocking = WorkerClient(options.target)
    try:
        blocking.run(publish(blocking.session, written, 10.0))
    finally:
        blocking.close()


def numbers(*rows: range) -> list[bytes]:
    return sorted(str(row).encode() for one in rows for row in one)


def test_rows_are_seen_when_their_round_is_published_and_not_before(server: Server) -> None:
    server.create("StagedRows", queues=3)
    tasks = [
        staged(server, "StagedRows", WriteTask("s", 4, part), numbered(300, start=300 * part))
        for part in range(2)
    ]
    assert stored(server, "StagedRows") == {}
    publish_all(server, *tasks)
    assert all_values(server, "StagedRows") == numbers(range(600))
    publish_all(server, *tasks)
    assert all_values(server, "StagedRows") == numbers(range(600))


def test_a_round_that_is_done_again_may_have_its_rows_in_another_order(server: Server) -> None:
    server.create("StagedAgain", queues=3)
    task = WriteTask("again-t", 4, 0)
    staged(server, "StagedAgain", task, numbered(100, start=1000))  # nobody publishes these
    first = staged(server, "StagedAgain", task, numbered(200, 50))
    publish_all(server, first)
    second = staged(server, "StagedAgain", task, list(reversed(numbered(200, 50))))
    publish_all(server, second)
    assert all_values(server, "StagedAgain") == numbers(range(200))
    following = staged(server, "StagedAgain", WriteTask("again-t", 5, 0), numbered(10, start=200))
    publish_all(server, following)
    assert all_values(server, "StagedAgain") == numbers(range(210))
    with pytest.raises(Succeeded, match="a later batch is published"):
        publish_all(server, second)


def test_rows_keep_their_order_in_each_queue(server: Server) -> None:
    server.create("StagedOrder", queues=3)
    keys = [f"k{row % 7}" for row in range(400)]
    rows = batch((str(row) for row in range(400)), orderingKey=keys)
    one = staged(server, "StagedOrder", WriteTask("order", 0, 0), [rows], requestBytes="900")
    assert len(one.places) > 10
    publish_all(server, one)
    for values in stored(server, "StagedOrder").values():
        assert [int(value) for value in values] == sorted(int(value) for value in values)
    assert all_values(server, "StagedOrder") == numbers(range(400))


def test_a_write_of_no_rows_publishes_nothing(server: Server) -> None:
    one = staged(server, "StagedNone", WriteTask("none", 0, 0), [])
    assert one.places == ()
    publish_all(server, one)


def test_an_attempt_that_failed_leaves_nothing_to_be_seen(server: Server) -> None:
    server.create("StagedCut", queues=2)
    options = options_of(server, "StagedCut", deliveryGuarantee="transactional", requestBytes="500")
    cut = PartitionWriter(kept(options.target, 3.0), options, WriteTask("cut-t", 0, 0))
    for rows in numbered(300):
        cut.take(rows)
    cut.abandon()
    assert stored(server, "StagedCut") == {}


def test_what_is_not_staged_cannot_be_published(server: Server) -> None:
    server.create("StagedNot", queues=1)
    one = StagedRows("not", 0, 0, "StagedNot", "broker-a", (1, 2))
    with pytest.raises(RemoteAnswer, match="no batch is staged at 1"):
        publish_all(server, one)
    other = StagedRows("not", 0, 1, "StagedNot", "broker-b", (1, 2))
    with pytest.raises(Misuse, match="different brokers"):
        publish_all(server, one, other)


def test_a_round_is_published_by_one_broker_which_is_named_if_there_are_more(
    tmp_path: Path,
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("Both", queues=2)
            await client.admin.topics.create("One", queues=2, on="broker-b")
            session = session_of(client)
            assert await staging_plan(session, "One", "") == QueuePlan((("broker-b", 2),))
            assert await staging_plan(session, "Both", "broker-a") == QueuePlan((("broker-a", 2),))
            for name in ("", "broker-x"):
                with pytest.raises(Misuse, match="Both is on broker-a, broker-b"):
                    await staging_plan(session, "Both", name)

    with_cluster(tmp_path, test, brokers=2)
