"""Unit tests of numbers as Java reads and orders them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee.protocol.primitives.java_numbers import JavaNumber, order_of_reals, order_of_wholes


def read(text: bytes, type_: str) -> float | None:
    number = JavaNumber()
    if not number.read_text(text, type_):
        return None
    return number.real if type_ == "double" else number.whole


@pytest.mark.parametrize(("type_", "bits"), [("int", 31), ("long", 63)])
def test_a_whole_number_is_read_to_its_bounds_and_no_further(type_: str, bits: int) -> None:
    for value in (0, 1, -1, 7, 2**bits - 1, -(2**bits), 2**bits - 2, 1 - 2**bits):
        assert read(b"%d" % value, type_) == value
    for value in (2**bits, -(2**bits) - 1, 10**bits, 2**bits * 10, 10**30):
        assert read(b"%d" % value, type_) is None


def test_a_whole_number_may_have_a_sign_and_zeros_and_nothing_else() -> None:
    assert read(b"+7", "int") == read(b"0000000000000000000000007", "int") == 7
    assert read(b"-0", "int") == 0
    for text in (b"", b"+", b"-", b"+-7", b" 7", b"7 ", b"7.", b"7e0", b"0x7", b"7L", b"\xd9\xa7"):
        assert read(text, "int") is None
        assert read(text, "long") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"7", 7.0),
        (b" \t-7.25\n", -7.25),
        (b"7.", 7.0),
        (b".5", 0.5),
        (b"+1e3", 1000.0),
        (b"1.5E-2", 0.015),
        (b"1f", 1.0),
        (b"2.5D", 2.5),
        (b"1e2d", 100.0),
        (b"Infinity", math.inf),
        (b"-Infinity", -math.inf),
        (b"1e999", math.inf),
        (b"1e-999", 0.0),
        (b"0.1", 0.1),
        (b"9007199254740993", 9007199254740992.0),
    ],
)
def test_a_double_is_read_in_each_of_its_forms(text: bytes, value: float) -> None:
    assert read(text, "double") == value


@pytest.mark.parametrize("text", [b"NaN", b"+NaN", b"-NaN"])
def test_what_is_not_a_number_is_a_double(text: bytes) -> None:
    found = read(text, "double")
    assert found is not None
    assert math.isnan(found)


@pytest.mark.parametrize(
    "text",
    [
        *(
            b"",
            b" ",
            b"+",
            b".",
            b"e1",
            b"1e",
            b"1e+",
            b"1_0",
            b"0x1p3",
            b"nan",
            b"inf",
            b"infinity",
        ),
        *(b"NaNf", b"Infinity1", b"1ff", b"1 1", b"--1", b"1.2.3", b"N", b"I", b"\xd9\xa7"),
    ],
)
def test_what_is_no_double_is_not_read(text: bytes) -> None:
    assert read(text, "double") is None


@given(
    st.one_of(
        st.from_regex(r"-?[0-9]{0,18}\.?[0-9]{0,18}", fullmatch=True),
        st.floats(allow_nan=False).map(repr),
        st.from_regex(r"[+-]?[0-9]{1,3}\.[0-9]{1,14}", fullmatch=True),
    )
)
def test_a_double_is_the_nearest_one(text: str) -> None:
    found = read(text.encode(), "double")
    if any(letter.isdigit() for letter in text):
        assert repr(found) == repr(float(text))
    else:
        assert (found is None) == ("inf" in text or text in ("", "-", ".", "-."))


def test_a_zero_has_a_sign() -> None:
    for text, sign in ((b"0", 1.0), (b"-0", -1.0), (b"-0.00", -1.0), (b".0", 1.0), (b"-.0", -1.0)):
        found = read(text, "double")
        assert found == 0.0
        assert math.copysign(1.0, found) == sign


def test_doubles_have_one_order() -> None:
    rising = [-math.inf, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, math.inf, math.nan]
    for left, one in enumerate(rising):
        for right, other in enumerate(rising):
            assert order_of_reals(one, other) == order_of_wholes(left, right)
