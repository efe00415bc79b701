import pytest

from aerobee.model.access import SUPER, Rights, Rule, User
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_table import (
    RULES_MAX,
    AccessRefused,
    AccessTable,
    subject_name,
)

PLAIN = User("plain", "p")
ROOT = User("root", "r", SUPER)
ALICE = AccessTable().with_user(UserChange("alice", "one"), None)
PUB = Rule("Topic:T", ("Pub",))


def test_a_user_is_made_once() -> None:
    assert ALICE.users["alice"] == User("alice", "one")
    with pytest.raises(AccessRefused, match=r"^The user is existed$"):
        ALICE.with_user(UserChange("alice", "two"), None)
    with pytest.raises(AccessRefused, match=r"^The username is blank$"):
        ALICE.with_user(UserChange(" ", "two"), None)
    with pytest.raises(AccessRefused, match=r"^password can not be blank$"):
        ALICE.with_user(UserChange("bob", " "), None)


def test_what_an_update_does_not_say_stays() -> None:
    table = ALICE.with_changed_user(UserChange("alice", is_enabled=False), None)
    assert table.users["alice"] == User("alice", "one", is_enabled=False)
    table = table.with_changed_user(UserChange("alice", "two"), None)
    assert table.users["alice"] == User("alice", "two", is_enabled=False)
    table = table.with_changed_user(UserChange("alice", kind="super"), None)
    assert table.users["alice"] == User("alice", "two", SUPER, False)
    table = table.with_changed_user(UserChange("alice", kind="nonsense"), None)
    assert table.users["alice"].kind == SUPER
    with pytest.raises(AccessRefused, match=r"^The user is not exist$"):
        table.with_changed_user(UserChange("bob", "x"), None)


def test_only_super_users_touch_super_users() -> None:
    boss = UserChange("boss", "b", SUPER)
    with pytest.raises(AccessRefused, match="only be create by super user"):
        ALICE.with_user(boss, PLAIN)
    table = ALICE.with_user(boss, ROOT)
    message = "only be update by super user"
    for change in (
        UserChange("alice", kind=SUPER),
        UserChange("boss", "new"),
        UserChange("boss", kind="Normal"),
    ):
        with pytest.raises(AccessRefused, match=message):
            table.with_changed_user(change, PLAIN)
    with pytest.raises(AccessRefused, match=message):
        table.without_user("boss", PLAIN)
    assert "boss" not in table.without_user("boss", ROOT).users


def test_a_user_takes_its_rules_along() -> None:
    table = ALICE.with_rules("alice", [PUB]).without_user("alice", None)
    assert (dict(table.users), dict(table.rules)) == ({}, {})
    assert table.without_user("alice", None) is table


def test_a_rule_for_the_same_resource_is_replaced_and_others_stay() -> None:
    other = Rule("Group:g", ("Sub",))
    default = Rule("Topic:T", ("Get",), policy="Default")
    table = ALICE.with_rules("alice", [PUB, other, default])
    table = table.with_rules("alice", [Rule("topic:T", ("Sub",), "Deny")])
    assert table.rights_of("alice") == Rights(
        "User:alice", (other, default, Rule("Topic:T", ("Sub",), "Deny"))
    )


def test_rules_are_deleted_one_by_one_or_all() -> None:
    other = Rule("Topic:T", ("Get",), policy="Default")
    table = ALICE.with_rules("alice", [PUB, other])
    assert table.without_rules("alice", "", "Topic:T").rules["alice"] == (other,)
    assert table.without_rules("alice", "Default", "Topic:T").rules["alice"] == (PUB,)
    assert table.without_rules("alice", "", "Topic:U").rules == table.rules
    one = ALICE.with_rules("alice", [PUB])
    assert one.without_rules("alice", "Custom", "Topic:T").rights_of("alice") is None
    assert table.without_rules("alice", "", "").rights_of("alice") is None


def test_rules_of_nobody_are_refused() -> None:
    with pytest.raises(AccessRefused, match=r"^The subject of User:bob is not exist.$"):
        ALICE.with_rules("bob", [PUB])
    with pytest.raises(AccessRefused, match=r"^The subject is not exist.$"):
        ALICE.without_rules("bob", "", "")
    with pytest.raises(AccessRefused, match=r"^The acl is not exist.$"):
        ALICE.without_rules("alice", "", "")
    with pytest.raises(AccessRefused, match=r"^The policies is empty.$"):
        ALICE.with_rules("alice", [])
    with pytest.raises(AccessRefused, match=r"^The actions is empty.$"):
        ALICE.with_rules("alice", [Rule("Topic:T", ())])


def test_a_user_has_a_bounded_number_of_rules() -> None:
    many = [Rule(f"Topic:{number}", ("Pub",)) for number in range(RULES_MAX)]
    table = ALICE.with_rules("alice", many)
    assert table.with_rules("alice", many[:1]).rules["alice"]
    with pytest.raises(AccessRefused, match="at most"):
        table.with_rules("alice", [PUB])


def test_every_change_has_another_version() -> None:
    assert ALICE.version == 1
    assert ALICE.with_rules("alice", [PUB]).version == 2


def test_a_subject_is_a_user() -> None:
    assert subject_name("User:alice") == "alice"
    assert subject_name("user:a:b") == "a:b"
    for text in ("", "alice", "User:", "Group:alice"):
        with pytest.raises(AccessRefused, match=r"^The subject is null.$"):
            subject_name(text)
