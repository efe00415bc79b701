import asyncio
import math
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

import aerobee
from aerobee.client.api.client_options import AdminKeywords, ClientKeywords
from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.send.drafts import BatchKeywords, SendKeywords
from aerobee.client.send.producer import ProducerKeywords
from aerobee.errors import Misuse
from aerobee.model.properties import decode_properties
from aerobee.protocol.message.message_batch import decode_batch
from aerobee.protocol.request_codes import RequestCode
from aerobee.testing import Cluster
from aerobee.testing.thread_cluster import ThreadCluster
from tests.client_kit import bodies_of, until
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker

NO_NUMBER = {"price": [1.5, math.nan]}
REFUSAL = r"body\['price'\]\[1\] is nan, which JSON does not have"


def test_every_client_has_an_id_of_its_own_and_opens_without_a_server() -> None:
    async def test() -> None:
        async with aerobee.connect("127.0.0.1:1") as one, aerobee.connect("127.0.0.1:1") as other:
            assert one.id != other.id

    in_loop(test)


@pytest.mark.parametrize(
    ("verb", "keywords"),
    [
        (aerobee.connect, ClientKeywords),
        (aerobee.admin, AdminKeywords),
        (aerobee.Client.send, SendKeywords),
        (aerobee.Client.send_batch, BatchKeywords),
        (aerobee.Client.producer, ProducerKeywords),
        (aerobee.Client.consumer, ConsumerKeywords),
    ],
)
def test_help_names_every_keyword_that_a_verb_takes(verb: object, keywords: type) -> None:
    words = set(re.findall(r"\w+", verb.__doc__ or ""))
    assert set(get_type_hints(keywords)) <= words


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


def _two_keys() -> Iterator[str]:
    """Which can be read once."""
    return iter(["k", "l"])


def _keys_of(broker: ScriptedBroker) -> list[str]:
    """Of the first message of each send."""
    found = []
    for send in broker.sends:
        if send.code == RequestCode.SEND_BATCH_MESSAGE:
            properties = next(iter(decode_batch(bytes(send.body)))).properties
        else:
            properties = decode_properties(send.ext_fields["i"].encode())
        found.append(properties.get("KEYS", ""))
    return found


async def _transacted(client: aerobee.Client, broker: ScriptedBroker) -> None:
    async def check(message: aerobee.Message) -> bool:
        return True

    async with client.transaction("orders", b"x", check=check, group="tx", keys=_two_keys()):
        pass


async def _requested(client: aerobee.Client, broker: ScriptedBroker) -> None:
    asking = asyncio.ensure_future(client.request("orders", b"x", keys=_two_keys(), timeout=600))
    await until(lambda: len(broker.sends) == 2)
    asking.cancel()  # nobody will reply
    await asyncio.wait([asking])


async def _produced(client: aerobee.Client, broker: ScriptedBroker) -> None:
    async with client.producer("orders") as producer:
        await producer.send(b"x", keys=_two_keys())
        producer.send_nowait(b"y", keys=_two_keys())
        producer.send_nowait(b"z")


async def _waited_for(client: aerobee.Client, broker: ScriptedBroker) -> None:
    waiting = aerobee.sync(client)
    await asyncio.to_thread(waiting.send, "orders", b"x", keys=_two_keys())


async def _again_by_hand(client: aerobee.Client, broker: ScriptedBroker) -> None:
    message = aerobee.Outgoing(b"x", keys=_two_keys())
    for _ in range(2):
        await client.send_batch("orders", [message, b"y"])


@pytest.mark.parametrize("has_lane", [False, True])
@pytest.mark.parametrize(
    "send",
    [
        lambda client, _: client.send("orders", b"x", keys=_two_keys()),
        lambda client, _: client.send("orders", {"id": 1}, keys=_two_keys()),
        lambda client, _: client.send("orders", b"x", keys=_two_keys(), order_by="u"),
        lambda client, _: client.send("orders", b"x", keys=_two_keys(), delay=1),
        lambda client, _: client.send_batch("orders", [aerobee.Outgoing(b"x", keys=_two_keys())]),
        _transacted,
        _requested,
        _produced,
        _waited_for,
        _again_by_hand,
    ],
)
def test_keys_that_can_be_read_once_are_on_every_try(
    send: Callable[[aerobee.Client, ScriptedBroker], Awaitable[object]], has_lane: bool
) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            if has_lane:
                await client.send("orders", b"x")
                broker.sends.clear()
            broker.codes = [2, 0, 2, 0, 2, 0]  # every first try fails
            await send(client, broker)
            assert len(broker.sends) >= 2
            assert set(_keys_of(broker)) == {"k l"}

    in_loop(test)


def test_keys_that_can_be_read_once_are_kept_in_a_spill(tmp_path: Path) -> None:
    async def test() -> None:
        async with (
            ScriptedBroker() as broker,
            broker.client() as client,
            client.spill(str(tmp_path / "kept")) as spill,
        ):
            broker.codes = [2] * 4
            kept = await spill.send("orders", b"x", keys=_two_keys(), retries=0)
            assert isinstance(kept, aerobee.Spilled)
            await kept.delivered()
            assert len(broker.sends) == 5
            assert set(_keys_of(broker)) == {"k l"}
        # The thread of the file is told to end, and not waited for.
        await until(lambda: not any("spill" in one.name for one in threading.enumerate()))


def test_a_wrong_keyword_is_refused_with_the_one_that_was_meant_by_every_verb() -> None:
    async def test() -> None:
        with pytest.raises(Misuse, match="a client takes no") as caught:
            aerobee.connect("127.0.0.1:1", credential=None)  # type: ignore[call-arg]
        assert caught.value.hint == "did you mean credentials=?"
        async with aerobee.connect("127.0.0.1:1") as client:
            with pytest.raises(Misuse, match="a producer takes no") as caught:
                client.producer("orders", max_batches=5)  # type: ignore[call-arg]
            assert caught.value.hint == "did you mean max_batch=?"
            for dedup in (None, "P"):
                with pytest.raises(Misuse, match="a batch takes no") as caught:
                    await client.send_batch(
                        "orders",
                        [b"a"],
                        dedup=dedup,
                        timeot=5,  # type: ignore[call-arg]
                    )
                assert caught.value.hint == "did you mean timeout=?"

    in_loop(test)
