from pathlib import Path

import pytest

from aerobee.client.connection.remote_call import ask, ask_well, tell
from aerobee.errors import Refused
from aerobee.protocol.headers.clients import ConsumerGroupHeader
from aerobee.protocol.headers.offsets import CommitOffsetHeader, QueueHeader
from aerobee.protocol.request_codes import RequestCode
from tests.client_kit import LocalCluster, turn, with_cluster
from tests.consume_kit import Wire


def test_a_refusal_is_an_answer_or_an_error(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            session = client._session
            await Wire(client).make_topic("orders", 1)
            address = (await session.routes.of("orders")).master("broker-a") or ""
            odd = RequestCode.GET_TOPIC_NAME_LIST  # nobody serves it
            assert (await ask(session, address, odd)).code == 3
            with pytest.raises(Refused):
                await ask_well(session, address, odd)
            found = await ask_well(
                session, address, RequestCode.GET_MAX_OFFSET, QueueHeader("orders", 0)
            )
            assert found.ext_fields["offset"] == "0"
            fields = {"topic": "orders", "queueId": "0"}
            assert (await ask(session, address, RequestCode.GET_MAX_OFFSET, fields)).code == 0

    with_cluster(tmp_path, test)


def test_what_is_told_is_not_answered_and_is_done(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            session, wire = client._session, Wire(client)
            await wire.make_topic("orders", 1)
            await wire.send("orders", b"x")
            await wire.send("orders", b"y")
            address = (await session.routes.of("orders")).master("broker-a") or ""
            async with client.consumer("orders", group="g") as consumer:
                header = CommitOffsetHeader("g", "orders", 0, 1)
                await tell(session, address, RequestCode.UPDATE_CONSUMER_OFFSET, header)
                (queue,) = (one for one in consumer.queues if one.topic == "orders")
                while await consumer._calls.committed(queue) != 1:
                    await turn()
                known = await ask(
                    session,
                    address,
                    RequestCode.GET_CONSUMER_LIST_BY_GROUP,
                    ConsumerGroupHeader("g"),
                )
                assert client.id.encode() in bytes(known.body)

    with_cluster(tmp_path, test)
