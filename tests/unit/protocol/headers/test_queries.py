from aerobee.protocol.headers.queries import (
    QueryMessageAnswerHeader,
    QueryMessageHeader,
    ViewMessageHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_captured_questions_by_key_are_read_whole() -> None:
    for command in captured("QUERY_MESSAGE", "request"):
        written = write_header(read_header(QueryMessageHeader, command.ext_fields))
        said = {key: value for key, value in command.ext_fields.items() if key in written}
        assert {**written, **said} == written
        assert set(written) - {"_UNIQUE_KEY_QUERY"} <= set(said)


def test_a_question_by_unique_id_says_so() -> None:
    fields = {"topic": "T", "key": "id", "maxNum": "32", "_UNIQUE_KEY_QUERY": "true"}
    assert read_header(QueryMessageHeader, fields).is_unique_key


def test_captured_questions_by_place_are_read() -> None:
    for command in captured("VIEW_MESSAGE_BY_ID", "request"):
        header = read_header(ViewMessageHeader, command.ext_fields)
        assert str(header.offset) == command.ext_fields["offset"]


def test_captured_answers_are_written_as_they_were() -> None:
    for answer in captured("QUERY_MESSAGE", "response"):
        header = read_header(QueryMessageAnswerHeader, answer.ext_fields)
        assert write_header(header) == answer.ext_fields


def test_without_times_everything_is_looked_through() -> None:
    header = read_header(QueryMessageHeader, {"topic": "T", "key": "k", "maxNum": "8"})
    assert (header.begin_timestamp, header.end_timestamp) == (0, 2**63 - 1)
