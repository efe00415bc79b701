import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    MaxOffsetHeader,
    OffsetAnswerHeader,
    QueryOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
    StoreTimeAnswerHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


@pytest.mark.parametrize(
    ("name", "kind", "header"),
    [
        ("QUERY_CONSUMER_OFFSET", "request", QueryOffsetHeader),
        ("UPDATE_CONSUMER_OFFSET", "oneway", CommitOffsetHeader),
        ("UPDATE_CONSUMER_OFFSET", "request", CommitOffsetHeader),
        ("SEARCH_OFFSET_BY_TIMESTAMP", "request", SearchOffsetHeader),
        ("GET_MAX_OFFSET", "request", MaxOffsetHeader),
        ("GET_MIN_OFFSET", "request", QueueHeader),
        ("GET_EARLIEST_MSG_STORETIME", "request", QueueHeader),
    ],
)
def test_captured_fields_are_all_read_but_those_of_any_request(
    name: str, kind: str, header: type[object]
) -> None:
    for command in captured(name, kind):
        said = {
            key: value
            for key, value in command.ext_fields.items()
            if key not in ("bname", "ReqT", "ns", "nsd")
        }
        written = write_header(read_header(header, command.ext_fields))
        assert {**written, **said} == written  # what is not said has its default


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("QUERY_CONSUMER_OFFSET", OffsetAnswerHeader),
        ("GET_MAX_OFFSET", OffsetAnswerHeader),
        ("GET_MIN_OFFSET", OffsetAnswerHeader),
        ("SEARCH_OFFSET_BY_TIMESTAMP", OffsetAnswerHeader),
        ("GET_EARLIEST_MSG_STORETIME", StoreTimeAnswerHeader),
    ],
)
def test_captured_answers_are_written_as_they_were(name: str, header: type[object]) -> None:
    for answer in captured(name, "response"):
        if answer.code == 0:
            assert write_header(read_header(header, answer.ext_fields)) == answer.ext_fields


def test_a_group_begins_at_zero_unless_it_says_not_to() -> None:
    fields = {"consumerGroup": "g", "topic": "T", "queueId": "0"}
    assert read_header(QueryOffsetHeader, fields).set_zero_if_not_found
    refused = read_header(QueryOffsetHeader, {**fields, "setZeroIfNotFound": "false"})
    assert not refused.set_zero_if_not_found


def test_a_number_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(RemoteProtocolError, match="commitOffset"):
        read_header(CommitOffsetHeader, {"commitOffset": "far"})
