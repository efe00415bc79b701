import os
from pathlib import Path

import pytest

from aerobee.app.process.access_key import read_access_key
from aerobee.app.process.lifecycle import CannotStart


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "config" / "access.key"
    key = read_access_key(str(path))
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_access_key(str(path)) == key
    assert os.listdir(path.parent) == ["access.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "access.key"
    read_access_key(str(path))
    path.chmod(mode)
    with pytest.raises(CannotStart, match="can be read by others"):
        read_access_key(str(path))


@pytest.mark.parametrize("text", ["", "00", "x" * 64, "ab" * 31])
def test_a_file_without_a_key_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "access.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(CannotStart, match="has no key"):
        read_access_key(str(path))


def test_a_key_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="cannot be read"):
        read_access_key(str(tmp_path))
