import os
import sys
from pathlib import Path

import pytest

from tools.pythons import find_python, supported

HERE = "{}.{}".format(*sys.version_info)


def place_python(path: Path, runs: str) -> str:
    """A program that is this Python, or does something else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{runs}\n")
    path.chmod(0o755)
    return str(path)


REAL = f'exec "{sys.executable}" "$@"'


def test_versions_are_in_the_order_of_numbers() -> None:
    lines = [f"Programming Language :: Python :: {version}" for version in ("3.11", "3", "3.9")]
    assert supported({"project": {"classifiers": ["Typing :: Typed", *lines]}}) == ["3.9", "3.11"]


def test_a_python_on_the_path_is_found(tmp_path: Path) -> None:
    wanted = place_python(tmp_path / f"bin/python{HERE}", REAL)
    place_python(tmp_path / f".pyenv/versions/{HERE}.1/bin/python{HERE}", REAL)
    path = os.pathsep.join((str(tmp_path / "bin"), os.environ["PATH"]))
    assert find_python(HERE, {"PATH": path, "HOME": str(tmp_path)}) == wanted


@pytest.mark.parametrize("variable", ["HOME", "PYENV_ROOT"])
def test_where_the_one_on_the_path_does_not_run_the_newest_of_pyenv_is_found(
    tmp_path: Path, variable: str
) -> None:
    place_python(tmp_path / f"bin/python{HERE}", "echo 'not chosen' >&2; exit 127")
    pyenv = tmp_path / ".pyenv" if variable == "HOME" else tmp_path / "elsewhere"
    place_python(pyenv / f"versions/{HERE}.9/bin/python{HERE}", REAL)
    wanted = place_python(pyenv / f"versions/{HERE}.10/bin/python{HERE}", REAL)
    place_python(pyenv / f"versions/{HERE}.11/bin/python{HERE}", "exit 1")
    told = str(tmp_path) if variable == "HOME" else str(pyenv)
    found = find_python(HERE, {"PATH": str(tmp_path / "bin"), variable: told})
    assert found == wanted


def test_a_python_of_another_version_does_not_count(tmp_path: Path) -> None:
    place_python(tmp_path / "bin/python3.99", REAL)
    assert find_python("3.99", {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}) is None
