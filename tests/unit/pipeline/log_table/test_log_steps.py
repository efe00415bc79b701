from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from aerobee.pipeline.log_table.log_files import LogFile, Reach, Window
from aerobee.pipeline.log_table.log_steps import DAMAGED, FILE_ENDED, LogEnd, LogSteps, stepping
from aerobee.pipeline.log_table.log_walk import ENDED
from aerobee.protocol.message.stored_message import encode_record
from tests.log_table_kit import Log, filler, message

SMALL = Reach(window_bytes=200, record_bytes=400)
"""Smaller than most records here."""


@contextmanager
def steps(log: Log, reach: Reach = SMALL, base: int = 0) -> Iterator[LogSteps]:
    path = log.path(base)
    size = path.stat().st_size
    with closing(Window(LogFile(str(path), base, size, size), reach)) as window:
        yield stepping(window)


@pytest.mark.parametrize("reach", [SMALL, Reach()])
def test_a_file_is_walked_to_its_end_however_large_its_records_are(
    tmp_path: Path, reach: Reach
) -> None:
    bodies = [b"x" * size for size in (1, 50, 800, 3, 150, 151, 900, 0)]
    log = Log(tmp_path, [message(n, body) for n, body in enumerate(bodies)])
    with steps(log, reach) as walking:
        assert walking.run(0, log.file_bytes) == DAMAGED  # nothing was written behind it yet
        assert walking.position == log.end
        for start, end in log.places:
            assert walking.run(0, start + 1) == ENDED
            assert walking.position == end
    log.put(log.end, filler(log.file_bytes - log.end))
    with steps(log, reach) as walking:
        assert walking.run(0, log.file_bytes) == FILE_ENDED
        assert walking.position == log.end
    log.put(log.end, filler(log.file_bytes - log.end)[:3] + b"\xff")
    with steps(log, reach) as walking:
        assert walking.run(0, log.file_bytes) == DAMAGED
        assert walking.what == "a filler of the wrong size"


@pytest.mark.parametrize("reach", [SMALL, Reach()])
def test_from_any_place_the_next_record_is_found(tmp_path: Path, reach: Reach) -> None:
    bodies = [b"x" * size for size in (10, 300, 5, 700, 40)]
    log = Log(tmp_path, [message(n, body) for n, body in enumerate(bodies)])
    starts = [start for start, _ in log.places]
    with steps(log, reach) as walking:
        for place in range(0, log.end + 50, 7):
            expected = next((start for start in starts if start >= place), log.file_bytes)
            assert walking.next_sound(place) == expected
            if place <= starts[-1]:
                assert walking.first_from(place) == expected


def test_what_a_body_pretends_to_be_is_passed_by(tmp_path: Path) -> None:
    plain = Log(tmp_path / "plain", [message(0), message(1, b"-" * 300), message(2)])
    start, end = plain.places[1]
    at = plain.path(0).read_bytes().index(b"-" * 300)
    forged = encode_record(message(99, log_offset=at + 20), with_crc=True)
    body = (b"-" * 20 + forged).ljust(300, b"-")
    log = Log(tmp_path / "forged", [message(0), message(1, body), message(2)])
    assert log.places == plain.places
    with steps(log) as walking:
        assert walking.next_sound(start + 1) == at + 20  # by itself it looks right
        for place in range(start + 1, end + 1):
            assert walking.first_from(place) == end


def test_records_behind_damage_are_found_and_it_is_passed_by_all_alike(tmp_path: Path) -> None:
    log = Log(tmp_path, [message(n, b"x" * 100) for n in range(8)])
    log.put(log.places[3][0] + 60, b"\xff\xff\xff")
    with steps(log) as walking:
        assert walking.run(0, log.end) == DAMAGED
        assert walking.position == log.places[3][0]
        assert walking.what == "a record that does not match its checksum"
        assert walking.next_sound(walking.position + 1) == log.places[4][0]
        for place in range(log.places[3][0] + 1, log.places[4][0]):
            assert walking.first_from(place) == log.places[4][0]


@pytest.mark.parametrize("reach", [SMALL, Reach()])
def test_a_log_ends_behind_its_last_whole_record(tmp_path: Path, reach: Reach) -> None:
    log = Log(tmp_path, [message(n, b"x" * 200) for n in range(6)])
    with steps(log, reach) as walking:
        assert walking.log_end() == LogEnd(log.end, log.end)
    last = log.places[-1][0]
    log.put(log.end - 4, bytes(4))  # not written yet
    with steps(log, reach) as walking:
        assert walking.log_end() == LogEnd(last, log.end - 4)
    log.put(log.places[2][0] + 8, b"\xff")  # and damage before it, which ends nothing
    with steps(log, reach) as walking:
        assert walking.log_end() == LogEnd(last, log.end - 4)


def test_a_log_may_end_with_a_file_in_nothing_or_in_garbage(tmp_path: Path) -> None:
    full = Log(tmp_path / "full", [message(n, b"x" * 700) for n in range(6)])
    with steps(full) as walking:
        assert walking.log_end() == LogEnd(full.file_bytes, full.file_bytes)
    empty = Log(tmp_path / "empty", [])
    with steps(empty) as walking:
        assert walking.log_end() == LogEnd(0, 0)
    broken = Log(tmp_path / "broken", [message(n, b"x" * 200) for n in range(6)])
    broken.put(0, b"?" * broken.end)
    with steps(broken) as walking:  # more than one record: damage, not an end
        assert walking.log_end() == LogEnd(broken.end, broken.end)


def test_a_file_that_became_shorter_is_damaged_there(tmp_path: Path) -> None:
    log = Log(tmp_path, [message(n, b"x" * 200) for n in range(6)])
    path = log.path(0)
    cut = log.places[4][0] + 10
    with closing(Window(LogFile(str(path), 0, log.end, log.end), SMALL)) as window:
        path.write_bytes(path.read_bytes()[:cut])
        walking = stepping(window)
        assert walking.run(0, log.end) == DAMAGED
        assert walking.position == log.places[4][0]
        assert walking.next_sound(log.places[4][0] + 1) == log.end
