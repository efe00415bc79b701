"""Values of columns, from both sides, and what cannot be a value."""

import math
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from aerobee.pipeline.capture.column_values import (
    JsonValue,
    from_log,
    from_query,
    shortest_single,
    time_text,
)
from aerobee.pipeline.capture.table_schema import Column, Kind

_NOON = datetime(2020, 1, 2, 3, 4, 5)
_LATER = _NOON.replace(microsecond=250_000)
_LEAST = -timedelta(hours=838, minutes=59, seconds=59)
_UUID = "00010203-0405-0607-0809-0a0b0c0d0e0f"
_JSON = '{"a": ["é", 1, null]}'


@pytest.mark.parametrize(
    ("kind", "logged", "queried", "said"),
    [
        (Kind.INTEGER, 2**64 - 1, 2**64 - 1, 2**64 - 1),
        (Kind.DECIMAL, Decimal("-1E-30"), Decimal("-1E-30"), "-0." + "0" * 29 + "1"),
        (Kind.DECIMAL, Decimal("1.50"), Decimal("1.50"), "1.50"),
        (Kind.FLOAT, 0.10000000149011612, 0.10000000149011612, 0.1),
        (Kind.DOUBLE, 0.1, 0.1, 0.1),
        (Kind.DATE, date(2020, 2, 29), date(2020, 2, 29), "2020-02-29"),
        (Kind.DATE, None, "0000-00-00", None),
        (Kind.DATETIME, _NOON, _NOON, "2020-01-02T03:04:05"),
        (Kind.TIMESTAMP, _LATER, _LATER, "2020-01-02T03:04:05.25Z"),
        (Kind.TIMESTAMP, datetime(1970, 1, 1), "0000-00-00 00:00:00", None),
        (Kind.TIME, _LEAST, _LEAST, "-838:59:59"),
        (Kind.YEAR, 1900, 0, 0),
        (Kind.YEAR, 2024, 2024, 2024),
        (Kind.BIT, "1000000001", b"\x02\x01", 513),
        (Kind.BINARY, b"\x00\xff", b"\x00\xff", "AP8="),
        (Kind.UUID, bytes(range(16)), _UUID, _UUID),
        (Kind.INET, bytes(15) + b"\x01", "::1", "::1"),
        (Kind.INET, b"\x7f\x00\x00\x01", "127.0.0.1", "127.0.0.1"),
        (Kind.JSON, {b"a": [b"\xc3\xa9", 1, None]}, _JSON, _JSON),
        (Kind.TEXT, "grüße", "grüße", "grüße"),
        (Kind.TEXT, None, None, None),
    ],
)
def test_the_log_and_a_query_say_the_same(
    kind: Kind, logged: object, queried: object, said: JsonValue
) -> None:
    column = Column("c", kind)
    assert from_log(column, logged) == said
    assert from_query(column, queried) == said


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_float_that_json_does_not_have_is_null(value: float) -> None:
    for kind in (Kind.FLOAT, Kind.DOUBLE):
        assert from_log(Column("c", kind), value) is None
        assert from_query(Column("c", kind), value) is None
    assert from_log(Column("c", Kind.JSON), {b"a": [value, 1.5]}) == '{"a": [null, 1.5]}'


def test_a_set_has_the_order_of_its_labels() -> None:
    column = Column("c", Kind.SET, labels=("z", "a", "m"))
    assert from_log(column, frozenset({"m", "z"})) == "z,m"
    assert from_log(column, frozenset()) == ""


def test_bytes_of_a_fixed_length_have_their_zeros_back() -> None:
    column = Column("c", Kind.BINARY, length=4)
    assert from_log(column, b"\x01") == from_query(column, b"\x01\0\0\0")


def test_what_is_no_value_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"c: object"):
        from_log(Column("c", Kind.TEXT), object())


@pytest.mark.parametrize(
    ("value", "short"),
    [(16777216.0, 16777216.0), (1.0000000150474662e30, 1e30), (0.3333333432674408, 0.33333334)],
)
def test_a_float_is_as_short_as_it_can_be(value: float, short: float) -> None:
    assert shortest_single(value) == short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(microseconds=-250_000), "-00:00:00.25"),
        (timedelta(hours=100, microseconds=1), "100:00:00.000001"),
        (timedelta(0), "00:00:00"),
    ],
)
def test_times_have_a_sign_of_their_own(value: timedelta, text: str) -> None:
    assert time_text(value) == text
