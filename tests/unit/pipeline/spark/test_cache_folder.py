from pathlib import Path

import pytest

from aerobee.pipeline.spark.cache_folder import cache_folder


def put(home: Path) -> None:
    (home / "part").write_text("mine")


def test_a_folder_is_made_once_and_nothing_else_is_left(tmp_path: Path) -> None:
    home = tmp_path / "caches" / "home"
    assert cache_folder(home, put) == home
    (home / "part").write_text("kept")
    assert cache_folder(home, put) == home
    assert (home / "part").read_text() == "kept"
    assert list(home.parent.iterdir()) == [home]


def test_whoever_is_later_takes_what_is_there(tmp_path: Path) -> None:
    home = tmp_path / "home"

    def overtaken(making: Path) -> None:
        put(making)
        cache_folder(home, lambda other: (other / "part").touch())

    assert cache_folder(home, overtaken) == home
    assert (home / "part").read_text() == ""
    assert list(tmp_path.iterdir()) == [home]


def test_what_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    def fails(making: Path) -> None:
        put(making)
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        cache_folder(tmp_path / "home", fails)
    assert list(tmp_path.iterdir()) == []
