import pytest

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.topic import DataVersion
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.admin.table_pages import PAGE_ROWS_MAX, answer_change, invalid, page_of
from aerobee.service.request import Answer, Request

VERSION = DataVersion(0, 3, 100)
SAME = encode_data_version(VERSION).decode()
OLDER = encode_data_version(DataVersion(0, 2, 100)).decode()
ROWS = list(range(5000))


def test_who_says_nothing_of_pages_gets_everything() -> None:
    assert page_of(ROWS, VERSION, None, None, None) == ROWS


@pytest.mark.parametrize(
    ("start", "count", "version", "wanted"),
    [
        (0, 3, SAME, [0, 1, 2]),
        (4, 3, SAME, [4, 5, 6]),
        (4998, 3, SAME, [4998, 4999]),
        (9000, 3, SAME, []),
        (4, 3, "", [0, 1, 2]),
        (4, 3, None, [0, 1, 2]),
        (4, 3, OLDER, [0, 1, 2]),
        (-5, 3, SAME, [0, 1, 2]),
        (None, 3, SAME, [0, 1, 2]),
        (0, 0, SAME, []),
        (0, -1, SAME, []),
        (10, None, SAME, ROWS[10 : 10 + PAGE_ROWS_MAX]),
        (0, 9999, SAME, ROWS[:PAGE_ROWS_MAX]),
    ],
)
def test_a_page_begins_where_it_is_asked_to_while_the_table_is_the_same(
    start: int | None, count: int | None, version: str | None, wanted: list[int]
) -> None:
    assert page_of(ROWS, VERSION, start, count, version) == wanted


def test_a_version_that_is_none_is_refused() -> None:
    with pytest.raises(ProtocolError):
        page_of(ROWS, VERSION, 0, 3, "new")


@pytest.mark.parametrize(
    ("error", "code", "remark"),
    [
        (None, 0, ""),
        (RemoteProtocolError("no such thing"), 1, "no such thing"),
        (OSError("no room"), 1, "it was not saved: no room"),
    ],
)
def test_who_asked_for_a_change_is_told_what_became_of_it(
    error: BaseException | None, code: int, remark: str
) -> None:
    outbox: Effects = []
    answer_change(Request(ChannelId(1), RemotingCommand(17), Now(0, 0), outbox))(error)
    (reply,) = outbox
    assert isinstance(reply, Reply)
    assert (reply.command.code, reply.command.remark) == (code, remark)


def test_what_is_invalid_is_said() -> None:
    assert invalid("why") == Answer(ResponseCode.INVALID_PARAMETER, "why")
