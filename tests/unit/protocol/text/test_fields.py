import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.fields import Fields


def test_fields_are_read_by_name() -> None:
    fields = Fields({"t": "x", "i": "-7", "l": "9223372036854775807", "b": "true", "e": ""})
    assert fields.text("t") == "x"
    assert fields.text("e") == ""
    assert fields.int32("i") == -7
    assert fields.int64("l") == 2**63 - 1
    assert fields.is_true("b")


def test_what_is_absent_has_its_default() -> None:
    fields = Fields({"e": ""})
    assert fields.optional_text("x") == ""
    assert fields.optional_text("x", "d") == "d"
    assert fields.int32("x", 5) == 5
    assert fields.int64("e", 6) == 6
    assert fields.is_true("x", True)
    assert not fields.is_true("x")


@pytest.mark.parametrize(
    ("text", "truth"),
    [("true", True), ("TRUE", True), ("1", True), ("false", False), ("0", False), ("yes", False)],
)
def test_truth_is_javas_and_the_1_of_old_clients(text: str, truth: bool) -> None:
    assert Fields({"b": text}).is_true("b", not truth) == truth


@pytest.mark.parametrize(
    "text",
    [
        "x",
        " 1",
        "1 ",
        "1_0",
        "+1",
        "1.0",
        "0x1",
        "１",
        "-",
        "2147483648",
        "-2147483649",
        "9" * 5000,
    ],
)
def test_what_is_no_number_of_its_kind_is_refused_by_name(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="the field n is no number"):
        Fields({"n": text}).int32("n")


def test_what_must_be_there_is_asked_for_by_name() -> None:
    for read in (Fields({}).text, Fields({}).int32, Fields({}).int64):
        with pytest.raises(RemoteProtocolError, match="the field n is missing"):
            read("n")
