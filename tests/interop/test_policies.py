"""A user may do what RocketMQ's own classes decide, for any rules in any order of changes."""

import contextlib
import json
import random
import subprocess
from typing import Any

import pytest

from aerobee.model.access import Action, Resource, ResourceKind, Rule, User, find_action
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_rules import decide, ready_rules
from aerobee.service.access.access_table import AccessRefused, AccessTable
from tests.interop.apache import Jars

pytestmark = pytest.mark.java

CASES = 2_000
CHANGES_MAX = 12
ASKS = 8
NAMES = ("orders", "orders-eu", "orders-eu-1", "bills", "o")
RESOURCES = (
    "*",
    *(f"{kind}:{name}" for kind in ("Topic", "Group", "Cluster") for name in (*NAMES, "*")),
    *(f"{kind}:{start}*" for kind in ("Topic", "Group") for start in ("o", "orders", "orders-eu")),
)
ACTIONS = ("All", "Pub", "Sub", "Create", "Update", "Delete", "Get", "List")
SOURCES = ("10.0.0.1", "10.0.0.0/24", "10.0.0.0/8", "192.168.1.7")
ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.9.9.9", "192.168.1.7")


def made_case(choice: random.Random) -> dict[str, Any]:
    changes: list[dict[str, Any]] = []
    for _ in range(choice.randint(1, CHANGES_MAX)):
        change: dict[str, Any] = {
            "policy": choice.choice(("Custom", "Custom", "Default")),
            "resource": choice.choice(RESOURCES),
        }
        if choice.random() < 0.2 and changes:
            one = choice.choice(changes)  # taken back, if it is there
            change = {"policy": one["policy"], "resource": one["resource"]}
        else:
            change["decision"] = choice.choice(("Allow", "Deny"))
            change["actions"] = choice.sample(ACTIONS, choice.randint(1, 3))
            change["sources"] = choice.sample(SOURCES, choice.choice((0, 0, 1, 2)))
        changes.append(change)
    asks = [
        {
            "kind": choice.choice(("Topic", "Topic", "Group", "Cluster")),
            "name": choice.choice((*NAMES, "other")),
            "actions": [choice.choice(ACTIONS[1:])],
            "source": choice.choice(ADDRESSES),
        }
        for _ in range(ASKS)
    ]
    return {"changes": changes, "asks": asks}


def our_answers(case: dict[str, Any]) -> list[bool]:
    root = User("root", "x", "Super")
    table = AccessTable().with_user(UserChange("alice", "secret"), root)
    for change in case["changes"]:
        if "decision" in change:
            given = (change["resource"], tuple(change["actions"]), change["decision"])
            rule = Rule(*given, tuple(change["sources"]), change["policy"])
            table = table.with_rules("alice", [rule])
        else:
            with contextlib.suppress(AccessRefused):  # there is none any more
                table = table.without_rules("alice", change["policy"], change["resource"])
    rules = ready_rules(table.rules.get("alice", ()))
    return [
        decide(
            rules,
            Resource(ResourceKind(ask["kind"]), ask["name"]),
            {action(name) for name in ask["actions"]},
            ask["source"],
        ).is_allowed
        for ask in case["asks"]
    ]


def action(name: str) -> Action:
    found = find_action(name)
    assert found is not None
    return found


def test_rules_decide_as_in_rocketmqs_own_classes(jars: Jars) -> None:
    choice = random.Random(20)
    cases = [made_case(choice) for _ in range(CASES)]
    done = subprocess.run(
        jars.command("Policies", options=("-Xmx256m",)),
        input="".join(json.dumps(case) + "\n" for case in cases),
        capture_output=True,
        encoding="utf-8",
        timeout=200,
        check=False,
    )
    theirs = [json.loads(line[2:]) for line in done.stdout.splitlines() if line.startswith("= ")]
    assert len(theirs) == CASES, done.stderr[-3000:]
    allowed = 0
    for case, expected in zip(cases, theirs, strict=True):
        assert our_answers(case) == expected, case
        allowed += sum(expected)
    assert CASES // 2 < allowed < CASES * ASKS // 2  # both are common
