import os
from pathlib import Path

import pytest

from aerobee.app.data_folder import data_folder, shown_path


def test_a_named_folder_is_neither_made_nor_removed(tmp_path: Path) -> None:
    with data_folder(f"{tmp_path}/try", is_temporary=False) as folder:
        assert folder.path == f"{tmp_path}/try"
        assert not (tmp_path / "try").exists()
        (tmp_path / "try").mkdir()
    assert (tmp_path / "try").exists()


def test_without_a_name_it_is_data_in_the_current_folder() -> None:
    with data_folder(None, is_temporary=False) as folder:
        assert folder.path == os.path.abspath("data")
        assert (folder.shown, folder.is_temporary) == ("./data", False)


def test_a_temporary_folder_is_gone_whatever_happens() -> None:
    paths: list[Path] = []

    def fail() -> None:
        with data_folder(None, is_temporary=True) as folder:
            paths.append(Path(folder.path))
            assert folder.is_temporary
            (paths[0] / "store").mkdir()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not paths[0].exists()


def test_a_path_elsewhere_is_shown_whole(tmp_path: Path) -> None:
    assert shown_path(str(tmp_path)) == str(tmp_path)
    assert shown_path(os.path.abspath("a/b")) == "./a/b"
