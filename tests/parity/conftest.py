"""The C twins as a module of their own.

They are inlined into the compiled modules and cannot be called from outside, so `twins.pyx` is
compiled here to reach them: once, until one of its sources changes.
"""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import aerobee

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PACKAGE = Path(aerobee.__file__).parent
SOURCES = [
    HERE / "twins.pyx",
    PACKAGE / "protocol" / "primitives" / "machine.pxd",
    PACKAGE / "protocol" / "primitives" / "hmac_machine.pxd",
    PACKAGE / "protocol" / "text" / "json_machine.pxd",
    PACKAGE / "protocol" / "send" / "send_machine.pxd",
]


@pytest.fixture(scope="session")
def twins() -> ModuleType:
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]
    folder = ROOT / "build" / "twins" / f"{digest}-{sys.implementation.cache_tag}"
    if not (found := list(folder.glob("twins.*.so"))):
        _compile_into(folder)
        found = list(folder.glob("twins.*.so"))
    spec = importlib.util.spec_from_file_location("twins", found[0])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compile_into(folder: Path) -> None:
    from Cython.Build import cythonize
    from setuptools import Extension  # type: ignore[import-untyped]
    from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]
    from setuptools.dist import Distribution  # type: ignore[import-untyped]

    extensions = cythonize(  # type: ignore[no-untyped-call]
        [Extension("twins", [str(SOURCES[0])], extra_compile_args=["-O3", "-g0"])],
        include_path=[str(PACKAGE.parent)],
        build_dir=str(folder / "c"),
        quiet=True,
    )
    command = build_ext(Distribution({"ext_modules": extensions}))
    command.build_lib = str(folder)
    command.build_temp = str(folder / "o")
    command.ensure_finalized()
    command.run()
