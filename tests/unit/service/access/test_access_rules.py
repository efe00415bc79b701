"""Unit tests of RocketMQ's precedence of rules, by vectors."""

import pytest

from aerobee.model.access import DENY, Action, Rule, find_resource
from aerobee.service.access.access_rules import decide, find_rule_fault, normal_rule, ready_rules


def allow(resource: str, *actions: str, **more: object) -> Rule:
    return Rule(resource, actions or ("All",), **more)  # type: ignore[arg-type]


def deny(resource: str, *actions: str, **more: object) -> Rule:
    return Rule(resource, actions or ("All",), DENY, **more)  # type: ignore[arg-type]


DEFAULT = {"policy": "Default"}

VECTORS = [
    # Nothing is allowed without a rule, or by one of another kind, name or action.
    ([], "Topic:T", "Pub", False),
    ([allow("Topic:U")], "Topic:T", "Pub", False),
    ([allow("Group:T")], "Topic:T", "Pub", False),
    ([allow("Topic:T", "Sub")], "Topic:T", "Pub", False),
    ([allow("Topic:T", "Pub")], "Topic:T", "Pub", True),
    ([allow("Topic:T")], "Topic:T", "Pub", True),
    ([allow("*")], "Cluster:c", "Update", True),
    # The most specific rule decides.
    ([allow("*"), deny("Topic:*")], "Topic:T", "Pub", False),
    ([deny("*"), allow("Topic:*")], "Topic:T", "Pub", True),
    ([allow("Topic:*"), deny("Topic:T*")], "Topic:T", "Pub", False),
    ([deny("Topic:T*"), allow("Topic:T")], "Topic:T", "Pub", True),
    ([allow("Topic:T*"), deny("Topic:Tab*")], "Topic:Table", "Pub", False),
    ([deny("Topic:T*"), allow("Topic:Tab*")], "Topic:Table", "Pub", True),
    # Deny wins between equals.
    ([allow("Topic:T"), deny("Topic:T")], "Topic:T", "Pub", False),
    ([deny("Topic:T*"), allow("Topic:T*")], "Topic:T", "Pub", False),
    # A rule for another action does not count, however specific.
    ([allow("Topic:*"), deny("Topic:T", "Sub")], "Topic:T", "Pub", True),
    # Custom rules come before default ones, however broad.
    ([allow("*"), deny("Topic:T", **DEFAULT)], "Topic:T", "Pub", True),
    ([deny("*"), allow("Topic:T", **DEFAULT)], "Topic:T", "Pub", False),
    ([allow("Topic:U"), allow("Topic:*", **DEFAULT)], "Topic:T", "Pub", True),
    # Sources.
    ([allow("Topic:T", sources=("10.0.0.0/8",))], "Topic:T", "Pub", True),
    ([allow("Topic:T", sources=("10.0.0.9",))], "Topic:T", "Pub", True),
    ([allow("Topic:T", sources=("10.0.0.8", "fd00::/8"))], "Topic:T", "Pub", False),
    ([allow("Topic:*"), deny("Topic:T", sources=("10.0.0.9/32",))], "Topic:T", "Pub", False),
    ([allow("Topic:*"), deny("Topic:T", sources=("10.0.0.8/32",))], "Topic:T", "Pub", True),
]


@pytest.mark.parametrize(("rules", "resource", "action", "is_allowed"), VECTORS)
def test_rules_decide_as_rocketmqs_do(
    rules: list[Rule], resource: str, action: str, is_allowed: bool
) -> None:
    asked = find_resource(resource)
    assert asked is not None
    for given in (rules, list(reversed(rules))):
        found = decide(ready_rules(given), asked, (Action(action),), "10.0.0.9")
        assert found.is_allowed is is_allowed


def test_one_of_several_actions_is_enough() -> None:
    asked = find_resource("Topic:T")
    assert asked is not None
    rules = ready_rules([allow("Topic:T", "Get")])
    assert decide(rules, asked, (Action.SUB, Action.GET), "").is_allowed
    assert not decide(rules, asked, (Action.SUB, Action.PUB), "").is_allowed


def test_the_rule_that_decided_is_named() -> None:
    asked = find_resource("Topic:T")
    assert asked is not None
    rule = deny("Topic:T", "Pub")
    assert decide(ready_rules([allow("*"), rule]), asked, (Action.PUB,), "").rule == rule


def test_an_ipv4_peer_in_ipv6_form_is_the_same() -> None:
    asked = find_resource("Topic:T")
    assert asked is not None
    rules = ready_rules([allow("Topic:T", sources=("10.0.0.9",))])
    assert decide(rules, asked, (Action.PUB,), "::ffff:10.0.0.9").is_allowed
    assert not decide(rules, asked, (Action.PUB,), "not an address").is_allowed


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (Rule("Queue:x", ("Pub",)), "The resource is null."),
        (Rule("Topic:T", ()), "The actions is empty."),
        (Rule("Topic:T", ("Fly",)), "The actions is empty."),
        (Rule("Topic:T", ("Pub", "Any")), "The actions can not be Any."),
        (Rule("Topic:T", ("Pub",), sources=("",)), "The source ip is empty."),
        (Rule("Topic:T", ("Pub",), sources=("x",)), "The source ip is invalid."),
        (Rule("Topic:T", ("Pub",), "Maybe"), "The decision is null or illegal."),
        (Rule("Topic:T", ("Pub", "Fly"), "allow"), None),
    ],
)
def test_faults_of_rules_are_told_in_rocketmqs_words(rule: Rule, fault: str | None) -> None:
    assert find_rule_fault(rule) == fault


def test_a_rule_is_kept_in_one_writing() -> None:
    rule = Rule("topic:T", ("sub", "PUB", "fly"), "deny", (" 10.0.0.1 ",), "default")
    kept = Rule("Topic:T", ("Pub", "Sub"), "Deny", ("10.0.0.1",), "Default")
    assert normal_rule(rule) == kept
