"""Unit tests of trees as text."""

import pytest

from aerobee.service.filters.sql_tree import (
    AllOf,
    AnyOf,
    Between,
    Compared,
    Negative,
    Node,
    Not,
    NullTest,
    OneOf,
    Property,
    Real,
    Searched,
    Text,
    Truth,
    Whole,
    parts_of,
    write,
)

A, B = Property("a"), Property("b")


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (A, "a"),
        (Text("it's"), "'it''s'"),
        (Whole(7), "7"),
        (Real(1e22), "1e+22"),
        (Truth(True), "TRUE"),
        (Truth(False), "FALSE"),
        (Truth(None), "NULL"),
        (Compared(">=", A, Negative(Whole(1))), "a >= (- 1)"),
        (Not(A), "NOT a"),
        (NullTest(A), "a IS NULL"),
        (NullTest(Not(A), True), "(NOT a) IS NOT NULL"),
        (Between(A, Whole(1), B), "a BETWEEN 1 AND b"),
        (Between(A, Whole(1), B, True), "a NOT BETWEEN 1 AND b"),
        (OneOf(A, ("x", "y")), "a IN ('x', 'y')"),
        (OneOf(A, ("x",), True), "a NOT IN ('x')"),
        (Searched("CONTAINS", A, "x"), "a CONTAINS 'x'"),
        (Searched("ENDSWITH", A, "x", True), "a NOT ENDSWITH 'x'"),
        (AllOf((A, AnyOf((A, B)))), "a AND (a OR b)"),
    ],
)
def test_a_tree_is_written_with_its_parts_in_parentheses(tree: Node, text: str) -> None:
    assert write(tree) == text


def test_the_parts_of_a_node_are_all_that_is_below_it() -> None:
    assert parts_of(A) == parts_of(Text("a")) == ()
    assert parts_of(AllOf((A, B))) == parts_of(AnyOf((A, B))) == (A, B)
    assert parts_of(Compared("=", A, B)) == (A, B)
    assert parts_of(Between(A, B, A)) == (A, B, A)
    for node in (Not(A), Negative(A), NullTest(A), OneOf(A, ("x",)), Searched("CONTAINS", A, "x")):
        assert parts_of(node) == (A,)
