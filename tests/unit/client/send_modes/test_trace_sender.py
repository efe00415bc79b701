from pathlib import Path
from typing import Literal

import pytest

from aerobee.client.api.message import Message
from aerobee.client.client import Client, connect
from aerobee.client.core.send.outgoing import Outgoing
from aerobee.client.core.trace_reading import read_steps, steps_of
from aerobee.errors import SendFailed
from aerobee.model.names import TRACE_TOPIC
from tests.client_kit import LocalCluster, bodies_of, until, with_cluster


async def records_of(client: Client) -> list[list[str]]:
    """All that was traced, oldest first."""
    found = b"".join(await bodies_of(client, TRACE_TOPIC)).decode()
    return sorted(
        (record.split("\x01") for record in found.split("\x02")[:-1]),
        key=lambda fields: ["Pub", "SubBefore", "SubAfter", "EndTransaction"].index(fields[0]),
    )


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


def test_a_batch_has_one_record_that_each_of_its_messages_leads_to(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            sent = await client.send_batch(
                "t", [Outgoing(b"a", keys="k1", tag="x"), Outgoing(b"b", keys="k2", tag="x")]
            )
        async with cluster.client() as client:
            (record,) = await records_of(client)
            ids = ",".join(one.message_id for one in sent)
            assert record[:1] + record[4:8] == ["Pub", "t", ids, "x", "k1 k2"]
            assert record[11:] == ["0", ",".join(one.offset_id for one in sent), "true"]
            for key in (sent[1].message_id, "k2", ids):
                (found,) = await client.admin.messages.by_key(TRACE_TOPIC, key)
            (step,) = steps_of(sent[1].message_id, read_steps(found.body))
            assert (step.kind, step.is_success, step.note[-10:]) == ("sent", True, "in a batch")

    with_trace_topic(tmp_path, test)


def test_a_batch_as_large_as_may_be_is_found_by_its_last_message(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            sent = await client.send_batch("t", [b"x"] * 500)
        async with cluster.client() as client:
            (found,) = await client.admin.messages.by_key(TRACE_TOPIC, sent[499].message_id)
            assert len(steps_of(sent[499].message_id, read_steps(found.body))) == 1

    with_trace_topic(tmp_path, test)


@pytest.mark.parametrize("mode", ["pull", "pop"])
def test_what_was_consumed_leaves_two_records_of_one_request(
    tmp_path: Path, mode: Literal["pull", "pop"]
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            good = await client.send("t", b"good", keys=["k"])
            bad = await client.send("t", b"bad")
            seen: list[bytes] = []

            async def handle(message: Message) -> None:
                seen.append(message.body)
                if message.body == b"bad":
                    raise ValueError("no")

            consumer = client.consumer("t", group="g", start="earliest", mode=mode)
            async with consumer:
                client._session.spawn(consumer.run(handle), "handling")
                await until(lambda: len(seen) == 2)
        async with cluster.client() as client:
            records = await records_of(client)
            before = {one[5]: one for one in records if one[0] == "SubBefore"}
            after = {one[2]: one for one in records if one[0] == "SubAfter"}
            assert len(records) == 6
            assert before[good.message_id][2:4] == ["DefaultRegion", "g"]
            assert before[good.message_id][6:] == ["0", "k"]
            assert after[good.message_id][4:7] == ["true", "k", "0"]
            assert after[bad.message_id][4:7] == ["false", "null", "4"]
            assert before[bad.message_id][6:] == ["0", "null"]
            assert after[bad.message_id][8] == "g"
            for one in (good.message_id, bad.message_id):
                assert after[one][1] == before[one][4]
            assert before[good.message_id][4] != before[bad.message_id][4]

    with_trace_topic(tmp_path, test)


def test_messages_of_a_broker_that_wants_no_traces_leave_none(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            await client.send("t", b"x")
            async with client.consumer("t", group="g", start="earliest") as consumer:
                await (await consumer.receive()).ack()
            assert client._session.traces is not None
            assert client._session.traces.take_all() == []

    with_cluster(tmp_path, test, traceTopicEnable="true", traceOn="false")


def test_the_end_of_a_transaction_is_a_record_of_its_own(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect(cluster.address, trace=True) as client:
            seen = client.transaction("t", b"x", keys="k", check=lambda _: None, group="tx")
            async with seen:
                pass
            unseen = client.transaction("t", b"x", group="tx")
            with pytest.raises(ValueError, match="no"):
                async with unseen:
                    raise ValueError("no")
        async with cluster.client() as client:
            first, second = (one for one in await records_of(client) if one[0][0] == "E")
            assert first[3:8] == ["tx", "t", seen.message_id, "null", "k"]
            assert first[9:] == ["2", seen.message_id, "COMMIT_MESSAGE", "false"]
            assert (second[5], second[11]) == (unseen.message_id, "ROLLBACK_MESSAGE")

    with_trace_topic(tmp_path, test)
