import math
import re
from collections.abc import Awaitable, Callable

import pytest

import aerobee
from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.send.drafts import SendKeywords
from aerobee.errors import Misuse
from aerobee.testing import Cluster
from aerobee.testing.thread_cluster import ThreadCluster
from tests.client_kit import bodies_of
from tests.net_kit import in_loop

NO_NUMBER = {"price": [1.5, math.nan]}
REFUSAL = r"body\['price'\]\[1\] is nan, which JSON does not have"


def test_every_client_has_an_id_of_its_own_and_opens_without_a_server() -> None:
    async def test() -> None:
        async with aerobee.connect("127.0.0.1:1") as one, aerobee.connect("127.0.0.1:1") as other:
            assert one.id != other.id

    in_loop(test)


@pytest.mark.parametrize(
    ("verb", "keywords"),
    [(aerobee.Client.send, SendKeywords), (aerobee.Client.consumer, ConsumerKeywords)],
)
def test_help_names_every_keyword_that_a_verb_takes(verb: object, keywords: type) -> None:
    words = set(re.findall(r"\w+", verb.__doc__ or ""))
    assert set(keywords.__annotations__) <= words


@pytest.mark.parametrize("body", [b"abc", "abc", {"id": 1}])
def test_one_body_is_no_batch(body: bytes | str | dict[str, int]) -> None:
    async def test() -> None:
        async with aerobee.connect("127.0.0.1:1") as client:
            with pytest.raises(Misuse, match="a batch that is one body"):
                await client.send_batch("orders", body)

    in_loop(test)


async def _in_a_transaction(client: aerobee.Client) -> None:
    async with client.transaction("orders", NO_NUMBER, check=None, group="g"):
        pass


async def _by_a_producer(client: aerobee.Client) -> None:
    async with client.producer("orders") as producer:
        producer.send_nowait(NO_NUMBER)


async def _as_a_reply(client: aerobee.Client) -> None:
    await client.send("asked", b"x")
    message = await client.receive("asked", group="g", timeout=5)
    message.properties.update(CLUSTER="c", CORRELATION_ID="1", REPLY_TO_CLIENT="2")
    await client.reply(message, NO_NUMBER)


@pytest.mark.parametrize(
    "send",
    [
        lambda client: client.send("orders", NO_NUMBER),
        lambda client: client.send("orders", NO_NUMBER, delay=60),
        lambda client: client.send("orders", NO_NUMBER, dedup="billing"),
        lambda client: client.send_oneway("orders", NO_NUMBER),
        lambda client: client.send_batch("orders", [b"x", NO_NUMBER]),
        lambda client: client.send_batch("orders", [aerobee.Outgoing(NO_NUMBER, tag="a")]),
        lambda client: client.send_batch("orders", [NO_NUMBER], dedup="billing"),
        lambda client: client.request("orders", NO_NUMBER),
        _in_a_transaction,
        _by_a_producer,
        _as_a_reply,
    ],
)
def test_no_verb_sends_a_number_that_json_does_not_have(
    send: Callable[[aerobee.Client], Awaitable[object]],
) -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await cluster.client.admin.topics.create("orders", queues=1)
            with pytest.raises(Misuse, match=REFUSAL):
                await send(cluster.client)
            assert await bodies_of(cluster.client, "orders") == []

    in_loop(test)


def test_the_waiting_client_sends_none_either() -> None:
    with ThreadCluster() as cluster, pytest.raises(Misuse, match=REFUSAL):
        cluster.client.send("orders", NO_NUMBER)


def test_what_other_senders_write_for_no_number_is_read() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await cluster.client.send("orders", b'{"x": [NaN, -Infinity]}')
            message = await cluster.client.receive("orders", group="g", timeout=5)
            assert str(message.json()) == "{'x': [nan, -inf]}"

    in_loop(test)
