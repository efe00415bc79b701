"""Compile the hot modules, or say why not.

SKIP_CYTHON=1     never compile (pure leg of the tests, debugging, coverage)
REQUIRE_CYTHON=1  fail if any hot module cannot be compiled (images, wheels, benchmarks)
neither           compile if possible; without Cython or a C compiler, fall back to pure Python

A module is hot exactly when a .pxd lies beside its .py: there is no second list to forget.
(A .pxd with no .py of its name only declares C twins for others to cimport.)
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SKIP = bool(os.environ.get("SKIP_CYTHON"))
REQUIRE = bool(os.environ.get("REQUIRE_CYTHON"))
if SKIP and REQUIRE:
    raise SystemExit("SKIP_CYTHON and REQUIRE_CYTHON contradict each other")

HOT = sorted(
    pxd.with_suffix(".py") for pxd in Path("src").rglob("*.pxd") if pxd.with_suffix(".py").exists()
)


def warn(reason: object) -> None:
    line = "!" * 78
    print(
        f"{line}\naerobee runs as PURE PYTHON, several times slower: {reason}\n"
        f"Install a C compiler and reinstall, or set REQUIRE_CYTHON=1 to make this an error.\n{line}",
        file=sys.stderr,
    )


class LoudBuild(build_ext):
    """An optional extension that fails is reported as loudly as an error, but is no error."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as error:
            if REQUIRE:
                raise
            warn(f"{ext.name} did not compile: {error}")


def extensions() -> list[Extension]:
    if SKIP:
        return []
    try:
        from Cython.Build import cythonize
    except ImportError as error:
        if REQUIRE:
            raise
        warn(error)
        return []
    return cythonize(
        [
            Extension(
                ".".join(path.with_suffix("").parts[1:]),
                [str(path)],
                extra_compile_args=[
                    "-O3",
                    "-g0",
                    "-Werror=sign-compare",
                    "-Werror=shift-count-overflow",
                ],
            )
            for path in HOT
        ],
        compiler_directives={
            "language_level": "3",
            "annotation_typing": False,
            "boundscheck": True,
            "cdivision": False,
        },
        build_dir="build/cython",
        quiet=True,
    )


setup(ext_modules=extensions(), cmdclass={"build_ext": LoudBuild})
