import pytest

from aerobee.protocol.remoting.command_header import BINARY_TYPE, CommandHeader


@pytest.mark.parametrize(
    ("flag", "is_response", "is_oneway"),
    [(0, False, False), (1, True, False), (2, False, True), (3, True, True), (4, False, False)],
)
def test_the_flag_tells_responses_and_oneways(
    flag: int, is_response: bool, is_oneway: bool
) -> None:
    header = CommandHeader(flag=flag)
    assert header.is_response is is_response
    assert header.is_oneway is is_oneway


def test_each_header_has_fields_of_its_own() -> None:
    CommandHeader().ext_fields["a"] = "b"
    assert CommandHeader().ext_fields == {}


@pytest.mark.parametrize(
    "other",
    [
        CommandHeader(2),
        CommandHeader(1, flag=1),
        CommandHeader(1, opaque=1),
        CommandHeader(1, version=1),
        CommandHeader(1, language="GO"),
        CommandHeader(1, remark="r"),
        CommandHeader(1, ext_fields={"a": ""}),
    ],
)
def test_headers_that_differ_in_meaning_are_not_equal(other: CommandHeader) -> None:
    assert CommandHeader(1) != other


def test_a_header_has_no_excess_of_its_own() -> None:
    assert CommandHeader().excess == ""


def test_the_form_on_the_wire_is_no_part_of_the_meaning() -> None:
    assert CommandHeader(1, serialize_type=BINARY_TYPE) == CommandHeader(1)


def test_a_header_is_equal_to_no_other_kind_of_thing() -> None:
    assert CommandHeader() != 0


def test_a_header_shows_what_it_says() -> None:
    assert repr(CommandHeader(5, remark="why")) == (
        "CommandHeader(code=5, flag=0, opaque=0, version=0, language='JAVA', remark='why', "
        "ext_fields={})"
    )
