"""Unit tests of what a consumer asks about its filter before it starts."""

import json

import pytest

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from tests.captured import captured
from tests.consumer_kit import ConsumerKit


def asked(kit: ConsumerKit, expression: str, kind: str = "SQL92") -> RemotingCommand:
    said = {"topic": "T", "subString": expression, "expressionType": kind}
    body = json.dumps({"clientId": "c", "group": "g", "subscriptionData": said}).encode()
    return kit.ask(46, body=body)


def test_a_filter_by_tag_may_start_wherever() -> None:
    for config in (BrokerConfig(), BrokerConfig(allows_sql=False)):
        assert asked(ConsumerKit(config), "a || b", "TAG").code == 0
        assert asked(ConsumerKit(config), "*", "").code == 0


def test_what_real_clients_ask_is_answered_as_apache_does() -> None:
    for command, recorded in zip(
        captured("CHECK_CLIENT_CONFIG", "request"),
        captured("CHECK_CLIENT_CONFIG", "response"),
        strict=True,
    ):
        answer = ConsumerKit().ask(46, body=bytes(command.body))
        assert (answer.code, bytes(answer.body)) == (recorded.code, bytes(recorded.body))
        refused = ConsumerKit(BrokerConfig(allows_sql=False)).ask(46, body=bytes(command.body))
        assert (refused.code, refused.remark) == (
            1,
            "The broker does not support consumer to filter message by SQL92",
        )


def test_a_wrong_expression_is_refused_with_its_place_and_a_hint() -> None:
    answer = asked(ConsumerKit(), "price > 40 AND name LIKE 'x%'")
    assert answer.code == 23
    assert "at character 21, \"LIKE 'x%'\"" in answer.remark
    assert "CONTAINS" in answer.remark


@pytest.mark.parametrize("kind", ["sql", "CLASS", "SQL92 "])
def test_a_filter_of_an_unknown_kind_is_refused(kind: str) -> None:
    answer = asked(ConsumerKit(), "a = 1", kind)
    assert (answer.code, kind in answer.remark) == (1, True)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"subscriptionData":{"topic":7}}'])
def test_a_question_that_is_none_is_refused(body: bytes) -> None:
    assert ConsumerKit().ask(46, body=body).code == 1
