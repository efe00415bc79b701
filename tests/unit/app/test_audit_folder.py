import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aerobee.app.audit_folder import (
    CURRENT,
    Follower,
    Wanted,
    aside_name,
    event_line,
    files_in,
    last_lines,
    parse_line,
    read_lines,
)
from aerobee.ports.audit import AuditEvent

EVENT = AuditEvent(
    1_700_000_000_123, "broker-a", "root", "10.0.0.9", "DELETE", ("Topic:a",), "allow", "SUCCESS"
)


def write(folder: Path, name: str, *events: AuditEvent) -> None:
    with (folder / name).open("ab") as file:
        file.writelines(map(event_line, events))


def test_a_line_is_one_object_of_json() -> None:
    line = event_line(EVENT)
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.123Z",
        "server": "broker-a",
        "user": "root",
        "from": "10.0.0.9",
        "request": "DELETE",
        "on": ["Topic:a"],
        "decision": "allow",
        "answer": "SUCCESS",
    }
    more = json.loads(event_line(EVENT._replace(reason="why", left_out=3)))
    assert (more["reason"], more["left_out"]) == ("why", 3)


@pytest.mark.parametrize("user", ["a\nb", "a\u2028b", '"', "\x1b[2J", "\ud800"])
def test_what_a_peer_sent_cannot_begin_a_line(user: str) -> None:
    line = event_line(EVENT._replace(user=user)).decode("ascii")
    assert line.count("\n") == 1
    assert "\x1b" not in line
    assert json.loads(line)["user"] == user


def test_files_are_read_oldest_first(tmp_path: Path) -> None:
    write(tmp_path, CURRENT, EVENT._replace(user="c"))
    write(tmp_path, aside_name(1_700_000_000_002), EVENT._replace(user="b"))
    write(tmp_path, aside_name(1_700_000_000_001), EVENT._replace(user="a"))
    (tmp_path / "other").write_text("{}")
    assert len(files_in(str(tmp_path))) == 3
    assert [one["user"] for one in read_lines(str(tmp_path), Wanted())] == ["a", "b", "c"]
    assert [one["user"] for one in last_lines(str(tmp_path), Wanted(), 2)] == ["b", "c"]
    assert files_in(str(tmp_path / "none")) == []


@pytest.mark.parametrize(
    ("wanted", "is_taken"),
    [
        (Wanted(), True),
        (Wanted(user="root"), True),
        (Wanted(user="roo"), False),
        (Wanted(source="10.0.0.9"), True),
        (Wanted(source="10.0.0.8"), False),
        (Wanted(request="del"), True),
        (Wanted(request="create"), False),
        (Wanted(on="Topic:"), True),
        (Wanted(on="Group:"), False),
        (Wanted(decision="allow"), True),
        (Wanted(decision="deny"), False),
        (Wanted(start=datetime(2023, 11, 14, tzinfo=UTC)), True),
        (Wanted(start=datetime(2023, 11, 15, tzinfo=UTC)), False),
        (Wanted(end=datetime(2023, 11, 15, tzinfo=UTC)), True),
        (Wanted(end=datetime(2023, 11, 14, tzinfo=UTC)), False),
    ],
)
def test_events_are_chosen(tmp_path: Path, wanted: Wanted, is_taken: bool) -> None:
    write(tmp_path, CURRENT, EVENT)
    assert bool(list(read_lines(str(tmp_path), wanted))) == is_taken


@pytest.mark.parametrize("line", ["", "{", "[]", "1", "[" * 100_000])
def test_what_is_no_event_is_none(line: str) -> None:
    assert parse_line(line) is None


def test_a_follower_reads_on_when_the_file_changes(tmp_path: Path) -> None:
    empty = Follower(str(tmp_path / "none"))
    assert empty.more() == []
    empty.close()
    write(tmp_path, CURRENT, EVENT._replace(user="before"))
    follower = Follower(str(tmp_path))
    assert follower.more() == []
    write(tmp_path, CURRENT, EVENT._replace(user="a"))
    (tmp_path / CURRENT).rename(tmp_path / aside_name(1))
    write(tmp_path, CURRENT, EVENT._replace(user="b"))
    with (tmp_path / CURRENT).open("ab") as file:
        file.write(event_line(EVENT._replace(user="c"))[:10])
    assert [one["user"] for one in follower.more()] == ["a", "b"]
    with (tmp_path / CURRENT).open("ab") as file:
        file.write(event_line(EVENT._replace(user="c"))[10:])
    assert [one["user"] for one in follower.more()] == ["c"]
    follower.close()
