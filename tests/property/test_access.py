"""Any order of changes of users and rules equals the set that is computed anew; a decision depends
on the rules and not on their order; a sealed table comes back."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.errors import AerobeeError
from aerobee.model.access import Action, Resource, ResourceKind, Rule, User
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_rules import decide, normal_rule, ready_rules
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.table_text import decode_table, encode_table

NAMES = ("a", "b", "c")
RESOURCES = ("*", "Topic:*", "Topic:T*", "Topic:T", "Topic:Ta", "Group:*", "Group:g")
rules = st.builds(
    Rule,
    st.sampled_from(RESOURCES),
    st.lists(st.sampled_from(["All", "Pub", "Sub", "Get"]), min_size=1, max_size=2).map(tuple),
    st.sampled_from(["Allow", "Deny"]),
    st.sampled_from([(), ("10.0.0.0/8",), ("10.0.0.1",)]),
    st.sampled_from(["Custom", "Default"]),
)
names = st.sampled_from(NAMES)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("make"), names, st.text("xy", min_size=1, max_size=3)),
        st.tuples(st.just("delete"), names, st.none()),
        st.tuples(st.just("add"), names, st.lists(rules, min_size=1, max_size=3)),
        st.tuples(st.just("forget"), names, st.sampled_from(("", *RESOURCES))),
    ),
    max_size=30,
)


def changed(table: AccessTable, change: tuple[str, str, object]) -> AccessTable:
    kind, name, value = change
    if kind == "make":
        return table.with_user(UserChange(name, str(value)), None)
    if kind == "delete":
        return table.without_user(name, None)
    if kind == "add":
        assert isinstance(value, list)
        return table.with_rules(name, value)
    return table.without_rules(name, "", str(value))


class Model:
    """Users, and for each the rule of each policy and resource, the last one last."""

    def __init__(self) -> None:
        self.users: dict[str, str] = {}
        self.rules: dict[str, dict[tuple[str, str], list[Rule]]] = {}

    def change(self, change: tuple[str, str, object]) -> None:
        kind, name, value = change
        if kind == "make":
            self.users.setdefault(name, str(value))
        elif kind == "delete":
            self.users.pop(name, None)
            self.rules.pop(name, None)
        elif name in self.users and kind == "add":
            assert isinstance(value, list)
            mine = self.rules.setdefault(name, {})
            for rule in value:
                mine.pop((rule.policy, rule.resource), None)
            for rule in value:
                mine.setdefault((rule.policy, rule.resource), []).append(normal_rule(rule))
        elif name in self.rules and kind == "forget":
            mine = self.rules[name]
            for key in list(mine) if not value else [("Custom", str(value))]:
                mine.pop(key, None)
            if not mine:
                del self.rules[name]


@given(changes)
def test_any_order_of_changes_equals_the_recomputed_set(
    story: list[tuple[str, str, object]],
) -> None:
    table, model = AccessTable(), Model()
    for change in story:
        before = table
        try:
            table = changed(table, change)
        except AerobeeError:
            table = before
        model.change(change)
    assert dict(table.users) == {name: User(name, word) for name, word in model.users.items()}
    assert {name: sorted(map(repr, found)) for name, found in table.rules.items()} == {
        name: sorted(repr(rule) for group in mine.values() for rule in group)
        for name, mine in model.rules.items()
    }
    assert decode_table(encode_table(table, b"k" * 32), b"k" * 32) == table


@given(st.lists(rules, max_size=8), st.randoms())
def test_a_decision_does_not_depend_on_the_order_of_rules(
    found: list[Rule], random: object
) -> None:
    asked = Resource(ResourceKind.TOPIC, "Ta")
    mixed = list(found)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for source in ("10.0.0.1", "10.0.0.2", "::1"):
        first = decide(ready_rules(found), asked, (Action.PUB,), source)
        assert (
            first.is_allowed == decide(ready_rules(mixed), asked, (Action.PUB,), source).is_allowed
        )


@given(st.lists(rules, max_size=8))
def test_without_an_allowing_rule_nothing_is_allowed(found: list[Rule]) -> None:
    denying = [rule for rule in found if rule.decision == "Deny"]
    asked = Resource(ResourceKind.TOPIC, "Ta")
    assert not decide(ready_rules(denying), asked, (Action.PUB,), "10.0.0.1").is_allowed
