"""Names of rows."""

from aerobee.pipeline.capture.column_values import JsonValue
from aerobee.pipeline.capture.row_key import key_row, key_text


def test_a_key_is_its_values_in_the_order_of_the_key() -> None:
    row: dict[str, JsonValue] = {"a": 1, "b": "x", "c": None}
    assert key_text(row, ("b", "a")) == "x|1"
    assert key_row(row, ("b", "a")) == {"b": "x", "a": 1}


def test_what_separates_is_escaped() -> None:
    assert key_text({"a": "a b|c%\n"}, ("a",)) == "a%20b%7Cc%25%0A"


def test_other_letters_stay_as_they_are() -> None:
    assert key_text({"a": "grüße-7.5"}, ("a",)) == "grüße-7.5"
