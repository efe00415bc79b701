import csv
import io
import json
import math
from typing import Any

import pytest

from aerobee.cli.output import (
    FAILED,
    FORMATS,
    NOT_FOUND,
    WRONG_USE,
    Instant,
    Whole,
    WrongUse,
    is_terminal,
    one_line,
    table,
    width_of,
    write_error,
    write_records,
    write_report,
)
from aerobee.errors import (
    AerobeeError,
    Misuse,
    NotFound,
    PartlyDone,
    Refused,
    RequestTimeout,
    Retriable,
    TopicNotFound,
    Unreachable,
)

RECORDS = [
    {"name": "a", "count": 7, "rate": 1.25, "tags": ["x", "y"], "note": None},
    {"name": "longer", "count": 1234, "rate": 0.0, "tags": [], "note": "two\nlines"},
]
REPORT: dict[str, Any] = {
    "topic": "orders",
    "sends_per_s": 1.5,
    "is_ordered": False,
    "attributes": {"a": "b"},
    "queues": [{"queue": 0, "lag": 3}, {"queue": 1, "lag": 12}],
}


def written(form: str) -> str:
    stream = io.StringIO()
    write_records(RECORDS, form, stream)
    return stream.getvalue()


def reported(form: str) -> str:
    stream = io.StringIO()
    write_report(REPORT, form, stream)
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


def test_a_table_is_cut_where_texts_are_widest_and_never_in_numbers_or_ids() -> None:
    record = {"id": Whole("0123456789" * 3), "lag": 123456789, "body": "x" * 90, "topic": "y" * 12}
    heading, line = table([record], 80).splitlines()
    assert len(line) == 80
    assert line.split() == ["0123456789" * 3, "123456789", "x" * 22 + "…", "y" * 12]
    assert heading.split() == ["ID", "LAG", "BODY", "TOPIC"]
    assert "x" * 90 in table([record])


@pytest.mark.parametrize("width", [8, 20, 40])
def test_no_line_is_wider_than_it_may_be(width: int) -> None:
    records = [{"a": "消息" * 30, "b": "y" * 30, "c": 1 << 40, "d": Whole("z" * 30)}]
    lines = table(records, width).splitlines()
    assert all(len(line) + sum(line.count(wide) for wide in "消息") <= width for line in lines)


def test_a_time_is_shown_to_the_second_and_told_to_programs_in_full() -> None:
    record = {"at": Instant("2026-11-15T12:00:00.123+00:00")}
    assert table([record]).splitlines()[1] == "2026-11-15 12:00:00"
    stream = io.StringIO()
    write_records([record], "json", stream)
    assert json.loads(stream.getvalue()) == [{"at": "2026-11-15T12:00:00.123+00:00"}]


def test_what_a_message_says_does_not_move_the_cursor() -> None:
    assert one_line("a\x1b[2Jb\tc\n") == "a\\x1b[2Jb\\tc\\n"
    assert "\x1b" not in table([{"body": "\x1b[2J"}])


def test_every_form_says_the_same() -> None:
    assert json.loads(written("json")) == RECORDS
    assert [json.loads(line) for line in written("ndjson").splitlines()] == RECORDS
    assert written("csv").splitlines()[1] == 'a,7,1.25,"[""x"", ""y""]",'
    assert written("yaml").splitlines()[:4] == [
        '- name: "a"',
        "  count: 7",
        "  rate: 1.25",
        '  tags: ["x", "y"]',
    ]


def test_a_number_that_json_does_not_have_is_null() -> None:
    record: dict[str, Any] = {"a": math.nan, "b": [1.5, -math.inf], "c": {"d": math.inf}}
    for form in ("json", "ndjson", "yaml"):
        records, report = io.StringIO(), io.StringIO()
        write_records([record], form, records)
        write_report(record, form, report)
        for text in (records.getvalue(), report.getvalue()):
            assert text.count("null") == 3, text
            assert "NaN" not in text
            assert "Infinity" not in text
    assert table([record]).splitlines()[1].split()[0] == "nan"


def test_csv_goes_on_without_a_heading() -> None:
    stream = io.StringIO()
    write_records([{"a": 1}], "csv", stream)
    write_records([{"a": 2}], "csv", stream, has_heading=False)
    assert stream.getvalue().split() == ["a", "1", "2"]


def test_a_report_has_facts_and_tables_of_its_own() -> None:
    assert reported("table").splitlines() == [
        "TOPIC       orders",
        "SENDS/S     1.5",
        "IS ORDERED  no",
        "ATTRIBUTES  a=b",
        "",
        "QUEUES",
        "QUEUE  LAG",
        "    0    3",
        "    1   12",
    ]
    assert json.loads(reported("json")) == json.loads(reported("ndjson")) == REPORT
    assert reported("yaml").splitlines() == [
        'topic: "orders"',
        "sends_per_s: 1.5",
        "is_ordered: false",
        'attributes: {"a": "b"}',
        "queues:",
        "  - queue: 0",
        "    lag: 3",
        "  - queue: 1",
        "    lag: 12",
    ]
    rows = dict(csv.reader(io.StringIO(reported("csv"))))
    assert rows["topic"] == "orders"
    assert json.loads(rows["queues"]) == REPORT["queues"]


@pytest.mark.parametrize(
    ("form", "said"), [("table", "no topic\n"), ("json", "[]\n"), ("yaml", "[]\n"), ("csv", "")]
)
def test_nothing_is_said_in_words_only_to_people(form: str, said: str) -> None:
    stream = io.StringIO()
    write_records([], form, stream, empty="no topic")
    assert stream.getvalue() == said


def test_an_error_says_what_to_do_to_people_and_to_programs() -> None:
    said = {}
    for form in FORMATS:
        stream = io.StringIO()
        assert write_error(TopicNotFound("gone", topic="t", hint="make it"), form, stream) == 3
        said[form] = stream.getvalue()
    assert said["table"] == "aerobee: gone\n  code: TopicNotFound\n  hint: make it\n"
    facts = {"code": "TopicNotFound", "message": "gone", "hint": "make it"}
    assert json.loads(said["json"]) == json.loads(said["ndjson"]) == facts
    assert said["yaml"] == 'code: "TopicNotFound"\nmessage: "gone"\nhint: "make it"\n'
    assert list(csv.DictReader(io.StringIO(said["csv"]))) == [facts]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Misuse("no"), FAILED),
        (NotFound("gone"), NOT_FOUND),
        (TopicNotFound("gone", topic="t"), NOT_FOUND),
        (Refused("no such group", code=26), NOT_FOUND),
        (Refused("no", code=1), FAILED),
        (WrongUse("what?"), WRONG_USE),
    ],
)
def test_the_status_says_what_kind_of_error_it_was(error: AerobeeError, status: int) -> None:
    assert write_error(error, "table", io.StringIO()) == status


def test_a_file_is_no_terminal_and_as_wide_as_one_likes() -> None:
    assert not is_terminal(io.StringIO())
    assert width_of(io.StringIO(), is_wide=False) is None


def test_every_error_says_what_to_do_next() -> None:
    for error in (
        Unreachable("no", address="a:1"),
        RequestTimeout("no", address="a:1"),
        Refused("no", code=1),
        Retriable("no", code=2),
        PartlyDone(done={}, failed={"a": Misuse("no")}),
    ):
        stream = io.StringIO()
        write_error(error, "json", stream)
        assert json.loads(stream.getvalue())["hint"], error
