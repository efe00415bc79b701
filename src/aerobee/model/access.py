"""Users, resources, actions and rules of access: the values of RocketMQ's authorization since 5.3.

A user is who signs a request. A rule says what a user may do or may not do to a resource; rules of
the policy Custom come before those of the policy Default. A resource is written `Topic:orders`,
`Group:*`, `Cluster:c`, or `*` for everything; a name that ends in `*` is a prefix.
"""

import ipaddress
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

SUPER = "Super"
NORMAL = "Normal"
ALLOW = "Allow"
DENY = "Deny"
CUSTOM = "Custom"
DEFAULT = "Default"
SUBJECT_PREFIX = "User:"


class Action(Enum):
    ALL = "All"
    PUB = "Pub"
    SUB = "Sub"
    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"
    GET = "Get"
    LIST = "List"


class ResourceKind(Enum):
    ANY = "Any"
    CLUSTER = "Cluster"
    NAMESPACE = "Namespace"
    TOPIC = "Topic"
    GROUP = "Group"


class Pattern(Enum):
    """How a name in a rule is compared; the value orders them, the most specific first."""

    LITERAL = 0
    PREFIXED = 1
    ANY = 2


class Resource(NamedTuple):
    """A resource of a rule, or, with a literal name, of a request."""

    kind: ResourceKind
    name: str
    pattern: Pattern = Pattern.LITERAL

    def __str__(self) -> str:
        if self.kind is ResourceKind.ANY:
            return "*"
        shown = {Pattern.LITERAL: self.name, Pattern.PREFIXED: f"{self.name}*", Pattern.ANY: "*"}
        return f"{self.kind.value}:{shown[self.pattern]}"

    def covers(self, other: "Resource") -> bool:
        """Whether a rule for this resource is about another one, whose name is literal."""
        if self.kind is not ResourceKind.ANY and self.kind is not other.kind:
            return False
        if self.pattern is Pattern.LITERAL:
            return self.name == other.name
        return self.pattern is Pattern.ANY or other.name.startswith(self.name)


EVERYTHING = Resource(ResourceKind.ANY, "", Pattern.ANY)

_KINDS = {kind.value.lower(): kind for kind in ResourceKind if kind is not ResourceKind.ANY}
_ACTIONS = {action.value.lower(): action for action in Action}


def find_resource(text: str) -> Resource | None:
    """The resource that a text names; None: it names none."""
    if text.strip() == "*":
        return EVERYTHING
    kind_text, colon, name = text.strip().partition(":")
    kind = _KINDS.get(kind_text.strip().lower())
    if kind is None or not colon or not name:
        return None
    if name == "*":
        return Resource(kind, "", Pattern.ANY)
    if name.endswith("*"):
        return Resource(kind, name.partition("*")[0], Pattern.PREFIXED)
    return Resource(kind, name)


def find_action(text: str) -> Action | None:
    """The action of this name, in any case; None: there is none."""
    return _ACTIONS.get(text.strip().lower())


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def find_network(text: str) -> Network | None:
    """The network or the one address that a text names; None: it names none."""
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class User:
    name: str
    password: str = field(default="", repr=False)
    """The key of its signatures. Empty: not told, or not to be changed."""
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
    policy: str = CUSTOM


@dataclass(frozen=True, slots=True)
class Rights:
    subject: str
    """`User:alice`."""
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Credentials:
    """Access key and secret. The secret is never shown: not in a log, not in an error."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str = field(default="", repr=False)
