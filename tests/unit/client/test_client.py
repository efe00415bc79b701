import re

import pytest

import aerobee
from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.send.drafts import SendKeywords
from aerobee.errors import Misuse
from tests.net_kit import in_loop


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
