from pathlib import Path

from aerobee.client.client import connect
from aerobee.client.core.trace_reading import TraceStep, read_steps
from aerobee.client.core.trace_records import TraceBuffer, bodies
from tests.client_kit import LocalCluster, with_cluster


def steps_in(records: TraceBuffer | None) -> list[TraceStep]:
    assert records is not None
    return [step for body in bodies(records.take_all()) for step in read_steps(body.body)]


def test_a_message_given_back_begins_again_and_ends_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            await client.send("t", b"x")
            steps_in(client._session.traces)
            async with client.consumer("t", group="g", start="earliest") as consumer:
                message = await consumer.receive()
                message.held_by().give_back(message)
                again = await consumer.receive()
                assert again is message
                await again.ack()
                await again.nack()  # too late to be a failure
            first, second, ended = steps_in(client._session.traces)
            assert [first.kind, second.kind] == ["received", "received"]
            assert first.request != second.request
            assert (ended.kind, ended.is_success) == ("consumed", True)
            assert ended.request == second.request

    with_cluster(tmp_path, test)


def test_a_reader_is_no_consumer_and_leaves_no_trace(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            await client.send("t", b"x")
            steps_in(client._session.traces)
            async with client.reader("t", start="earliest") as reader:
                async for _ in reader:
                    break
            assert steps_in(client._session.traces) == []

    with_cluster(tmp_path, test)


def test_each_of_many_leaves_a_trace_of_its_own(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            await client.send_batch("t", [b"x", b"y"])
            steps_in(client._session.traces)
            async with client.consumer("t", group="g", start="earliest", grace=0.01) as consumer:
                async with (await consumer.receive_many(9)).process() as batch:
                    assert len(batch) == 2
                assert consumer._inbox.out == 0
                steps = steps_in(client._session.traces)
            assert [step.kind for step in steps] == ["received"] * 2 + ["consumed"] * 2
            ids = [message.message_id for message in batch]
            assert [step.message_id for step in steps] == ids * 2
            assert [step.is_success for step in steps] == [None, None, True, True]

    with_cluster(tmp_path, test)
