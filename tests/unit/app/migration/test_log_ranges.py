import hashlib
import itertools
from pathlib import Path

import pytest

from aerobee.app.migration.log_ranges import (
    PIECE_BYTES,
    LogRange,
    first_comparable,
    own_hash,
    spread_ranges,
)
from aerobee.errors import Misuse


def files(root: Path, *contents: bytes, first: int = 0) -> None:
    (root / "commitlog").mkdir()
    for number, content in enumerate(contents):
        name = f"{first + number * len(contents[0]):020d}"
        (root / "commitlog" / name).write_bytes(content)


def test_a_small_log_is_covered_whole_without_overlap() -> None:
    end = 3 * PIECE_BYTES + 7
    ranges = spread_ranges(100, end)
    assert ranges[0].start == 100
    assert ranges[-1].end == end
    assert [one.end for one in ranges[:-1]] == [one.start for one in ranges[1:]]


def test_a_large_log_is_compared_at_both_ends_and_between() -> None:
    start, end = 500, 10_000 * PIECE_BYTES
    ranges = spread_ranges(start, end, 8)
    assert len(ranges) == 8
    assert (ranges[0].start, ranges[-1].end) == (start, end)
    assert all(one.end - one.start == PIECE_BYTES for one in ranges)
    gaps = [after.start - before.end for before, after in itertools.pairwise(ranges)]
    assert max(gaps) - min(gaps) <= 1


def test_nothing_is_compared_of_an_empty_log() -> None:
    assert spread_ranges(9, 9) == []


def test_a_log_that_begins_at_0_is_comparable_behind_its_first_record(tmp_path: Path) -> None:
    files(tmp_path, (227).to_bytes(4, "big") + bytes(600))
    assert first_comparable(str(tmp_path), 0) == 227
    assert first_comparable(str(tmp_path), 4096) == 4096


def test_a_range_is_hashed_over_the_edge_of_a_file(tmp_path: Path) -> None:
    files(tmp_path, b"abcdefgh", b"ijklmnop", first=16)
    wanted = hashlib.sha256(b"ghij").hexdigest()
    assert own_hash(str(tmp_path), 8, LogRange(22, 26)) == wanted


def test_bytes_that_no_file_has_are_not_taken_for_equal(tmp_path: Path) -> None:
    files(tmp_path, b"abcdefgh")
    with pytest.raises(Misuse, match="does not have"):
        own_hash(str(tmp_path), 8, LogRange(4, 10))
