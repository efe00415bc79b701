from aerobee.client.core.consume.overdue import BACK_AT_ONCE, Overdue


def test_a_message_is_overdue_when_it_was_seen_so_long_ago_and_is_out_still() -> None:
    overdue: Overdue[str] = Overdue(100)
    assert overdue.look(["a", "b"], 1000) == []
    assert overdue.look(["a", "b", "c"], 1099) == []
    assert overdue.look(["b", "c"], 1100) == ["b"]
    assert overdue.look(["b", "c"], 1198) == ["b"]  # could not be sent back
    assert overdue.look(["c"], 1199) == ["c"]


def test_a_message_that_was_in_between_counts_anew() -> None:
    overdue: Overdue[str] = Overdue(100)
    overdue.look(["a"], 1000)
    overdue.look([], 1050)
    assert overdue.look(["a"], 1100) == []
    assert overdue.look(["a"], 1200) == ["a"]


def test_the_oldest_come_first_and_not_too_many_at_once() -> None:
    overdue: Overdue[int] = Overdue(1)
    many = list(range(BACK_AT_ONCE + 5))
    overdue.look(many, 0)
    assert overdue.look(many, 1) == many[:BACK_AT_ONCE]
