import re
from typing import get_type_hints

import pytest

import aerobee
from aerobee.client.api.client_options import AdminKeywords, ClientKeywords
from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.send.drafts import BatchKeywords, SendKeywords
from aerobee.client.send.producer import ProducerKeywords
from aerobee.errors import Misuse
from tests.net_kit import in_loop


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
