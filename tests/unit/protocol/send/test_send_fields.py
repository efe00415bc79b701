import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.send.send_fields import SendFields


def fields(ext_fields: dict[str, str], code: int = 310) -> SendFields:
    return SendFields(CommandHeader(code, ext_fields=ext_fields))


def test_names_are_long_for_sends_and_replies_and_letters_for_the_others() -> None:
    for code in (10, 324):
        assert fields({"topic": "T", "b": "other"}, code).text("b") == b"T"
    for code in (310, 320, 325):
        assert fields({"b": "T", "topic": "other"}, code).text("b") == b"T"


@pytest.mark.parametrize("present", [{}, {"b": ""}])
def test_text_that_must_be_there_is_missed(present: dict[str, str]) -> None:
    with pytest.raises(RemoteProtocolError, match="without its field b"):
        fields(present).text("b")
    with pytest.raises(RemoteProtocolError, match="without its field topic"):
        fields(present, 10).text("b")


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("-0", 0), ("007", 7), ("-2147483648", -(2**31))]
)
def test_numbers_are_decimal(text: str, number: int) -> None:
    assert fields({"e": text}).int32("e") == number


@pytest.mark.parametrize(
    "text", ["", "-", "1_0", " 7", "7\n", "+7", "１２", "0x10", "1.0", "9" * 30]
)
def test_text_that_python_alone_would_take_for_a_number_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="the field e of a send is no number"):
        fields({"e": text}).int32("e")


def test_numbers_keep_to_their_width() -> None:
    assert fields({"g": "9223372036854775807"}).int64("g") == 2**63 - 1
    with pytest.raises(RemoteProtocolError, match="does not fit 64 bits"):
        fields({"g": "9223372036854775808"}).int64("g")
    with pytest.raises(RemoteProtocolError, match="does not fit 32 bits"):
        fields({"e": "2147483648"}).int32("e")


def test_a_missing_number_is_named_as_the_peer_would() -> None:
    with pytest.raises(RemoteProtocolError, match="without its field queueId"):
        fields({}, 10).int32("e")


def test_an_optional_number_may_be_absent_or_empty_but_not_wrong() -> None:
    assert fields({}).optional_int32("l", -1) == -1
    assert fields({"l": ""}).optional_int32("l", -1) == -1
    assert fields({"l": "16"}).optional_int32("l", -1) == 16
    with pytest.raises(RemoteProtocolError, match="no number"):
        fields({"l": "x"}).optional_int32("l", -1)


@pytest.mark.parametrize(
    ("text", "is_true"),
    [("true", True), ("TRUE", True), ("1", True), ("false", False), ("0", False), ("yes", False)],
)
def test_true_is_said_in_two_ways(text: str, is_true: bool) -> None:
    assert fields({"m": text}).is_true("m") is is_true
    assert fields({}).is_true("m") is False


def test_properties_end_where_an_int16_does() -> None:
    assert fields({}).properties() == b""
    assert len(fields({"i": "x" * 32767}).properties()) == 32767
    with pytest.raises(RemoteProtocolError, match="32768 bytes of properties"):
        fields({"i": "é" * 16384}).properties()


def test_text_that_may_be_missing_is_empty_then() -> None:
    assert fields({"c": "TBW102"}).optional_text("c") == "TBW102"
    assert fields({"defaultTopic": "TBW102"}, 324).optional_text("c") == "TBW102"
    assert fields({}).optional_text("c") == ""
