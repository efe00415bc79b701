import pytest

from aerobee.cli.output import WrongUse
from aerobee.cli.setting_changes import check_keys, pairs_in, setting_records, shown_changes
from aerobee.errors import NotFound

KNOWN = {"b": {"fileReservedTime": "1"}, "a": {"fileReservedTime": "2", "x": "3"}}


def test_pairs_are_split_at_their_first_sign() -> None:
    assert pairs_in(["a=b=c", "d="], "--set") == {"a": "b=c", "d": ""}


@pytest.mark.parametrize("text", ["=x", "x", ""])
def test_a_word_that_is_no_pair_is_refused_with_the_flag_it_came_by(text: str) -> None:
    with pytest.raises(WrongUse, match=f"--set.*{text!r}"):
        pairs_in(["a=b", text], "--set")


def test_records_are_of_the_settings_asked_for_server_by_server() -> None:
    assert setting_records("broker", KNOWN, ["fileReservedTime"]) == [
        {"broker": "a", "key": "fileReservedTime", "value": "2"},
        {"broker": "b", "key": "fileReservedTime", "value": "1"},
    ]
    everything = setting_records("nameserver", KNOWN, [])
    assert [(one["nameserver"], one["value"]) for one in everything] == [
        ("a", "2"),
        ("a", "3"),
        ("b", "1"),
    ]
    with pytest.raises(NotFound, match="'y'"):
        setting_records("broker", KNOWN, ["x", "y"])


def test_a_setting_that_no_server_has_is_not_found_and_the_one_that_was_meant_is_named() -> None:
    check_keys("broker", ["x", "fileReservedTime"], KNOWN)
    with pytest.raises(NotFound, match="no broker has a setting 'fileReservdTime'") as caught:
        check_keys("broker", ["x", "fileReservdTime"], KNOWN)
    assert caught.value.hint.startswith("did you mean fileReservedTime? `aerobee config list")
    with pytest.raises(NotFound) as caught:
        check_keys("broker", ["nonsense"], KNOWN)
    assert caught.value.hint == "`aerobee config list broker` lists all"


def test_a_setting_that_is_like_none_may_be_the_servers_to_refuse() -> None:
    check_keys("broker", ["nonsense"], KNOWN, is_only_misspelt=True)
    with pytest.raises(NotFound):
        check_keys("broker", ["fileReservdTime"], KNOWN, is_only_misspelt=True)


def test_a_change_is_shown_with_what_is_set_now() -> None:
    assert shown_changes({"fileReservedTime": "5"}, KNOWN) == "fileReservedTime from 1 and 2 to 5"
    assert (
        shown_changes({"x": "5", "z": "6"}, KNOWN) == "x from 3 and unset to 5, z from unset to 6"
    )
    with pytest.raises(WrongUse):
        shown_changes({}, KNOWN)
