"""Rights of the cluster's users (RocketMQ's ACL 2.0): rules, their changes, and their verdicts.

Every broker keeps its own rules; a change is sent to all masters. A rule is named by its user, its
resource and its policy.
"""

from collections.abc import Callable

from aerobee.client.admin.admin import Admin
from aerobee.console.api.access import NO_USERS, no_users
from aerobee.console.api.listing import LIST, Row, page_of
from aerobee.console.http.action import DELETE, GET, PUT, Action, Ask, Record
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind
from aerobee.console.http.problem import Problem, bad_request
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import Catalogue
from aerobee.errors import AerobeeError, RemoteAnswer
from aerobee.model.access import ALLOW, CUSTOM, DEFAULT, DENY, SUBJECT_PREFIX, Rights, Rule
from aerobee.service.access.access_rules import find_rule_fault

_USER = Parameter("user", BODY, "the name of a user", is_required=True)
_RESOURCE = "Topic:orders, Group:billing, Cluster:c, Topic:pre*, or *"
_POLICY = Parameter("policy", BODY, "Custom comes first", default=CUSTOM, choices=(CUSTOM, DEFAULT))
_DECISIONS = {one.lower(): one for one in (ALLOW, DENY)}


class RightsPages:
    def __init__(self, admin: Admin, catalogue: Catalogue, wall_ms: Callable[[], int]) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "listRights",
                GET,
                "/api/rights",
                Role.ADMIN,
                "Rights of the cluster's users",
                self.rights,
                LIST,
                command="aerobee auth rules",
                python="await admin.access.rights_of_all()",
            ),
            self._putting(),
            Action(
                "deleteRight",
                DELETE,
                "/api/rights",
                Role.ADMIN,
                "Delete the rule of a user for a resource",
                self.delete,
                (
                    _USER,
                    Parameter("resource", BODY, _RESOURCE, is_required=True),
                    _POLICY,
                ),
                confirm="user",
                command="aerobee auth forget {user} {resource} [--default?{policy=Default}]",
            ),
            Action(
                "can",
                GET,
                "/api/rights/can",
                Role.ADMIN,
                "Whether a user may do something to a resource, and why",
                self.can,
                (
                    Parameter("user", QUERY, "the name of a user", is_required=True),
                    Parameter("action", QUERY, "Pub, Sub, Create, …", is_required=True),
                    Parameter("resource", QUERY, _RESOURCE, is_required=True),
                    Parameter("source", QUERY, "the address that the user comes from"),
                ),
                command="aerobee auth can {user} {action} {resource} [--from {source}]",
            ),
        )

    def _putting(self) -> Action:
        actions = "Pub, Sub, Create, Update, Delete, Get, List, All"
        sources = "addresses or networks that it holds for; none: all"
        return Action(
            "putRight",
            PUT,
            "/api/rights",
            Role.ADMIN,
            "Allow or deny a user something, in place of its rule for the same resource",
            self.put,
            (
                _USER,
                Parameter("resource", BODY, _RESOURCE, is_required=True),
                Parameter("actions", BODY, actions, ValueKind.TEXTS, is_required=True),
                Parameter(
                    "decision", BODY, "what it says", default="allow", choices=tuple(_DECISIONS)
                ),
                Parameter("sources", BODY, sources, ValueKind.TEXTS),
                _POLICY,
            ),
            of="user",
            command="aerobee auth {decision} {user} {resource} {actions+} [{sources+--from }]"
            " [--default?{policy=Default}]",
        )

    async def rights(self, ask: Ask) -> Record:
        try:
            told = await self._catalogue.by_broker(self._admin.access.rights_of_all)
        except AerobeeError as error:
            return no_users(ask, error, at=self._wall_ms(), name="user")
        found: dict[str, Row] = {}
        for broker, listed in sorted(told.items()):
            for rights in listed:
                for row in _right_rows(rights):
                    key = str(sorted((name, str(value)) for name, value in row.items()))
                    found.setdefault(key, {**row, "brokers": []})["brokers"].append(broker)
        return page_of(ask, found.values(), at=self._wall_ms(), name="user")

    async def put(self, ask: Ask) -> Record:
        rule = Rule(
            ask.text("resource"),
            tuple(ask.texts("actions")),
            _DECISIONS[ask.text("decision")],
            tuple(ask.texts("sources")),
            ask.text("policy"),
        )
        fault = find_rule_fault(rule)
        if fault is not None:
            raise bad_request(fault.rstrip("."), hint=f"a resource is {_RESOURCE}")
        user = ask.text("user")
        rights = Rights(f"{SUBJECT_PREFIX}{user}", (rule,))
        brokers = await self._admin.access.create_rights(rights)
        from aerobee.app.explaining.rights_verdict import rule_text

        return {"done": f"{user}: {rule_text(rule)}", "brokers": brokers}

    async def delete(self, ask: Ask) -> Record:
        user, resource = ask.text("user"), ask.text("resource")
        brokers = await self._admin.access.delete_rights(
            f"{SUBJECT_PREFIX}{user}", resource=resource, policy=ask.text("policy")
        )
        return {"done": f"the rule of {user} for {resource} was deleted", "brokers": brokers}

    async def can(self, ask: Ask) -> Record:
        from aerobee.app.explaining.rights_verdict import rights_verdicts

        try:
            verdicts = await rights_verdicts(
                self._admin.access,
                ask.text("user"),
                ask.text("action"),
                ask.text("resource"),
                source=ask.text("source"),
            )
        except RemoteAnswer as error:  # an Apache broker without authentication
            raise Problem(501, "not_supported", f"{NO_USERS} ({error.message})") from error
        return {"at": self._wall_ms(), "rows": [one._asdict() for one in verdicts]}


def _right_rows(rights: Rights) -> list[Row]:
    return [
        {
            "user": rights.subject.removeprefix(SUBJECT_PREFIX),
            "resource": rule.resource,
            "actions": list(rule.actions),
            "decision": rule.decision,
            "sources": list(rule.sources),
            "policy": rule.policy,
        }
        for rule in rights.rules
    ]
