"""Attributes of topics and groups: parses, checks and applies the changes that administrators ask
for.

    +message.type=FIFO,-reserve.time        as the field of a request
    {"+message.type":"FIFO"}                as the attributes in a list of topics, or of a group

A plus sets, a minus removes; a new topic has nothing to remove. Attributes that determine the
format of a topic's files cannot be changed. Setting the present value changes nothing.

The user who made a topic is an attribute of it, so that one user's topics can be counted, on every
broker that copies them. Only the broker sets it, when a topic is made by a user who signed the
request and is no super user. Static topics, which only administrators make, have none.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import SUPER, User
from aerobee.model.group import PRIORITY_FACTOR, PRIORITY_FACTOR_MAX
from aerobee.model.topic import (
    BATCH_QUEUES,
    CLEANUP_POLICY,
    COMPACTION,
    MADE_BY,
    MESSAGE_TYPE,
    PRIORITY,
    QUEUE_TYPE,
    RESERVE_TIME,
    TopicConfig,
)
from aerobee.protocol.text.fields import INT64, read_number

CHANGES_CHARS_MAX = 4096

MIXED = "MIXED"


class Attribute(NamedTuple):
    is_changeable: bool
    values: frozenset[str] = frozenset()
    """Empty: a number from `low` to `high`."""
    low: int = -1
    high: int = INT64[1]


TOPIC_ATTRIBUTES: Mapping[str, Attribute] = {
    QUEUE_TYPE: Attribute(False, frozenset({BATCH_QUEUES, "SimpleCQ"})),
    CLEANUP_POLICY: Attribute(False, frozenset({"DELETE", COMPACTION})),
    MESSAGE_TYPE: Attribute(
        True,
        frozenset({"UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", PRIORITY, MIXED}),
    ),
    RESERVE_TIME: Attribute(True),
}
GROUP_ATTRIBUTES: Mapping[str, Attribute] = {
    PRIORITY_FACTOR: Attribute(True, low=0, high=PRIORITY_FACTOR_MAX),
}


def with_maker(config: TopicConfig, user: User | None) -> TopicConfig:
    """A new topic, with the user who makes it."""
    if user is None or user.kind == SUPER:
        return config
    return replace(config, attributes={**config.attributes, MADE_BY: user.name})


def edited_topic(wanted: TopicConfig, known: TopicConfig | None, user: User | None) -> TopicConfig:
    """The topic after a request of a user; the attributes of `wanted` are changes. `known` is None
    if it is new."""
    before = known.attributes if known is not None else None
    edited = replace(wanted, attributes=changed_attributes(before, wanted.attributes))
    return with_maker(edited, user) if known is None else edited


def parse_changes(text: str) -> dict[str, str]:
    """The changes in a request's field, by signed name."""
    if len(text) > CHANGES_CHARS_MAX:
        raise RemoteProtocolError(f"attributes of {len(text)} characters")
    changes: dict[str, str] = {}
    for item in text.split(",") if text else ():
        name, equals, value = item.partition("=")
        if not name.startswith("+" if equals else "-"):
            raise RemoteProtocolError(f"neither +name=value nor -name: {item[:100]!r}")
        if name in changes:
            raise RemoteProtocolError(f"key duplication: {name[:100]}")
        changes[name] = value
    return changes


def changed_attributes(
    current: Mapping[str, str] | None,
    changes: Mapping[str, str],
    all_known: Mapping[str, Attribute] = TOPIC_ATTRIBUTES,
) -> Mapping[str, str]:
    """The attributes after the changes; `current` is None for a topic or group that does not exist
    yet.

    RemoteProtocolError: a change is wrong, in words that RocketMQ's tools know.
    """
    is_new = current is None
    before = current or {}
    after = dict(before)
    seen = set()
    for signed, value in changes.items():
        sign, name = signed[:1], signed[1:]
        if sign not in ("+", "-") or not name:
            raise RemoteProtocolError(f"wrong format key: {signed[:100]!r}")
        if name in seen:
            raise RemoteProtocolError(f"alter duplication key. key: {name[:100]}")
        seen.add(name)
        if name == MADE_BY:  # the broker's own; tools send back what they were shown
            continue
        if sign == "+":
            _check(name, value, all_known, is_fixed=not is_new and before.get(name) != value)
            after[name] = value
        else:
            _check_removal(name, before, all_known, is_new=is_new)
            del after[name]
    return after


def _check(name: str, value: str, all_known: Mapping[str, Attribute], *, is_fixed: bool) -> None:
    known = _find(name, all_known)
    if is_fixed and not known.is_changeable:
        raise _unchangeable(name)
    if not known.values:
        if not known.low <= read_number(name, value, INT64) <= known.high:
            raise RemoteProtocolError(
                f"{name} must be from {known.low} to {known.high}, not {value}"
            )
    elif value not in known.values:
        raise RemoteProtocolError(
            f"{name} must be one of {', '.join(sorted(known.values))}, not {value[:100]!r}"
        )


def _check_removal(
    name: str, before: Mapping[str, str], all_known: Mapping[str, Attribute], *, is_new: bool
) -> None:
    if is_new:
        raise RemoteProtocolError(
            f"only add attribute is supported while creating topic. key: {name[:100]}"
        )
    if name not in before:
        raise RemoteProtocolError(f"attempt to delete a nonexistent key: {name[:100]}")
    if not _find(name, all_known).is_changeable:
        raise _unchangeable(name)


def _find(name: str, all_known: Mapping[str, Attribute]) -> Attribute:
    known = all_known.get(name)
    if known is None:
        raise RemoteProtocolError(f"unsupported key: {name[:100]}")
    return known


def _unchangeable(name: str) -> RemoteProtocolError:
    return RemoteProtocolError(f"attempt to update an unchangeable attribute. key: {name}")
