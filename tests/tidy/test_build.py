"""setup.py, in every way it can be asked and can go wrong, on a package of two hot modules."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aerobee._compiled import HOT_MODULES
from tests.tidy.source_tree import ROOT

LOUD = "PURE PYTHON"
PROJECT = """\
[project]
name = "small"
version = "1"
[tool.setuptools.packages.find]
where = ["src"]
"""
NO_COMPILER = "no-such-compiler"


class SmallPackage:
    """`small.one`, and `small.two` which cimports it; both report whether they are compiled."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / "src/small"
        self.package.mkdir(parents=True)
        shutil.copy(ROOT / "setup.py", root)
        (root / "pyproject.toml").write_text(PROJECT)
        (self.package / "__init__.py").touch()
        (self.package / "one.py").write_text("def one(x): return x + 1\n")
        (self.package / "one.pxd").write_text("cpdef int one(int x) except? -1\n")
        (self.package / "two.py").write_text("from small.one import one\n")
        (self.package / "two.pxd").write_text("from small.one cimport one\n")
        (self.package / "twins.pxd").write_text("ctypedef unsigned char byte\n")

    def build(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        plain = {key: value for key, value in os.environ.items() if not key.endswith("_CYTHON")}
        return subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace", *arguments],
            cwd=self.root,
            env=plain | {"CFLAGS": "-O0"} | settings,
            capture_output=True,
            text=True,
            check=False,
        )

    def built(self) -> set[str]:
        return {path.name.split(".")[0] for path in self.package.glob("*.so")}

    def answer(self) -> str:
        run = subprocess.run(
            [sys.executable, "-c", "import small.two, small.one; print(small.one.one(1))"],
            env=os.environ | {"PYTHONPATH": str(self.root / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        return run.stdout.strip() or run.stderr


@pytest.fixture
def small(tmp_path: Path) -> SmallPackage:
    return SmallPackage(tmp_path)


def test_both_flags_at_once_contradict_each_other(small: SmallPackage) -> None:
    run = small.build(SKIP_CYTHON="1", REQUIRE_CYTHON="1")
    assert run.returncode != 0
    assert "contradict" in run.stderr
    assert not small.built()


def test_nothing_is_compiled_when_told_to_skip(small: SmallPackage) -> None:
    run = small.build(SKIP_CYTHON="1")
    assert run.returncode == 0, run.stderr
    assert not small.built()
    assert LOUD not in run.stderr


def test_without_a_compiler_the_build_falls_back_loudly(small: SmallPackage) -> None:
    run = small.build(CC=NO_COMPILER)
    assert run.returncode == 0, run.stderr
    assert LOUD in run.stderr
    assert NO_COMPILER in run.stderr
    assert not small.built()
    assert small.answer() == "2"


def test_without_a_compiler_the_build_fails_when_one_is_required(small: SmallPackage) -> None:
    run = small.build(CC=NO_COMPILER, REQUIRE_CYTHON="1")
    assert run.returncode != 0
    assert LOUD not in run.stderr


def break_declaration(small: SmallPackage) -> None:
    (small.package / "two.pxd").write_text("cdef nonsense !\n")


def hide_cython(small: SmallPackage) -> None:
    (small.root / "Cython.py").write_text("raise ImportError('Cython is not here')\n")


@pytest.mark.parametrize("breakage", [break_declaration, hide_cython])
def test_where_nothing_can_be_translated_the_build_falls_back_or_fails_as_told(
    small: SmallPackage, breakage: Callable[[SmallPackage], None]
) -> None:
    breakage(small)
    run = small.build(PYTHONPATH=str(small.root))
    assert run.returncode == 0, run.stderr
    assert LOUD in run.stderr
    assert not small.built()
    assert small.answer() == "2"
    run = small.build(PYTHONPATH=str(small.root), REQUIRE_CYTHON="1")
    assert run.returncode != 0
    assert LOUD not in run.stderr


def test_exactly_the_modules_with_a_pxd_are_compiled_and_one_failure_takes_all_back(
    small: SmallPackage,
) -> None:
    (small.package / "cold.py").touch()
    run = small.build("-j2", REQUIRE_CYTHON="1")
    assert run.returncode == 0, run.stderr
    assert small.built() == {"one", "two"}
    assert small.answer() == "2"
    # Now only `two` fails: a compiled `one` beside a pure `two` would be half a package.
    (small.package / "two.py").write_text("from small.one import one\nx = 1\n")
    compiler = small.root / "picky-compiler"
    compiler.write_text('#!/bin/sh\ncase "$*" in *two.c*) exit 1;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)
    run = small.build(CC=str(compiler))
    assert run.returncode == 0, run.stderr
    assert LOUD in run.stderr
    assert not small.built()
    assert small.answer() == "2"


def test_setup_and_package_agree_on_which_modules_are_hot() -> None:
    program = (
        "import runpy, setuptools\n"
        "setuptools.setup = lambda **given: print(*(e.name for e in given['ext_modules']))\n"
        "runpy.run_path('setup.py')\n"
    )
    plain = {key: value for key, value in os.environ.items() if not key.endswith("_CYTHON")}
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=plain,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.split() == list(HOT_MODULES), run.stderr
