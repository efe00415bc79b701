"""Access rules: decides whether the rules of a user allow an action on a resource.

RocketMQ's precedence. Only rules that are about the resource, the action and the source address
count. Those of the policy Custom come first; only if there is none, those of Default. Of the
remaining ones the most specific decides: a kind before `*`, a literal name before a prefix before
any name, a longer prefix before a shorter one, Deny before Allow. Without a rule nothing is
allowed.
"""

import ipaddress
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from aerobee.model.access import (
    ALLOW,
    CUSTOM,
    DEFAULT,
    DENY,
    Action,
    Network,
    Resource,
    ResourceKind,
    Rule,
    find_action,
    find_network,
    find_resource,
)

POLICIES = (CUSTOM, DEFAULT)


class ReadyRule(NamedTuple):
    """A rule, read."""

    resource: Resource
    actions: frozenset[Action]
    networks: tuple[Network, ...]
    """None: every address."""
    is_allowed: bool
    policy: str
    rule: Rule


class Verdict(NamedTuple):
    is_allowed: bool
    rule: Rule | None
    """The rule that decided; None: there was none."""


NO_RULE = Verdict(False, None)


def find_rule_fault(rule: Rule) -> str | None:
    """What is wrong with a rule, in RocketMQ's words; None: nothing."""
    if find_resource(rule.resource) is None:
        return "The resource is null."
    if any(text.strip().lower() == "any" for text in rule.actions):
        return "The actions can not be Any."
    if not _actions(rule.actions):
        return "The actions is empty."
    for source in rule.sources:
        if not source.strip():
            return "The source ip is empty."
        if find_network(source) is None:
            return "The source ip is invalid."
    if rule.decision.strip().lower() not in (ALLOW.lower(), DENY.lower()):
        return "The decision is null or illegal."
    return None


def normal_rule(rule: Rule) -> Rule:
    """A rule without a fault, in the writing of RocketMQ's answers."""
    actions = [action.value for action in Action if action in _actions(rule.actions)]
    is_default = rule.policy.strip().lower() == DEFAULT.lower()
    return Rule(
        str(find_resource(rule.resource)),
        tuple(actions),
        ALLOW if rule.decision.strip().lower() == ALLOW.lower() else DENY,
        tuple(source.strip() for source in rule.sources),
        DEFAULT if is_default else CUSTOM,
    )


def ready_rules(rules: Iterable[Rule]) -> list[ReadyRule]:
    """The rules without faults, the one that decides first."""
    found = []
    for rule in rules:
        resource = find_resource(rule.resource)
        if resource is None or find_rule_fault(rule) is not None:
            continue
        networks = tuple(net for text in rule.sources if (net := find_network(text)) is not None)
        normal = normal_rule(rule)
        is_allowed = normal.decision == ALLOW
        found.append(
            ReadyRule(resource, _actions(rule.actions), networks, is_allowed, normal.policy, normal)
        )
    return sorted(found, key=_precedence)


def decide(
    rules: Sequence[ReadyRule], resource: Resource, actions: Collection[Action], source: str
) -> Verdict:
    """Whether any one of the actions is allowed. `rules` are in the order of `ready_rules`."""
    address = _address(source)
    for ready in rules:
        if (
            ready.resource.covers(resource)
            and (Action.ALL in ready.actions or not ready.actions.isdisjoint(actions))
            and _is_from(address, ready.networks)
        ):
            return Verdict(ready.is_allowed, ready.rule)
    return NO_RULE


def _precedence(ready: ReadyRule) -> tuple[int, bool, int, int, bool]:
    resource = ready.resource
    return (
        POLICIES.index(ready.policy),
        resource.kind is ResourceKind.ANY,
        resource.pattern.value,
        -len(resource.name),
        ready.is_allowed,
    )


def _actions(texts: Iterable[str]) -> frozenset[Action]:
    """The actions of these names; RocketMQ drops names that it does not know."""
    return frozenset(action for text in texts if (action := find_action(text)) is not None)


def _address(source: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(source)
    except ValueError:
        return None
    # A socket that takes both kinds shows an IPv4 peer in IPv6 form.
    mapped = getattr(address, "ipv4_mapped", None)
    return address if mapped is None else mapped


def _is_from(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, networks: tuple[Network, ...]
) -> bool:
    if not networks:
        return True
    return address is not None and any(address in network for network in networks)
