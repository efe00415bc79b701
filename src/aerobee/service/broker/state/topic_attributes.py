"""Topic attributes: parses, checks and applies the changes that administrators ask for.

    +message.type=FIFO,-reserve.time        as the field of a request
    {"+message.type":"FIFO"}                as the attributes in a list of topics

A plus sets, a minus removes; a new topic has nothing to remove. Attributes that determine the
format of a topic's files cannot be changed. Setting the present value changes nothing.
"""

from collections.abc import Mapping
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.topic import CLEANUP_POLICY, COMPACTION, RESERVE_TIME
from aerobee.protocol.text.fields import INT64, read_number

CHANGES_CHARS_MAX = 4096

MESSAGE_TYPE = "message.type"
MIXED = "MIXED"


class _Attribute(NamedTuple):
    is_changeable: bool
    values: frozenset[str]
    """Empty: a number from -1 on."""


_KNOWN = {
    "queue.type": _Attribute(False, frozenset({"BatchCQ", "SimpleCQ"})),
    CLEANUP_POLICY: _Attribute(False, frozenset({"DELETE", COMPACTION})),
    MESSAGE_TYPE: _Attribute(
        True, frozenset({"UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", MIXED})
    ),
    RESERVE_TIME: _Attribute(True, frozenset()),
}


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
    current: Mapping[str, str] | None, changes: Mapping[str, str]
) -> Mapping[str, str]:
    """The attributes after the changes; `current` is None for a topic that does not exist yet.

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
        if sign == "+":
            _check(name, value, is_fixed=not is_new and before.get(name) != value)
            after[name] = value
        else:
            _check_removal(name, before, is_new=is_new)
            del after[name]
    return after


def _check(name: str, value: str, *, is_fixed: bool) -> None:
    known = _find(name)
    if is_fixed and not known.is_changeable:
        raise _unchangeable(name)
    if not known.values:
        if read_number(name, value, INT64) < -1:
            raise RemoteProtocolError(f"{name} must be -1 or more, not {value}")
    elif value not in known.values:
        raise RemoteProtocolError(
            f"{name} must be one of {', '.join(sorted(known.values))}, not {value[:100]!r}"
        )


def _check_removal(name: str, before: Mapping[str, str], *, is_new: bool) -> None:
    if is_new:
        raise RemoteProtocolError(
            f"only add attribute is supported while creating topic. key: {name[:100]}"
        )
    if name not in before:
        raise RemoteProtocolError(f"attempt to delete a nonexistent key: {name[:100]}")
    if not _find(name).is_changeable:
        raise _unchangeable(name)


def _find(name: str) -> _Attribute:
    known = _KNOWN.get(name)
    if known is None:
        raise RemoteProtocolError(f"unsupported key: {name[:100]}")
    return known


def _unchangeable(name: str) -> RemoteProtocolError:
    return RemoteProtocolError(f"attempt to update an unchangeable attribute. key: {name}")
