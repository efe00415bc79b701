"""Users and access rules, as RocketMQ's brokers keep them since 5.3 ⇄ JSON.

    {"password":"…","userStatus":"enable","userType":"Normal","username":"alice"}
    {"policies":[{"entries":[{"actions":["Pub","Sub"],"decision":"Allow","resource":"Topic:T",
     "sourceIps":["10.0.0.0/8"]}],"policyType":"Custom"}],"subject":"User:alice"}

Apache's broker shows passwords as it keeps them, Aerobee's shows none; the repr of a value decoded
here never shows one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import ALLOW, CUSTOM, NORMAL, Rights, Rule, User
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value, parse, write_compact


@dataclass(frozen=True, slots=True)
class UserChange:
    """A request about a user. What is None stays as it is."""

    name: str
    password: str | None = field(default=None, repr=False)
    kind: str | None = None
    is_enabled: bool | None = None


def encode_user(user: User) -> bytes:
    return write_compact(user_json(user))


def user_json(user: User) -> dict[str, Value]:
    body: dict[str, Value] = {"password": user.password} if user.password else {}
    return {
        **body,
        "userStatus": "enable" if user.is_enabled else "disable",
        "userType": user.kind,
        "username": user.name,
    }


def decode_user(body: bytes) -> User | None:
    """The user; None: there is no such user."""
    return user_from(Members(parse(body), "the user")) if body else None


def decode_user_change(name: str, body: bytes) -> UserChange:
    """The change of the named user; RocketMQ's tools leave out what is not to be changed."""
    members = Members(parse(body) if body else {}, "the user")
    status = members.text("userStatus", "").strip().lower()
    return UserChange(
        name,
        members.text("password", "") or None,
        members.text("userType", "") or None,
        status == "enable" if status in ("enable", "disable") else None,
    )


def decode_users(body: bytes) -> list[User]:
    return [user_from(Members(item, "a user")) for item in _items(body)]


def encode_users(users: Iterable[User]) -> bytes:
    return write_compact([user_json(user) for user in users])


def encode_rights(rights: Rights) -> bytes:
    return write_compact(rights_json(rights))


def encode_rights_list(found: Iterable[Rights]) -> bytes:
    return write_compact([rights_json(rights) for rights in found])


def rights_json(rights: Rights) -> dict[str, Value]:
    by_policy: dict[str, list[Value]] = {}
    for rule in rights.rules:
        by_policy.setdefault(rule.policy, []).append(_rule_json(rule))
    policies: list[Value] = [
        {"entries": entries, "policyType": policy} for policy, entries in by_policy.items()
    ]
    return {"policies": policies, "subject": rights.subject}


def decode_rights(body: bytes) -> Rights | None:
    """The rules; None: there are none for that subject."""
    return rights_from(Members(parse(body), "the rights")) if body else None


def decode_rights_list(body: bytes) -> list[Rights]:
    return [rights_from(Members(item, "rights")) for item in _items(body)]


def _items(body: bytes) -> list[Parsed]:
    found = parse(body) if body else []
    if not isinstance(found, list):
        raise RemoteProtocolError("the answer is no list")
    return found


def user_from(members: Members) -> User:
    return User(
        members.text("username"),
        members.text("password", ""),
        members.text("userType", NORMAL),
        members.text("userStatus", "enable") == "enable",
    )


def _rule_json(rule: Rule) -> dict[str, Value]:
    found: dict[str, Value] = {
        "actions": list(rule.actions),
        "decision": rule.decision,
        "resource": rule.resource,
    }
    return {**found, "sourceIps": list(rule.sources)} if rule.sources else found


def rights_from(members: Members) -> Rights:
    policies = [Members(one, "a policy") for one in members.array("policies")]
    return Rights(
        members.text("subject", ""),
        tuple(
            Rule(
                entry.text("resource"),
                tuple(map(str, entry.array("actions"))),
                entry.text("decision", ALLOW),
                tuple(map(str, entry.array("sourceIps"))),
                policy.text("policyType", CUSTOM),
            )
            for policy in policies
            for entry in (Members(one, "an entry") for one in policy.array("entries"))
        ),
    )
