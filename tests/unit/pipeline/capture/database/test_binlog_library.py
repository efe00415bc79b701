"""The library that reads logs: what it gets wrong, and what it may not do."""

import codecs
import collections
from datetime import timedelta
from typing import Any

import pytest

from aerobee.pipeline.capture.database.binlog_library import label_text, open_stream
from aerobee.pipeline.capture.database.server import connect, current_position
from aerobee.pipeline.capture.errors import DatabaseGone
from tests.capture_kit import Shop


def _end(shop: Shop) -> Any:
    connection = connect(shop.address)
    try:
        return current_position(connection)
    finally:
        connection.close()


@pytest.mark.parametrize("fraction", [0, 1, 4, 6])
def test_times_below_zero_have_their_fraction(shop: Shop, fraction: int) -> None:
    start = _end(shop)
    texts = [
        "00:00:00.999999",
        "-00:00:00.25",
        "-01:02:03.5",
        "-00:00:01",
        "838:59:59",
        "-12:00:00.1",
    ]
    shop.run(
        f"CREATE TABLE a (k INT AUTO_INCREMENT PRIMARY KEY, t TIME({fraction}))",
        "SET sql_mode = 'TIME_ROUND_FRACTIONAL'",
        *(f"INSERT INTO a (t) VALUES ('{text}')" for text in texts),
    )
    stream = open_stream(shop.address, start, 4711, None)
    try:
        logged = [
            row["values"]["t"]
            for event in stream
            if type(event).__name__ == "WriteRowsEvent"
            for row in event.rows
        ]
    finally:
        stream.close()
    assert logged == [row[1] for row in shop.rows("a")]
    assert all(isinstance(one, timedelta) for one in logged)


def test_it_does_not_connect_again_by_itself(shop: Shop) -> None:
    start = _end(shop)
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)")
    stream = open_stream(shop.address, start, 4712, 0.05)
    try:
        seen = set()
        while "HeartbeatLogEvent" not in seen:
            seen.add(type(stream.fetchone()).__name__)
        dumps = shop.database.rows(
            "SELECT id FROM information_schema.processlist WHERE command = 'Binlog Dump'"
        )
        shop.run(*(f"KILL {row[0]}" for row in dumps))
        with pytest.raises(DatabaseGone):
            collections.deque(iter(stream.fetchone, None), maxlen=0)
    finally:
        stream.close()


def test_labels_have_their_characters_back() -> None:
    raw = "é".encode("cp1252").decode("utf-8", "surrogateescape")
    assert label_text(raw, "cp1252") == "é"
    assert label_text("é", "utf8") == "é"
    assert label_text("é", None) == "é"
    assert label_text("a", "swe7") == "a"
    assert codecs.lookup("utf8").name == "utf-8"
