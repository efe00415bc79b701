import pytest

from aerobee.errors import LocalProtocolError, PropertiesTooLong
from aerobee.model.properties import (
    PROPERTIES_BYTES_MAX,
    decode_properties,
    encode_properties,
    find_property,
    is_reserved,
)


def test_text_ends_with_the_separator_and_keeps_the_order() -> None:
    assert encode_properties({"TAGS": "TagA", "KEYS": "k"}) == b"TAGS\x01TagA\x02KEYS\x01k\x02"
    assert encode_properties({}) == b""


def test_a_missing_last_separator_is_accepted() -> None:
    assert decode_properties(b"TAGS\x01TagA\x02WAIT\x01true") == {"TAGS": "TagA", "WAIT": "true"}


@pytest.mark.parametrize(
    "piece",
    [b"", b"a", b"ab", b"name", b"\x01value", b"name\x01", b"\x01"],
    ids=["empty", "one", "two", "no separator", "no name", "no value", "separator only"],
)
def test_a_piece_without_a_name_or_a_value_is_dropped(piece: bytes) -> None:
    assert decode_properties(b"a\x01b\x02" + piece + b"\x02c\x01d\x02") == {"a": "b", "c": "d"}


def test_a_name_ends_at_its_first_separator() -> None:
    assert decode_properties(b"a\x01b\x01c\x02") == {"a": "b\x01c"}


def test_of_two_equal_names_the_later_counts() -> None:
    text = b"a\x01first\x02b\x01x\x02a\x01last\x02a\x01\x02"
    assert decode_properties(text)["a"] == "last"
    assert find_property(text, b"a") == b"last"


def test_bytes_that_are_no_utf8_do_not_stop_the_reader() -> None:
    assert decode_properties(b"a\x01\xff\x02b\x01c\x02") == {"a": "\ufffd", "b": "c"}


def test_finding_a_property_is_not_fooled_by_names_and_values_that_contain_it() -> None:
    text = b"XKEYS\x01no\x02a\x01KEYS\x01no\x02KEYS\x01yes\x02b\x01KEYS"
    assert find_property(text, b"KEYS") == b"yes"
    assert find_property(text, b"b") == b"KEYS"
    assert find_property(text, b"EYS") is None
    assert find_property(text, b"absent") is None


@pytest.mark.parametrize("name", [b"", b"a\x01b", b"a\x02b", b"\x01"])
def test_no_property_has_an_empty_name_or_one_with_a_separator(name: bytes) -> None:
    assert find_property(b"a\x01b\x01c\x02a\x02b\x01c\x02", name) is None


@pytest.mark.parametrize(
    "properties",
    [
        {"a\x01": "b"},
        {"a\x02": "b"},
        {"a": "b\x01"},
        {"a": "b\x02c"},
        {"": "b"},
        {"a": ""},
        {"a": "\ud800"},
    ],
)
def test_what_would_not_be_read_back_is_not_written(properties: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError):
        encode_properties(properties)


def test_the_text_may_fill_an_int16_and_not_a_byte_more() -> None:
    longest = "v" * (PROPERTIES_BYTES_MAX - 3)
    assert len(encode_properties({"n": longest})) == PROPERTIES_BYTES_MAX
    with pytest.raises(PropertiesTooLong, match="32768 bytes") as caught:
        encode_properties({"n": longest + "v"})
    assert "into the body" in caught.value.hint


def test_the_limit_counts_bytes_and_not_characters() -> None:
    with pytest.raises(LocalProtocolError):
        encode_properties({"n": "é" * (PROPERTIES_BYTES_MAX // 2)})


def test_names_that_mean_something_to_the_system_are_reserved_and_others_are_not() -> None:
    assert is_reserved("UNIQ_KEY")
    assert is_reserved("__CRC32#")
    assert is_reserved("1ST_POP_TIME")
    # Java lets applications set these.
    assert not is_reserved("__SHARDINGKEY")
    assert not is_reserved("CHECK_IMMUNITY_TIME_IN_SECONDS")
    assert not is_reserved("colour")
