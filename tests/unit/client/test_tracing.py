from pathlib import Path

import pytest

from aerobee.client.client import connect
from aerobee.client.tracing import WAITING_MAX
from aerobee.errors import SendFailed
from aerobee.model.names import TRACE_TOPIC
from tests.client_kit import LocalCluster, bodies_of, with_cluster


def with_trace_topic(tmp_path: Path, test: object) -> None:
    with_cluster(tmp_path, test, traceTopicEnable="true")  # type: ignore[arg-type]


def test_what_was_sent_is_found_in_the_trace_topic_when_the_client_has_closed(
    tmp_path: Path,
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            plain = await client.send("t", b"12345", tag="a", keys=["k1", "k2"], group="g")
            delayed = await client.send("t", b"x", delay=60)
            with pytest.raises(SendFailed):
                await client.send("SCHEDULE_TOPIC_XXXX", b"x", retries=0)
            assert client._special._tracing is not None
            await client._special._tracing.flush()  # and what it sends is not traced in turn
        async with cluster.client() as client:
            (body,) = await bodies_of(client, TRACE_TOPIC)
            records = [record.split("\x01") for record in body.decode().split("\x02")[:-1]]
            assert [record[0] for record in records] == ["Pub"] * 3
            first, second, failed = records
            assert first[3:8] == ["g", "t", plain.message_id, "a", "k1 k2"]
            assert (first[9], first[11:]) == ("5", ["0", plain.offset_id, "true"])
            assert (second[5], second[11]) == (delayed.message_id, "3")
            assert (failed[4], failed[12:]) == ("SCHEDULE_TOPIC_XXXX", ["", "false"])
            (found,) = await client.admin.messages.by_key(TRACE_TOPIC, "k2")
            assert found.body == body

    with_trace_topic(tmp_path, test)


def test_nothing_is_traced_unless_asked_for(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("t", b"x")
        async with cluster.client() as client:
            assert await bodies_of(client, TRACE_TOPIC) == []

    with_trace_topic(tmp_path, test)


def test_while_no_broker_takes_traces_the_oldest_are_dropped_and_counted(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            tracing = client._special._tracing
            assert tracing is not None
            draft = client._sending.drafts.draft("t", b"x")
            for _ in range(WAITING_MAX + 5):
                tracing.sent(draft, "g", None, 0)
            assert tracing.dropped == 5

    with_trace_topic(tmp_path, test)
