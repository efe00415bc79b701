"""Users and access rules, as RocketMQ's brokers keep them since 5.3 ⇄ JSON.

    {"password":"…","userStatus":"enable","userType":"Normal","username":"alice"}
    {"policies":[{"entries":[{"actions":["Pub","Sub"],"decision":"Allow","resource":"Topic:T",
     "sourceIps":["10.0.0.0/8"]}],"policyType":"Custom"}],"subject":"User:alice"}

A broker shows passwords as it keeps them; the repr of a value decoded here never shows one.
"""

from dataclasses import dataclass, field

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value, parse, write_compact

SUPER = "Super"
NORMAL = "Normal"
ALLOW = "Allow"
DENY = "Deny"
CUSTOM = "Custom"


@dataclass(frozen=True, slots=True)
class User:
    name: str
    password: str = field(default="", repr=False)
    """Empty: not told, or not to be changed."""
    kind: str = NORMAL
    """`Super` may do everything, `Normal` what its rules say."""
    is_enabled: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    resource: str
    """`Topic:orders`, `Group:billing`, `Cluster:x`; a trailing `*` is a prefix."""
    actions: tuple[str, ...]
    """All, Pub, Sub, Create, Update, Delete, Get, List."""
    decision: str = ALLOW
    sources: tuple[str, ...] = ()
    """Addresses or networks that it holds for; none: for all."""


@dataclass(frozen=True, slots=True)
class Rights:
    subject: str
    """`User:alice`."""
    rules: tuple[Rule, ...] = ()


def encode_user(user: User) -> bytes:
    body: dict[str, Value] = {"password": user.password} if user.password else {}
    return write_compact(
        {
            **body,
            "userStatus": "enable" if user.is_enabled else "disable",
            "userType": user.kind,
            "username": user.name,
        }
    )


def decode_user(body: bytes) -> User | None:
    """The user; None: there is no such user."""
    return _user_from(Members(parse(body), "the user")) if body else None


def decode_users(body: bytes) -> list[User]:
    return [_user_from(Members(item, "a user")) for item in _items(body)]


def encode_rights(rights: Rights) -> bytes:
    entries: list[Value] = [_rule_json(rule) for rule in rights.rules]
    policies: list[Value] = [{"entries": entries, "policyType": CUSTOM}]
    return write_compact({"policies": policies, "subject": rights.subject})


def decode_rights(body: bytes) -> Rights | None:
    """The rules; None: there are none for that subject."""
    return _rights_from(Members(parse(body), "the rights")) if body else None


def decode_rights_list(body: bytes) -> list[Rights]:
    return [_rights_from(Members(item, "rights")) for item in _items(body)]


def _items(body: bytes) -> list[Parsed]:
    found = parse(body) if body else []
    if not isinstance(found, list):
        raise RemoteProtocolError("the answer is no list")
    return found


def _user_from(members: Members) -> User:
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


def _rights_from(members: Members) -> Rights:
    policies = [Members(one, "a policy") for one in members.array("policies")]
    return Rights(
        members.text("subject"),
        tuple(
            Rule(
                entry.text("resource"),
                tuple(map(str, entry.array("actions"))),
                entry.text("decision", ALLOW),
                tuple(map(str, entry.array("sourceIps"))),
            )
            for policy in policies
            for entry in (Members(one, "an entry") for one in policy.array("entries"))
        ),
    )
