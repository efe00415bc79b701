"""Compile the hot modules, or say why not.

SKIP_CYTHON=1     never compile (pure leg of the tests, debugging, coverage)
REQUIRE_CYTHON=1  fail if any hot module cannot be compiled (make, images, wheels, benchmarks)
neither           compile if possible; without Cython or a C compiler, fall back to pure Python

A module is hot exactly when a .pxd lies beside its .py: there is no second list to forget.
(A .pxd with no .py of its name only declares C twins for others to cimport.)

The fallback is all or nothing: a compiled module reaches into the C of the modules it cimports,
and cannot be imported when one of those is not compiled.
"""

import os
import sys
import sysconfig
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


def extension(path: Path) -> Extension:
    return Extension(
        ".".join(path.with_suffix("").parts[1:]),
        [str(path)],
        extra_compile_args=[
            "-O3",
            "-g0",
            # Both have produced wrong numbers without a sound.
            "-Werror=sign-compare",
            "-Werror=shift-count-overflow",
        ],
    )


def translated(extensions: list[Extension]) -> list[Extension]:
    """The same extensions with C sources."""
    from Cython.Build import cythonize

    modules: list[Extension] = cythonize(
        extensions,
        compiler_directives={
            "language_level": "3",
            # Types come from the .pxd alone; annotations stay what mypy reads.
            "annotation_typing": False,
            "boundscheck": True,
            "cdivision": False,
        },
        build_dir=f"build/cython-{sys.implementation.cache_tag}",
        quiet=True,
    )
    return modules


class LoudBuild(build_ext):
    """Compiles all hot modules; if one fails, none is kept, and nobody can miss it."""

    fell_back = False

    def finalize_options(self) -> None:
        # Here and not at import, so that metadata and sdist need neither Cython nor a minute.
        try:
            self.distribution.ext_modules = translated(self.distribution.ext_modules or [])
        except Exception as error:
            self.fall_back(error)
            self.distribution.ext_modules = []
        super().finalize_options()

    def run(self) -> None:
        super().run()
        if self.fell_back and self.inplace:
            # What an earlier build left beside the sources would be half of a compiled package.
            for path in HOT:
                built = path.with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
                built.unlink(missing_ok=True)

    def build_extensions(self) -> None:
        try:
            super().build_extensions()
        except Exception as error:
            self.fall_back(error)
            for ext in self.extensions:
                Path(self.get_ext_fullpath(ext.name)).unlink(missing_ok=True)
            self.extensions = []

    def fall_back(self, error: Exception) -> None:
        if REQUIRE:
            raise error
        self.fell_back = True
        line = "!" * 78
        print(
            f"{line}\naerobee runs as PURE PYTHON, several times slower: {error}\n"
            "Install Cython and a C compiler and reinstall, or set REQUIRE_CYTHON=1 to make this "
            f"an error.\n{line}",
            file=sys.stderr,
        )


setup(
    ext_modules=[] if SKIP else [extension(path) for path in HOT],
    cmdclass={"build_ext": LoudBuild},
)
