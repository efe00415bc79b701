import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tools.wheel_check import source_breaches, wheel_breaches

WHEEL = {
    "aerobee/__init__.py",
    "aerobee/py.typed",
    "aerobee/cold.py",
    "aerobee/console/assets/index.html",
    "aerobee/a/hot.py",
    "aerobee/a/hot.pxd",
    "aerobee/a/hot.cpython-311-x86_64-linux-gnu.so",
    "aerobee/a/twins.pxd",
    "pyspark_aerobee/__init__.py",
    "aerobee-1.dist-info/METADATA",
    "aerobee-1.dist-info/licenses/LICENSE",
}
SOURCE = {
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "src/aerobee/console/assets/index.html",
    "src/aerobee/py.typed",
    "src/aerobee/a/hot.py",
    "src/aerobee/a/hot.pxd",
    "src/aerobee.egg-info/SOURCES.txt",
}


def wheel(folder: Path, names: set[str]) -> Path:
    path = folder / "aerobee-1-cp311.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def source(folder: Path, names: set[str]) -> Path:
    path = folder / "aerobee-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"aerobee-1/{name}"), io.BytesIO())
    return path


def test_a_whole_wheel_and_a_whole_source_distribution_are_not_accused(tmp_path: Path) -> None:
    assert wheel_breaches(wheel(tmp_path, WHEEL)) == []
    assert source_breaches(source(tmp_path, SOURCE)) == []


@pytest.mark.parametrize(
    ("name", "breach"),
    [
        ("aerobee/a/hot.cpython-311-x86_64-linux-gnu.so", "aerobee/a/hot.py is not compiled"),
        ("aerobee/py.typed", "aerobee/py.typed is missing"),
        ("aerobee/console/assets/index.html", r"aerobee/console/assets/index\.html is missing"),
        ("aerobee-1.dist-info/licenses/LICENSE", "aerobee-.*/licenses/LICENSE is missing"),
    ],
)
def test_what_a_wheel_lacks_is_found(tmp_path: Path, name: str, breach: str) -> None:
    assert wheel_breaches(wheel(tmp_path, WHEEL - {name})) == [breach]


def test_a_wheel_without_declarations_would_not_know_its_hot_modules(tmp_path: Path) -> None:
    names = {name for name in WHEEL if not name.endswith(".pxd")}
    [breach] = wheel_breaches(wheel(tmp_path, names))
    assert "there is no .pxd" in breach


@pytest.mark.parametrize("name", ["tests/test_it.py", "aerobee/a/hot.c", "tools/locked.py"])
def test_what_does_not_belong_into_a_wheel_is_found(tmp_path: Path, name: str) -> None:
    assert wheel_breaches(wheel(tmp_path, {*WHEEL, name})) == [f"{name} does not belong"]


@pytest.mark.parametrize("name", ["setup.py", "LICENSE", "src/aerobee/py.typed"])
def test_what_a_source_distribution_lacks_is_found(tmp_path: Path, name: str) -> None:
    assert source_breaches(source(tmp_path, SOURCE - {name})) == [f"{name} is missing"]


@pytest.mark.parametrize(
    "name",
    ["tests/test_it.py", "build/hot.c", "src/aerobee/a/hot.c", "src/aerobee/a/hot.cpython-311.so"],
)
def test_what_does_not_belong_into_a_source_distribution_is_found(
    tmp_path: Path, name: str
) -> None:
    assert source_breaches(source(tmp_path, {*SOURCE, name})) == [f"{name} does not belong"]
