from aerobee.model.access import Rule
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_table import AccessTable, changed_names
from aerobee.service.access.table_text import transfer_key
from aerobee.service.broker.replication.raft.access_rows import (
    log_key,
    read_rows,
    sealed_row,
)
from tests.access_kit import INNER

KEY = log_key(INNER)
TABLE = (
    AccessTable()
    .with_user(UserChange("alice", "alice-secret"), None)
    .with_user(UserChange("bob", "bob-secret"), None)
    .with_rules("alice", [Rule("Topic:Orders", ("Pub",))])
)


def rows_of(table: AccessTable) -> list[tuple[str, object]]:
    return [(name, sealed_row(table, name, KEY)) for name in table.users]


def test_rows_add_up_to_the_table_that_they_are_of() -> None:
    made = read_rows(rows_of(TABLE), KEY).onto(AccessTable(), is_whole=False)
    assert (made.users, made.rules) == (TABLE.users, TABLE.rules)


def test_rows_that_change_nothing_leave_the_same_table() -> None:
    assert read_rows(rows_of(TABLE), KEY).onto(TABLE, is_whole=True) is TABLE


def test_a_row_is_the_user_with_all_its_rules_and_no_others() -> None:
    plain = TABLE.without_rules("alice", "", "")
    row = [("alice", sealed_row(plain, "alice", KEY))]
    assert "alice" not in read_rows(row, KEY).onto(TABLE, is_whole=False).rules


def test_a_user_without_a_row_is_gone_of_a_whole_table_only() -> None:
    read = read_rows([("alice", sealed_row(TABLE, "alice", KEY))], KEY)
    assert list(read.onto(TABLE, is_whole=True).users) == ["alice"]
    assert set(read.onto(TABLE, is_whole=False).users) == {"alice", "bob"}


def test_an_empty_row_takes_the_user_and_its_rules_away() -> None:
    left = read_rows([("alice", None)], KEY).onto(TABLE, is_whole=False)
    assert (list(left.users), dict(left.rules)) == (["bob"], {})


def test_a_row_in_the_place_of_another_is_none() -> None:
    read = read_rows([("bob", sealed_row(TABLE, "alice", KEY)), ("carol", 7)], KEY)
    assert read.unreadable == ("bob", "carol")


def test_a_user_whose_row_cannot_be_read_stays_as_it_was() -> None:
    rows = [("alice", sealed_row(TABLE, "alice", b"j" * 32))]
    left = read_rows(rows, KEY).onto(TABLE, is_whole=True)
    assert left.users == {"alice": TABLE.users["alice"]}
    assert left.rules == TABLE.rules


def test_nothing_of_a_user_can_be_read_in_its_row() -> None:
    row = sealed_row(TABLE, "alice", KEY)
    assert row is not None
    assert not any(word in row for word in ("alice", "secret", "Orders"))


def test_rows_are_not_sealed_as_what_brokers_send_each_other_is() -> None:
    assert log_key(INNER) != transfer_key(INNER)


def test_users_whose_user_or_rules_differ_have_changed() -> None:
    after = TABLE.without_user("bob", None).with_user(UserChange("carol", "carol-secret"), None)
    after = after.with_rules("alice", [Rule("Topic:Orders", ("Sub",))])
    assert set(changed_names(TABLE, after)) == {"alice", "bob", "carol"}
    assert changed_names(after, after) == []
