"""AccessTable: all users and rules of a broker as one value, and the changes that requests make.

A change returns another table, or refuses in RocketMQ's words. So the order of changes is all that
matters, and a table that could not be saved never was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from aerobee.errors import AerobeeError
from aerobee.model.access import (
    CUSTOM,
    DEFAULT,
    NORMAL,
    SUBJECT_PREFIX,
    SUPER,
    Rights,
    Rule,
    User,
    find_resource,
)
from aerobee.protocol.bodies.access import UserChange
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_rules import find_rule_fault, normal_rule

NAME_CHARS_MAX = 255
SECRET_CHARS_MAX = 1024
USERS_MAX = 10_000
RULES_MAX = 1_000
"""Of one user."""

V = TypeVar("V")

_KINDS = {SUPER.lower(): SUPER, NORMAL.lower(): NORMAL}


class AccessRefused(AerobeeError):
    """A change of users or rules that is not made, with the code of the answer."""

    def __init__(self, message: str, code: ResponseCode = ResponseCode.NO_PERMISSION) -> None:
        super().__init__(message)
        self.code = code


def _none() -> Mapping[str, User]:
    return MappingProxyType({})


def _no_rules() -> Mapping[str, tuple[Rule, ...]]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class AccessTable:
    users: Mapping[str, User] = field(default_factory=_none)
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=_no_rules)
    """By the name of the user; a user without rules has none."""
    version: int = 0
    """Counts changes."""

    # Users.

    def with_user(self, user: UserChange, by: User | None) -> "AccessTable":
        """A user more. `by` is who asks; None: nobody was asked who it is."""
        if not user.name.strip():
            raise AccessRefused("The username is blank", ResponseCode.INVALID_PARAMETER)
        if user.name in self.users:
            raise AccessRefused("The user is existed")
        if not (user.password or "").strip():
            raise AccessRefused("password can not be blank")
        made = _changed(User(user.name), user)
        if made.kind == SUPER and not _is_super(by):
            raise AccessRefused(
                "The super user can only be create by super user", ResponseCode.SYSTEM_ERROR
            )
        if len(self.users) >= USERS_MAX:
            raise AccessRefused(f"there are {USERS_MAX} users already")
        return self._with(users={**self.users, made.name: made})

    def with_changed_user(self, user: UserChange, by: User | None) -> "AccessTable":
        if not user.name.strip():
            raise AccessRefused("The username is blank", ResponseCode.INVALID_PARAMETER)
        known = self.users.get(user.name)
        if known is None:
            raise AccessRefused("The user is not exist")
        made = _changed(known, user)
        if SUPER in (known.kind, made.kind) and not _is_super(by):
            raise AccessRefused("The super user can only be update by super user")
        return self._with(users={**self.users, made.name: made})

    def without_user(self, name: str, by: User | None) -> "AccessTable":
        """Without a user and its rules; unknown ones are gone already."""
        if not name.strip():
            raise AccessRefused("The username is blank", ResponseCode.INVALID_PARAMETER)
        known = self.users.get(name)
        if known is None:
            return self
        if known.kind == SUPER and not _is_super(by):
            raise AccessRefused("The super user can only be update by super user")
        return self._with(users=_without(self.users, name), rules=_without(self.rules, name))

    # Rules.

    def rights_of(self, name: str) -> Rights | None:
        rules = self.rules.get(name)
        return None if rules is None else Rights(f"{SUBJECT_PREFIX}{name}", rules)

    def with_rules(self, name: str, rules: Sequence[Rule]) -> "AccessTable":
        """Rules more; one for the same policy and resource is replaced as a whole."""
        if not rules:
            raise AccessRefused("The policies is empty.")
        for rule in rules:
            fault = find_rule_fault(rule)
            if fault is not None:
                raise AccessRefused(fault)
        if name not in self.users:
            raise AccessRefused(f"The subject of {SUBJECT_PREFIX}{name[:100]} is not exist.")
        added = [normal_rule(rule) for rule in rules]
        replaced = {(rule.policy, rule.resource) for rule in added}
        kept = [
            rule
            for rule in self.rules.get(name, ())
            if (rule.policy, rule.resource) not in replaced
        ]
        if len(kept) + len(added) > RULES_MAX:
            raise AccessRefused(f"a user has {RULES_MAX} rules at most")
        return self._with(rules={**self.rules, name: (*kept, *added)})

    def without_rules(self, name: str, policy: str, resource_text: str) -> "AccessTable":
        """Without all rules of a user, or, with a resource, without the one of that policy."""
        if name not in self.users:
            raise AccessRefused("The subject is not exist.")
        rules = self.rules.get(name)
        if rules is None:
            raise AccessRefused("The acl is not exist.")
        if not resource_text:
            return self._with(rules=_without(self.rules, name))
        resource = find_resource(resource_text)
        if resource is None:
            raise AccessRefused("The resource is null.")
        wanted = (DEFAULT if policy.strip().lower() == DEFAULT.lower() else CUSTOM, str(resource))
        kept = tuple(rule for rule in rules if (rule.policy, rule.resource) != wanted)
        if not kept:
            return self._with(rules=_without(self.rules, name))
        return self._with(rules={**self.rules, name: kept})

    def _with(
        self,
        users: Mapping[str, User] | None = None,
        rules: Mapping[str, tuple[Rule, ...]] | None = None,
    ) -> "AccessTable":
        return AccessTable(
            self.users if users is None else MappingProxyType(dict(users)),
            self.rules if rules is None else MappingProxyType(dict(rules)),
            self.version + 1,
        )


def changed_names(before: AccessTable, after: AccessTable) -> list[str]:
    """The users whose rows differ."""
    if before is after:
        return []
    return [
        name
        for name in {**before.users, **after.users}
        if before.users.get(name) != after.users.get(name)
        or before.rules.get(name) != after.rules.get(name)
    ]


def subject_name(subject: str) -> str:
    """The name of the user in `User:name`."""
    kind, colon, name = subject.partition(":")
    if not colon or f"{kind.strip().lower()}:" != SUBJECT_PREFIX.lower() or not name.strip():
        raise AccessRefused("The subject is null.")
    return name


def _is_super(by: User | None) -> bool:
    return by is None or by.kind == SUPER


def _changed(user: User, change: UserChange) -> User:
    """The user with what a change says; what it does not say stays."""
    kind = _KINDS.get((change.kind or "").strip().lower(), user.kind)
    if len(change.name) > NAME_CHARS_MAX or len(change.password or "") > SECRET_CHARS_MAX:
        raise AccessRefused(
            f"a name has {NAME_CHARS_MAX} characters at most, a password {SECRET_CHARS_MAX}"
        )
    password = change.password if (change.password or "").strip() else user.password
    is_enabled = user.is_enabled if change.is_enabled is None else change.is_enabled
    return replace(user, password=password or "", kind=kind, is_enabled=is_enabled)


def _without(table: Mapping[str, V], name: str) -> dict[str, V]:
    return {key: value for key, value in table.items() if key != name}
