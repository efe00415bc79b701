import io
import json

import pytest

from aerobee.cli.output import FAILED, NOT_FOUND, is_terminal, table, write_error, write_records
from aerobee.errors import Misuse, TopicNotFound

RECORDS = [
    {"name": "a", "count": 7, "rate": 1.25, "tags": ["x", "y"], "note": None},
    {"name": "longer", "count": 1234, "rate": 0.0, "tags": [], "note": "two\nlines"},
]


def written(form: str) -> str:
    stream = io.StringIO()
    write_records(RECORDS, form, stream)
    return stream.getvalue()


def test_a_table_is_as_wide_as_it_needs_to_be_with_numbers_to_the_right() -> None:
    assert table(RECORDS).splitlines() == [
        "NAME    COUNT  RATE  TAGS  NOTE",
        "a           7   1.2  x, y  -",
        "longer   1234   0.0  -     two\\nlines",
    ]


def test_wide_characters_take_two_places() -> None:
    lines = table([{"a": "消息", "b": 1}, {"a": "x", "b": 2}]).splitlines()
    assert lines == ["A     B", "消息  1", "x     2"]


def test_every_form_says_the_same() -> None:
    assert json.loads(written("json")) == RECORDS
    assert [json.loads(line) for line in written("ndjson").splitlines()] == RECORDS
    assert written("csv").splitlines()[1] == 'a,7,1.2,"x, y",-'
    assert written("yaml").splitlines()[:4] == [
        '- name: "a"',
        "  count: 7",
        "  rate: 1.25",
        '  tags: ["x", "y"]',
    ]


@pytest.mark.parametrize(
    ("form", "said"), [("table", "no topic\n"), ("json", "[]\n"), ("yaml", "[]\n"), ("csv", "")]
)
def test_nothing_is_said_in_words_only_to_people(form: str, said: str) -> None:
    stream = io.StringIO()
    write_records([], form, stream, empty="no topic")
    assert stream.getvalue() == said


def test_an_error_says_what_to_do_to_people_and_to_programs() -> None:
    stream = io.StringIO()
    assert write_error(Misuse("no", hint="do this"), "table", stream) == FAILED
    assert stream.getvalue() == "aerobee: no\n  hint: do this\n"
    stream = io.StringIO()
    error = TopicNotFound("gone", topic="t", hint="make it")
    assert write_error(error, "json", stream) == NOT_FOUND
    assert json.loads(stream.getvalue()) == {
        "code": "TopicNotFound",
        "message": "gone",
        "hint": "make it",
    }


def test_a_file_is_no_terminal() -> None:
    assert not is_terminal(io.StringIO())
