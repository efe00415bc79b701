from array import array
from math import isnan, nan
from pathlib import Path

from aerobee.console.history.history_file import HistoryFile, StoredChunk
from aerobee.console.history.steps import FIVE_MINUTES, SECOND, VALUES


def _values(first: float, rest: float = nan) -> bytes:
    return array("f", [first] + [rest] * (VALUES - 1)).tobytes()


def _chunk(start: int, values: bytes, name: str = "a", step: int = SECOND.ms) -> StoredChunk:
    return StoredChunk(step, name, start, values)


def test_chunks_of_a_span_come_back_in_order_after_a_new_start(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    file = HistoryFile(path)
    file.open()
    file.write([_chunk(at, _values(at), name) for at in (120_000, 0, 60_000) for name in "ab"])
    file.close()
    file = HistoryFile(path)
    file.open()
    found = file.read(SECOND, ["a", "none"], 61_000, 130_000)
    assert [(one.name, one.start) for one in found] == [("a", 60_000), ("a", 120_000)]
    file.close()
    assert Path(path).stat().st_mode & 0o777 == 0o600


def test_a_chunk_that_another_process_began_is_filled_and_not_replaced(tmp_path: Path) -> None:
    file = HistoryFile(str(tmp_path / "history.db"))
    file.open()
    file.write([_chunk(0, _values(1.0, 2.0))])
    file.write([_chunk(0, _values(5.0, nan))])
    (found,) = file.read(SECOND, ["a"], 0, 1)
    values = array("f", found.values)
    assert values[0] == 5.0
    assert values[1] == 2.0
    assert not any(map(isnan, values))
    file.close()


def test_old_chunks_and_series_without_any_are_forgotten(tmp_path: Path) -> None:
    file = HistoryFile(str(tmp_path / "history.db"))
    file.open()
    now = 10**12
    old = now - 2 * SECOND.kept_ms
    file.write([_chunk(old, _values(1)), _chunk(now, _values(2))])
    file.write([_chunk(old, _values(3), step=FIVE_MINUTES.ms)])
    file.write([_chunk(0, _values(4), "gone", FIVE_MINUTES.ms)])
    file.forget(now)
    assert [one.start for one in file.read(SECOND, ["a"], 0, now + 1)] == [now]
    assert [one.start for one in file.read(FIVE_MINUTES, ["a", "gone"], 0, now)] == [old]
    file.close()


def test_a_file_that_cannot_be_read_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(b"no database " * 100)
    file = HistoryFile(str(path))
    file.open()
    file.write([_chunk(0, _values(1))])
    assert len(file.read(SECOND, ["a"], 0, 1)) == 1
    file.close()
    assert (tmp_path / "history.db.unreadable").exists()
