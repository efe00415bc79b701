import argparse

import pytest

from aerobee.cli.message_view import (
    Tail,
    body_fields,
    message_record,
    shown_body,
    write_messages,
)
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset


def message(body: bytes) -> StoredMessage:
    return StoredMessage(
        "orders",
        QueueId(1),
        QueueOffset(7),
        LogOffset(81505),
        body,
        {"TAGS": "new", "KEYS": "a b", "UNIQ_KEY": "C0FFEE", "mine": "yes"},
        1_700_000_000_000,
        Host("10.0.0.5", 1234),
        1_700_000_000_005,
        Host("10.0.0.1", 10911),
        reconsume_times=2,
    )


def test_everything_that_is_known_is_in_the_record() -> None:
    record = message_record(message(b"x"))
    assert (record["id"], record["tag"], record["keys"]) == ("C0FFEE", "new", ["a", "b"])
    assert (record["queue"], record["offset"], record["attempt"]) == (1, 7, 3)
    assert (record["born_host"], record["store_host"]) == ("10.0.0.5:1234", "10.0.0.1:10911")
    assert record["headers"] == {"mine": "yes"}
    assert record["properties"] == {"TAGS": "new", "KEYS": "a b", "UNIQ_KEY": "C0FFEE"}


def test_a_body_is_text_or_says_that_it_is_none() -> None:
    assert body_fields("zażółć".encode()) == {"body": "zażółć"}
    assert body_fields(b"\xff") == {"body_base64": "/w=="}
    assert shown_body(b"\xff" * 31) == "0x" + "ff" * 30 + "… (31 bytes)"


def test_one_is_shown_in_full_and_many_in_brief(capsys: pytest.CaptureFixture[str]) -> None:
    flags = argparse.Namespace(output="table", wide=False)
    write_messages(flags, [message(b"x")], empty="none", is_one=True)
    assert "BORN HOST   10.0.0.5:1234" in capsys.readouterr().out
    write_messages(flags, [message(b"x")] * 2, empty="none")
    heading, first, second = capsys.readouterr().out.splitlines()
    assert heading.split() == ["ID", "STORED", "TAG", "KEYS", "BODY"]
    assert first == second
    write_messages(flags, [], empty="none", is_one=False)
    assert capsys.readouterr().out == "none\n"


def test_records_of_one_list_have_the_same_fields(capsys: pytest.CaptureFixture[str]) -> None:
    flags = argparse.Namespace(output="csv", wide=False)
    write_messages(flags, [message(b"x"), message(b"\xff")], empty="none")
    heading, text, other = capsys.readouterr().out.splitlines()
    assert heading.startswith("body,body_base64,id")
    assert text.startswith("x,,C0FFEE")
    assert other.startswith(",/w==,C0FFEE")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("table", "line\nline\n"),
        ("json", '{"a": 1}\n{"a": 1}\n'),
        ("ndjson", '{"a": 1}\n{"a": 1}\n'),
        ("yaml", "- a: 1\n- a: 1\n"),
        ("csv", "a\n1\n1\n"),
    ],
)
def test_what_comes_one_by_one_is_one_whole(
    form: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tail = Tail(form)
    for _ in range(2):
        tail.write({"a": 1}, "line")
    assert capsys.readouterr().out.replace("\r", "") == said
