from contextlib import closing
from pathlib import Path

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.log_table.log_files import DamagedLog, LogFile, Reach, Window, files_of


def test_files_are_found_in_order_in_a_store_or_in_its_log(tmp_path: Path) -> None:
    log = tmp_path / "commitlog"
    log.mkdir()
    for name in ("00000000000000000200", "00000000000000000000", "notes.txt"):
        (log / name).write_bytes(bytes(100))
    for path in (tmp_path, log):
        assert [(file.base, file.size, file.limit) for file in files_of(str(path))] == [
            (0, 100, 100),
            (200, 100, 100),
        ]


def test_where_no_log_is_the_error_says_what_a_path_is(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="there is no commit log"):
        files_of(str(tmp_path))
    with pytest.raises(Misuse, match="cannot be read"):
        files_of(str(tmp_path / "nowhere"))


def test_a_window_shows_what_is_asked_for_and_no_more_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "0"
    path.write_bytes(bytes(range(200)))
    with closing(Window(LogFile(str(path), 1000, 200, 150), Reach(64, 64))) as window:
        assert window.cover(10) == 0
        assert (window.start, window.end, window.base) == (10, 74, 1010)
        assert window.cover(20) == 10  # there already
        assert window.start == 10
        at = window.cover(50, 40)
        assert bytes(window.view[at : at + 40]) == bytes(range(50, 90))
        at = window.cover(40, 100)  # more than it holds
        assert bytes(window.view[at:]) == bytes(range(40, 140))
        assert window.cover(140, 100) == 0
        assert bytes(window.view) == bytes(range(140, 150))


@pytest.mark.parametrize("used", [0, 1, 99, 1 << 20, (1 << 20) + 1, (2 << 20) + 5])
def test_used_is_up_to_the_last_byte_that_is_not_zero(tmp_path: Path, used: int) -> None:
    path = tmp_path / "0"
    size = (2 << 20) + 77
    path.write_bytes((bytes(used - 1) + b"x" if used else b"").ljust(size, b"\0"))
    with closing(Window(LogFile(str(path), 0, size, size))) as window:
        assert window.used_bytes() == used


@pytest.mark.parametrize("used", [1, 4096, 4097, (3 << 20) + 5])
def test_what_was_never_written_of_a_file_made_ahead_is_not_used(tmp_path: Path, used: int) -> None:
    path = tmp_path / "0"
    size = 16 << 20
    with path.open("wb") as file:
        file.truncate(size)
        file.write(bytes(used - 1) + b"x")
    with closing(Window(LogFile(str(path), 0, size, size))) as window:
        assert window.used_bytes() == used


def test_a_file_of_holes_alone_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "0"
    with path.open("wb") as file:
        file.truncate(8 << 20)
    with closing(Window(LogFile(str(path), 0, 8 << 20, 8 << 20))) as window:
        assert window.used_bytes() == 0


def test_a_hole_before_the_end_does_not_end_the_log(tmp_path: Path) -> None:
    path = tmp_path / "0"
    size = 16 << 20
    with path.open("wb") as file:
        file.truncate(size)
        file.write(b"x")
        file.seek(12 << 20)
        file.write(b"x")
    with closing(Window(LogFile(str(path), 0, size, size))) as window:
        assert window.used_bytes() == (12 << 20) + 1


def test_a_file_that_is_gone_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(DamagedLog, match="retention has removed it"):
        Window(LogFile(str(tmp_path / "gone"), 0, 1, 1))
