"""RightsVerdict: whether a user may do something to a resource, broker by broker, and why.

It is decided as a broker decides, by the users and rules that the broker tells.
"""

from typing import NamedTuple

from aerobee.client.admin.access import AccessAdmin
from aerobee.client.admin.fan_out import Where
from aerobee.errors import Misuse
from aerobee.model.access import (
    DEFAULT,
    SUBJECT_PREFIX,
    SUPER,
    Action,
    Resource,
    Rule,
    User,
    find_action,
    find_resource,
)
from aerobee.service.access.access_rules import decide, ready_rules


class RightsVerdict(NamedTuple):
    broker: str
    can: bool
    reason: str


async def rights_verdicts(
    access: AccessAdmin,
    user: str,
    action: str,
    resource: str,
    *,
    source: str = "",
    on: Where = None,
) -> list[RightsVerdict]:
    """Return the verdict of each broker. `source`: the address that the user would come from.
    Misuse: there is no such action or resource."""
    wanted, of = find_action(action), find_resource(resource)
    if wanted is None or of is None:
        raise Misuse(
            f"{action} {resource} is no action and resource",
            hint="Sub Topic:orders; actions are Pub Sub Create Update Delete Get List All",
        )
    verdicts = []
    for broker, known in (await access.user(user, on=on)).items():
        rules: tuple[Rule, ...] = ()
        if known is not None:
            rights = (await access.rights(f"{SUBJECT_PREFIX}{known.name}", on=broker))[broker]
            rules = () if rights is None else rights.rules
        can, reason = _judged(known, rules, wanted, of, source)
        verdicts.append(RightsVerdict(broker, can, reason))
    return verdicts


def rule_text(rule: Rule) -> str:
    """Return a rule on one line, for people."""
    sources = f" from {', '.join(rule.sources)}" if rule.sources else ""
    policy = " (default)" if rule.policy == DEFAULT else ""
    return f"{rule.decision} {', '.join(rule.actions)} on {rule.resource}{sources}{policy}"


def _judged(
    user: User | None, rules: tuple[Rule, ...], action: Action, of: Resource, source: str
) -> tuple[bool, str]:
    if user is None:
        return False, "there is no such user"
    if not user.is_enabled:
        return False, "the user is disabled"
    if user.kind == SUPER:
        return True, "a super user may do everything"
    verdict = decide(ready_rules(rules), of, (action,), source)
    if verdict.rule is None:
        return False, "no rule of the user fits"
    return verdict.is_allowed, f"by the rule {rule_text(verdict.rule)}"
