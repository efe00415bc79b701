"""A request finds whoever can answer it, and the reply finds whoever asked."""

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, bodies

WAIT_MS = 15_000


@pytest.mark.feature("request-reply")
def test_each_request_gets_its_own_reply(client: Program, ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic, reply="you said: ")
    asked = ["one", "two", "Grüße 订单"]
    replied = client.ask("request", topic=names.topic, body=asked, wait=WAIT_MS)
    assert bodies(replied) == [f"you said: {words}" for words in asked]
    assert bodies(client.received(names.one)) == asked
