"""Unit tests of the grammar: what binds what, which types go together, what is too much."""

import pytest

from aerobee.service.filters.sql_lexer import BadExpression
from aerobee.service.filters.sql_parser import (
    CHARS_MAX,
    DEPTH_MAX,
    PROPERTIES_MAX,
    TERMS_MAX,
    parse_sql,
)
from aerobee.service.filters.sql_tree import (
    AllOf,
    AnyOf,
    Compared,
    Negative,
    Not,
    NullTest,
    Property,
    Real,
    Text,
    Truth,
    Whole,
    write,
)

A, B, C = Property("a"), Property("b"), Property("c")


def rewritten(expression: str) -> str:
    return write(parse_sql(expression))


@pytest.mark.parametrize(
    ("expression", "meaning"),
    [
        ("a OR b AND c", "a OR (b AND c)"),
        ("a AND b OR c AND d", "(a AND b) OR (c AND d)"),
        ("(a OR b) AND c", "(a OR b) AND c"),
        ("a = 1 AND b <> 'x'", "(a = 1) AND (b <> 'x')"),
        ("NOT a = b", "(NOT a) = b"),
        ("NOT (a = 1)", "NOT (a = 1)"),
        ("NOT NOT a", "NOT (NOT a)"),
        ("a = b > 1", "a = (b > 1)"),
        ("a > 1 = b", "(a > 1) = b"),
        ("a = b = c", "(a = b) = c"),
        ("a > 1 IS NOT NULL", "(a > 1) IS NOT NULL"),
        ("a is null = TRUE", "(a IS NULL) = TRUE"),
        ("a between -1 and + 2", "a BETWEEN (- 1) AND 2"),
        ("a NOT BETWEEN 2 AND 1", "a NOT BETWEEN 2 AND 1"),
        ("a BETWEEN 1 AND 2 AND b", "(a BETWEEN 1 AND 2) AND b"),
        ("a BETWEEN 1.5 AND 2", "a BETWEEN 1.5 AND 2"),
        ("a BETWEEN 2 AND -1", "a BETWEEN 2 AND (- 1)"),
        ("a IN ('x')", "a IN ('x')"),
        ("(a) NOT IN ('x', 'y')", "a NOT IN ('x', 'y')"),
        ("a CONTAINS 'x' OR a NOT startswith 'y'", "(a CONTAINS 'x') OR (a NOT STARTSWITH 'y')"),
        ("'x' ENDSWITH 'y'", "'x' ENDSWITH 'y'"),
        ("1 = TRUE", "1 = TRUE"),
        ("TRUE = FALSE", "TRUE = FALSE"),
        ("NULL IS NULL", "NULL IS NULL"),
        ("- 'x' = a", "(- 'x') = a"),
        ("3L < a", "3 < a"),
        ("NULL", "NULL"),
        ("NOT NULL", "NOT NULL"),
        ("((((a))))", "a"),
    ],
)
def test_an_expression_means_what_rocketmq_makes_of_it(expression: str, meaning: str) -> None:
    assert rewritten(expression) == meaning


def test_trees_are_made_of_values() -> None:
    assert parse_sql("a = 1 AND b = 1.5 OR NOT c OR TRUE OR a = -'x' OR b IS NULL") == AnyOf(
        (
            AllOf((Compared("=", A, Whole(1)), Compared("=", B, Real(1.5)))),
            Not(C),
            Truth(True),
            Compared("=", A, Negative(Text("x"))),
            NullTest(B),
        )
    )


@pytest.mark.parametrize(
    ("expression", "position", "why"),
    [
        ("", 0, "no expression"),
        ("  -- nothing", 12, "no expression"),
        ("a =", 3, "a value is missing"),
        ("a == 1", 3, "written once"),
        ("= 1", 0, "a value is missing"),
        ("a LIKE 'x%'", 2, "CONTAINS"),
        ("a = 1 b = 2", 6, "ends before this"),
        ("(a = 1", 6, r"\) is missing"),
        ("a = 1)", 5, "ends before this"),
        ("a = NULL", 4, "IS NULL"),
        ("NULL <> a", 0, "IS NOT NULL"),
        ("TRUE = 1", 7, "TRUE and FALSE"),
        ("TRUE = 'x'", 7, "TRUE and FALSE"),
        ("a > 'x'", 4, "order"),
        ("'x' > a", 0, "order"),
        ("a <= TRUE", 5, "order"),
        ("(a = 1) > 2", 0, "order"),
        ("a BETWEEN 'a' AND 'b'", 10, "order"),
        ("a BETWEEN 1 AND NULL", 16, "order"),
        ("a NOT BETWEEN 'a' AND 1", 14, "order"),
        ("a BETWEEN 5 AND 3", 16, "below"),
        ("a BETWEEN 5 AND 4.5", 16, "below"),
        ("a BETWEEN 1", 11, "AND is missing"),
        ("'x' IN ('x')", 0, "properties"),
        ("a IN (1, 2)", 6, "single quotes"),
        ("a IN ()", 6, "single quotes"),
        ("a IN 'x'", 5, r"\( is missing"),
        ("a IN ('x' 'y')", 10, r"\) is missing"),
        ("a CONTAINS b", 11, "single quotes"),
        ("a IS 5", 5, "NULL is missing"),
        ("5", 0, "a condition"),
        ("'x' AND a", 0, "a condition"),
        ("a OR 5", 5, "a condition"),
        ("NOT 5", 4, "a condition"),
        ("NOT -a", 4, "a condition"),
        ("a = 9223372036854775808", 4, "at most"),
        ("a = " + "9" * 5000, 4, "at most"),
        ("a = 0.0", 4, "write 0"),
        ("a = 1e400", 4, "from"),
        ("a = 1e-400", 4, "from"),
        ("in = 1", 0, "cannot be named"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(expression: str, position: int, why: str) -> None:
    with pytest.raises(BadExpression, match=why) as caught:
        parse_sql(expression)
    assert caught.value.position == position


def test_an_expression_may_be_large_but_not_larger() -> None:
    parse_sql("a = '" + "x" * (CHARS_MAX - 6) + "'")
    with pytest.raises(BadExpression, match="characters"):
        parse_sql("a = '" + "x" * (CHARS_MAX - 5) + "'")
    parse_sql(" OR ".join(["a = 1"] * TERMS_MAX))
    with pytest.raises(BadExpression, match="comparisons"):
        parse_sql(" OR ".join(["a = 1"] * (TERMS_MAX + 1)))
    with pytest.raises(BadExpression, match="comparisons"):
        parse_sql(" OR ".join(["a"] * TERMS_MAX) + " OR TRUE")
    parse_sql(" OR ".join(f"a{number}" for number in range(PROPERTIES_MAX)))
    with pytest.raises(BadExpression, match="properties"):
        parse_sql(" OR ".join(f"a{number}" for number in range(PROPERTIES_MAX + 1)))


@pytest.mark.parametrize(
    ("begin", "end"), [("(", ")"), ("NOT ", ""), ("NOT (", ")"), ("- ", ""), ("+", "")]
)
def test_an_expression_may_be_deep_but_not_deeper(begin: str, end: str) -> None:
    depth = DEPTH_MAX if begin != "NOT (" else DEPTH_MAX // 2
    parse_sql("a = b AND " + begin * depth + "a" + end * depth + (" = 1" if "-" in begin else ""))
    with pytest.raises(BadExpression, match="inside each other"):
        parse_sql(begin * 2000 + "a" + end * 2000)


def test_a_chain_of_comparisons_is_as_deep_as_it_is_long() -> None:
    parse_sql(" = ".join(["a"] * DEPTH_MAX))
    with pytest.raises(BadExpression, match="too deep"):
        parse_sql(" = ".join(["a"] * 250))
