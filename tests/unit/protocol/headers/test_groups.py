from aerobee.protocol.headers.groups import (
    AllGroupsHeader,
    DeleteGroupHeader,
    GroupForbiddenHeader,
)
from aerobee.protocol.remoting.declared_header import read_header


def test_whether_offsets_go_is_said_in_two_ways() -> None:
    new = read_header(DeleteGroupHeader, {"groupName": "g", "cleanOffset": "true"})
    old = read_header(DeleteGroupHeader, {"groupName": "g", "removeOffset": "true"})
    assert (new.clean_offset, new.remove_offset) == (True, False)
    assert (old.clean_offset, old.remove_offset) == (False, True)
    assert read_header(DeleteGroupHeader, {"groupName": "g"}) == DeleteGroupHeader("g")


def test_a_question_differs_from_an_order() -> None:
    asked = {"group": "g", "topic": "T"}
    assert read_header(GroupForbiddenHeader, asked).readable is None
    assert read_header(GroupForbiddenHeader, {**asked, "readable": "false"}).readable is False
    assert read_header(GroupForbiddenHeader, {**asked, "readable": "true"}).readable is True


def test_a_page_is_what_newer_clients_ask_for() -> None:
    fields = {"dataVersion": "", "maxGroupNum": "2000", "groupSeq": "0"}
    assert read_header(AllGroupsHeader, fields) == AllGroupsHeader(0, "", 2000)
    assert read_header(AllGroupsHeader, {}) == AllGroupsHeader(None, None, None)
