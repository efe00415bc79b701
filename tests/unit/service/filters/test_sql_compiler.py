"""Unit tests of what expressions let through: RocketMQ's values, types and logic."""

import pytest

from aerobee.model.properties import encode_properties
from aerobee.service.filters.sql_compiler import UNITS_MAX, UNITS_MIN, compile_sql
from aerobee.service.filters.sql_lexer import BadExpression
from aerobee.service.filters.sql_parser import TERMS_MAX

P = {"a": "1", "b": "2.5", "t": "true", "s": "text", "big": "9223372036854775807", "neg": "-3"}


def passes(expression: str, **properties: str) -> bool:
    return compile_sql(expression).matches_text(encode_properties(properties or P))


@pytest.mark.parametrize(
    "expression",
    [
        "TRUE",
        "a = 1",
        "1 = a",
        "a <> 2",
        "a > 0 AND a < 2 AND a >= 1 AND a <= 1",
        "2 > a",
        "b = 2.5",
        "b > 1.5",
        "b < 1e3",
        "a < 1.5",
        "1.0 = 1",
        "1 < 1.5",
        "s = 'text'",
        "s <> 'Text'",
        "'x' = 'x'",
        "t = TRUE",
        "a = FALSE",
        "TRUE = TRUE",
        "big = 9223372036854775807",
        "big > 2147483648",
        "neg = -3",
        "neg < - 2",
        "neg > -2147483649",
        "neg = - - - 3",
        "b > a",
        "a < b",
        "a BETWEEN 1 AND 1",
        "a BETWEEN -1 AND 2",
        "a NOT BETWEEN 2 AND 3",
        "b BETWEEN a AND 3.0",
        "s IN ('x', 'text')",
        "s NOT IN ('x')",
        "a IN ('1')",
        "s CONTAINS 'ex'",
        "s STARTSWITH 'te'",
        "s ENDSWITH 'xt'",
        "s NOT CONTAINS 'y'",
        "s NOT STARTSWITH 'xt'",
        "s NOT ENDSWITH 'te'",
        "s NOT ENDSWITH 'longer than it is'",
        "'abc' CONTAINS 'b'",
        "none IS NULL",
        "a IS NOT NULL",
        "(none = 1) IS NULL",
        "NULL IS NULL",
        "none = -NULL",
        "none = -a",
        "NOT FALSE",
        "NOT a",
        "none = 1 OR a = 1",
        "NOT (none = 1 AND a = 2)",
        "(a = 1) = TRUE",
        "(a = 1) = (b = 2.5)",
        "a = 1 OR s > 1",
        "NOT (a = 2 AND s > 1)",
    ],
)
def test_a_message_is_let_through(expression: str) -> None:
    assert passes(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "FALSE",
        "NULL",
        "NOT NULL",
        "a",
        "t",
        "none",
        "NOT none",
        "A = 1",
        "a = 2",
        "a <> 1",
        "a = 'x'",
        "none = 1",
        "none <> 1",
        "NOT (none = 1)",
        "a = none",
        "1 = none",
        "none > 1",
        "none BETWEEN 1 AND 2",
        "none NOT BETWEEN 1 AND 2",
        "none IN ('x')",
        "none NOT IN ('x')",
        "none CONTAINS 'x'",
        "none NOT CONTAINS 'x'",
        "s CONTAINS ''",
        "s NOT CONTAINS ''",
        "1 CONTAINS '1'",
        "1 NOT CONTAINS '2'",
        "(a = 1) STARTSWITH 'x'",
        "a IS NULL",
        "none IS NOT NULL",
        "1 = TRUE",
        "1.5 = FALSE",
        "(a = 1) = 1",
        "NOT a = 1",
        "a = -s",
        "-a > 0",
        "none = 1 AND a = 1",
        "a = 1 AND none = 1",
    ],
)
def test_a_message_is_kept_back(expression: str) -> None:
    assert not passes(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "b = 2",
        "b > 2",
        "2 < b",
        "s = 1",
        "s <> 1",
        "NOT (s = 1)",
        "s > 1.5",
        "s > a",
        "big = 1",
        "s BETWEEN 1 AND 2",
        "s = 1 OR a = 1",
        "(s > 1) IS NULL",
        "(s > 1) CONTAINS 'x'",
        "TRUE = t",
        "(a = 1) = t",
        "a = (s > 1)",
    ],
)
def test_values_that_cannot_be_compared_keep_a_message_back_and_are_remembered(
    expression: str,
) -> None:
    compiled = compile_sql(expression)
    assert not compiled.matches_text(encode_properties(P))
    assert compiled.faults == 1
    assert compiled.has_news


def test_a_fault_that_is_not_reached_does_no_harm() -> None:
    assert passes("a = 1 OR s > 1")
    assert not passes("a = 2 AND s > 1")
    assert not passes("none = 1 AND s > 1"), "NULL is asked on, as it may become FALSE"
    assert compile_sql("none > s").matches_text(encode_properties(P)) is False


@pytest.mark.parametrize(
    ("literal", "text", "is_equal"),
    [
        ("7", "7", True),
        ("7", "+7", True),
        ("7", "007", True),
        ("-7", "-7", True),
        ("0", "-0", True),
        ("2147483647", "2147483647", True),
        ("7", "2147483648", False),
        ("-1", "-2147483648", False),
        ("2147483648", "2147483648", True),
        ("2147483648", "-9223372036854775808", False),
        ("2147483648", "9223372036854775808", False),
        ("7", " 7", False),
        ("7", "7 ", False),
        ("7", "7.0", False),
        ("7", "", False),
        ("7", "+", False),
        ("7", "٧", False),
        ("7.0", "7", True),
        ("7.0", " 7.0 ", True),
        ("7.0", "+7.", True),
        ("0.5", ".5", True),
        ("7.0", "7e0", True),
        ("70.0", "7E+1", True),
        ("7.0", "7.0f", True),
        ("7.0", "7D", True),
        ("7.0", "7.0fd", False),
        ("7.0", "7e", False),
        ("7.0", "7e+", False),
        ("7.0", ".", False),
        ("7.0", "7_0", False),
        ("7.0", "0x7", False),
        ("7.0", "inf", False),
        ("7.0", "NaN", False),
    ],
)
def test_a_property_takes_the_type_of_the_number_beside_it(
    literal: str, text: str, is_equal: bool
) -> None:
    record = f"p\x01{text}\x02".encode()
    assert compile_sql(f"p = {literal}").matches_text(record) is is_equal
    assert compile_sql(f"{literal} = p").matches_text(record) is is_equal


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("-Infinity", "-1e308"),
        ("1e308", "Infinity"),
        ("Infinity", "NaN"),
        ("-0.0", "0.0"),
        ("-0", "+0"),
        ("9", "10"),
        ("1e999", "NaN"),
    ],
)
def test_numbers_have_javas_order(left: str, right: str) -> None:
    assert passes("l < r AND l <= r AND r > l AND r >= l", l=left, r=right)
    assert not passes("l > r OR l >= r OR r < l OR r <= l", l=left, r=right)
    assert passes("l >= l AND l <= l", l=left)
    assert not passes("l > l OR l < l", l=right)


def test_a_long_is_rounded_where_java_rounds_it() -> None:
    assert passes("9007199254740993 = 9007199254740992.0")
    assert not passes("9007199254740993 = 9007199254740992")


def test_texts_are_compared_as_they_are() -> None:
    assert passes("s = 'grün'", s="grün")
    assert passes("s CONTAINS 'ü' AND s ENDSWITH 'n'", s="grün")
    assert passes("s = 'it''s'", s="it's")
    assert passes("t = TRUE", t="TRUE")
    assert not passes("t = TRUE", t="yes")
    assert not passes("s = '\ud800'", s="?")


def test_a_mistake_is_not_compiled() -> None:
    with pytest.raises(BadExpression):
        compile_sql("a >")


def test_a_filter_that_takes_long_is_asked_about_fewer_messages() -> None:
    assert compile_sql("a = 1").units_max == UNITS_MAX
    assert compile_sql(" OR ".join(["a = 1"] * 8)).units_max == UNITS_MAX // 2
    assert compile_sql(" OR ".join(["a = 1"] * TERMS_MAX)).units_max == UNITS_MIN
