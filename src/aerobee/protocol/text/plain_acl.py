"""Converts RocketMQ's `plain_acl.yml` (ACL 1.0) to users and rules.

    accounts[].accessKey, secretKey, admin    a user; an admin is a super user
    topicPerms, groupPerms                    rules of the policy Custom, for one name each
    defaultTopicPerm, defaultGroupPerm        rules of the policy Default, for all names
    white addresses                           nothing: no address is believed without a signature

DENY, and every text that is no permission, denies everything, as RocketMQ 4 reads it; Apache's own
migration allows everything for such a text.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aerobee.errors import Misuse
from aerobee.model.access import (
    ALLOW,
    CUSTOM,
    DEFAULT,
    DENY,
    NORMAL,
    SUBJECT_PREFIX,
    SUPER,
    Rights,
    Rule,
    User,
)

_PERMISSIONS = {
    "PUB": ("Pub",),
    "SUB": ("Sub",),
    "PUB|SUB": ("Pub", "Sub"),
    "SUB|PUB": ("Pub", "Sub"),
}


class PlainAcl(NamedTuple):
    users: list[User]
    rights: list[Rights]
    notes: list[str]
    """What was not converted."""


def convert_plain_acl(said: Mapping[str, Any]) -> PlainAcl:
    """Convert a file that was read. Misuse: it is no such file."""
    accounts = said.get("accounts")
    if not isinstance(accounts, list) or not all(isinstance(one, dict) for one in accounts):
        raise Misuse("it has no accounts", hint="a plain_acl.yml begins with `accounts:`")
    found = PlainAcl([], [], [])
    if said.get("globalWhiteRemoteAddresses"):
        found.notes.append("globalWhiteRemoteAddresses: everybody needs a signature now")
    for account in accounts:
        name, secret = str(account.get("accessKey") or ""), str(account.get("secretKey") or "")
        if not name or not secret:
            raise Misuse("an account has no accessKey or no secretKey")
        found.users.append(User(name, secret, SUPER if account.get("admin") is True else NORMAL))
        if account.get("whiteRemoteAddress"):
            found.notes.append(f"whiteRemoteAddress of {name}: its signature is checked now")
        rules = (
            *_named(account, "topicPerms", "Topic"),
            *_named(account, "groupPerms", "Group"),
            *_default(account, "defaultTopicPerm", "Topic"),
            *_default(account, "defaultGroupPerm", "Group"),
        )
        if rules:
            found.rights.append(Rights(f"{SUBJECT_PREFIX}{name}", rules))
    return found


def _named(account: Mapping[str, Any], key: str, kind: str) -> list[Rule]:
    texts: Sequence[object] = account.get(key) or ()
    found = []
    for text in texts:
        name, divided, permission = str(text).partition("=")
        if not divided or not name.strip():
            raise Misuse(f"{key} has {str(text)[:100]!r}, which is no name=PERMISSION")
        found.append(_rule(f"{kind}:{name.strip()}", permission, CUSTOM))
    return found


def _default(account: Mapping[str, Any], key: str, kind: str) -> list[Rule]:
    permission = account.get(key)
    return [] if not permission else [_rule(f"{kind}:*", str(permission), DEFAULT)]


def _rule(resource: str, permission: str, policy: str) -> Rule:
    actions = _PERMISSIONS.get(permission.strip())
    if actions is None:
        return Rule(resource, ("All",), DENY, policy=policy)
    return Rule(resource, actions, ALLOW, policy=policy)
