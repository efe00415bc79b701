"""Unit tests of what a subscription lets through."""

import pytest

from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.state.subscription_filter import SubscriptionFilter
from aerobee.service.request import Answer
from tests.consumer_kit import ConsumerKit


def chosen(
    expression: str, kind: str = "SQL92", topic: str = "Orders", config: BrokerConfig | None = None
) -> SubscriptionFilter | Answer:
    subscription = make_subscription(topic, expression, 1, kind)
    return ConsumerKit(config).choices.of("g", subscription)


def test_tags_are_chosen_by_their_codes() -> None:
    assert chosen("A || B", "TAG") == SubscriptionFilter(frozenset({65, 66}))
    assert chosen("*", "TAG") == SubscriptionFilter(None)
    assert chosen("A", "") == SubscriptionFilter(frozenset({65}))


def test_sql_is_compiled() -> None:
    choice = chosen("a = 1")
    assert isinstance(choice, SubscriptionFilter)
    assert choice.tag_codes is None
    assert choice.chosen is not None
    assert choice.chosen.expression == "a = 1"


def test_sql_is_not_asked_of_a_retry_topic() -> None:
    for topic in ("%RETRY%g", "%RETRY%g_Orders"):
        assert chosen("a = 1", topic=topic) == SubscriptionFilter(None)


@pytest.mark.parametrize(
    ("expression", "kind", "config", "code"),
    [
        ("a = 1", "SQL92", BrokerConfig(allows_sql=False), 1),
        ("a = 1", "sql92", BrokerConfig(), 1),
        ("a = 1", "CLASS", BrokerConfig(), 1),
        ("a = ", "SQL92", BrokerConfig(), 23),
        ("a = ", "SQL92", BrokerConfig(allows_sql=False), 1),
    ],
)
def test_what_cannot_be_used_says_why(
    expression: str, kind: str, config: BrokerConfig, code: int
) -> None:
    answer = chosen(expression, kind, config=config)
    assert isinstance(answer, Answer)
    assert answer.code == code
    assert kind in answer.remark or "a value is missing here" in answer.remark


def test_the_setting_counts_from_its_change_on() -> None:
    kit = ConsumerKit()
    subscription = make_subscription("Orders", "a = 1", 1, "SQL92")
    assert isinstance(kit.choices.of("g", subscription), SubscriptionFilter)
    kit.change(enablePropertyFilter="false")
    assert isinstance(kit.choices.of("g", subscription), Answer)
