"""Unit tests of the machine that runs filters: properties as they lie in a record, and what is
remembered of those that did not fit. What expressions mean is tested where they are compiled."""

import pytest

from aerobee.protocol.message.property_filter import (
    EQUAL,
    PROPERTY,
    TEXT,
    Comparison,
    Operand,
    PropertyFilter,
)
from aerobee.service.filters.sql_compiler import compile_sql


def is_one(text: bytes, name: bytes = b"a") -> bool:
    """Whether the property has the value 1."""
    operand = Operand(PROPERTY, name)
    same = Comparison(EQUAL, operand, Operand(TEXT, b"1"), "a = '1'")
    return PropertyFilter("a = '1'", same, [operand], [same], 800).matches_text(text)


@pytest.mark.parametrize(
    "text",
    [
        b"a\x011\x02",
        b"a\x011",
        b"x\x015\x02a\x011\x02b\x017\x02",
        b"a\x015\x02a\x011\x02",
        b"a\x011\x02a\x01\x02",
        b"a\x011\x02a\x02",
        b"\x02\x02a\x011",
        b"\x015\x02a\x011",
        b"aa\x015\x02a\x011\x02ba\x015\x02",
    ],
)
def test_a_property_is_found_wherever_it_lies(text: bytes) -> None:
    assert is_one(text)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"a",
        b"a\x01",
        b"a\x02",
        b"a\x01\x02",
        b"a\x011\x011\x02",
        b"A\x011\x02",
        b"a\x011\x02a\x012\x02",
        b"ba\x011\x02",
        b"b\x01a\x011\x02",
        b"a1\x02",
        b"\x01a\x011\x02",
    ],
)
def test_a_property_is_not_found_where_it_is_not(text: bytes) -> None:
    assert not is_one(text)


def test_a_name_is_bytes_of_any_size() -> None:
    name = "größe".encode() * 40
    assert is_one(b"x\x012\x02" + name + b"\x011\x02", name)


def test_what_was_missing_or_could_not_be_compared_is_told_once() -> None:
    tested = compile_sql("price > 40 AND color = 'red'")
    assert not tested.has_news
    assert tested.matches_text(b"price\x0141\x02color\x01red\x02")
    assert not tested.has_news
    told: set[str] = set()
    assert tested.take_news(told) == []
    for _ in range(3):
        tested.matches_text(b"price\x01cheap\x02")
    assert tested.has_news
    assert tested.faults == 3
    assert tested.take_news(told) == [
        "no property color",
        "values that cannot be compared: price > 40",
    ]
    assert not tested.has_news
    tested.matches_text(b"price\x01cheap\x02")
    assert tested.take_news(told) == []
    tested.matches_text(b"color\x01red\x02")
    assert tested.take_news(told) == ["no property price"]


def test_a_filter_keeps_nothing_of_the_message_before() -> None:
    tested = compile_sql("a = 1 AND b = 2")
    assert tested.matches_text(b"a\x011\x02b\x012\x02")
    assert not tested.matches_text(b"a\x011\x02")
    assert tested.matches_text(b"b\x012\x02a\x011\x02")
