import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from aerobee.client.api.message import Message
from aerobee.protocol.bodies.message_queue import queue_key
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.json_text import parse
from tests.client_kit import LocalCluster, until, with_cluster
from tests.consume_kit import Wire, bodies, take


async def address_of(wire: Wire, topic: str = "orders") -> str:
    address = (await wire._session.routes.of(topic)).master("broker-a")
    assert address is not None
    return address


@pytest.mark.parametrize("is_told_by_pulls", ["true", "false"])
def test_an_administrators_reset_is_followed(tmp_path: Path, is_told_by_pulls: str) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, cluster.client() as admin:
            wire = Wire(admin)
            await wire.make_topic("orders", 1)
            for number in range(4):
                await wire.send("orders", b"%d" % number)
            async with client.consumer("orders", group="g", start="earliest", poll=0.2) as consumer:
                await take(consumer, 4)
                await consumer.commit()
                answer = await wire.ask(
                    await address_of(wire),
                    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
                    {"topic": "orders", "group": "g", "timestamp": 0, "isForce": "true"},
                )
                assert answer.code == 0, answer.remark
                assert bodies(await take(consumer, 4)) == [b"0", b"1", b"2", b"3"]

    with_cluster(tmp_path, test, useServerSideResetOffset=is_told_by_pulls)


def test_a_consumer_tells_what_it_holds_and_what_it_does(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, cluster.client() as admin:
            wire = Wire(admin)
            await wire.make_topic("orders", 1)
            await wire.send("orders", b"x")
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                message = await consumer.receive()
                asked = {"consumerGroup": "g", "clientId": client.id, "jstackEnable": "true"}
                answer = await wire.ask(
                    await address_of(wire), RequestCode.GET_CONSUMER_RUNNING_INFO, asked
                )
                assert answer.code == 0, answer.remark
                said = cast("dict[str, Any]", parse(bytes(answer.body)))
                held = said["mqTable"][queue_key(message.queue)]
                assert (held["commitOffset"], held["cachedMsgCount"]) == (0, 1)
                assert "pulls of orders" in said["jstack"]
                await message.ack()
                answer = await wire.ask(
                    await address_of(wire),
                    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
                    {"group": "g", "topic": "orders", "clientAddr": client.id},
                )
                said = cast("dict[str, Any]", parse(bytes(answer.body)))
                assert said["consumerTable"][client.id][queue_key(message.queue)] == 1

    with_cluster(tmp_path, test)


def test_a_message_is_consumed_at_an_administrators_wish(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, cluster.client() as admin:
            wire = Wire(admin)
            await wire.make_topic("orders", 1)
            await wire.send("orders", b"x")
            seen: list[Message] = []

            async def handle(message: Message) -> None:
                seen.append(message)

            async with client.consumer("orders", group="g", start="earliest") as consumer:
                running = asyncio.ensure_future(consumer.run(handle))
                await until(lambda: len(seen) == 1)
                answer = await wire.ask(
                    await address_of(wire),
                    RequestCode.CONSUME_MESSAGE_DIRECTLY,
                    {
                        "consumerGroup": "g",
                        "clientId": client.id,
                        "msgId": seen[0].offset_id,
                        "brokerName": "broker-a",
                        "topic": "orders",
                    },
                )
                assert answer.code == 0, answer.remark
                assert b'"consumeResult":"CR_SUCCESS"' in bytes(answer.body)
                assert bodies(seen) == [b"x", b"x"]
            await running

    with_cluster(tmp_path, test)
