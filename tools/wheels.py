"""`make wheel`: the source distribution and a wheel for every Python of this machine, in dist.

    src ─▶ source distribution ─▶ wheel of each Python ─▶ manylinux tag ─▶ trials

Wheels are built from the source distribution, so that nothing of the tree gets into them that a
build from it would not have. Each Python has its own folder of locked packages (build tools and
run-time dependencies, tools/locked.py), and pip is told of no index: the builds are isolated as
those of users are, with the versions of the lock. auditwheel finds out on how old a Linux the
extensions run, and says it in the wheel's name. tools/wheel_check.py has the trials.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools.locked import ROOT, locked, read_project
from tools.pythons import find_python, supported
from tools.wheel_check import TrialFailed, source_breaches, try_source, try_wheel, wheel_breaches

WORK = ROOT / "build/wheels"
DIST = ROOT / "dist"
SHIPPED = ("LICENSE", "README.md", "pyproject.toml", "setup.py")


def build_source() -> Path:
    """The source distribution, out of a copy without anything that was built."""
    tree = WORK / "source"
    tree.mkdir()
    for name in SHIPPED:
        shutil.copy(ROOT / name, tree)
    built = shutil.ignore_patterns("*.so", "*.c", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tree / "src", ignore=built)
    program = f"from setuptools import build_meta; build_meta.build_sdist({str(DIST)!r})"
    # SKIP_CYTHON: a source distribution has Python, not the C that is made of it.
    _run(sys.executable, "-c", program, cwd=tree, SKIP_CYTHON="1", REQUIRE_CYTHON="")
    return next(DIST.glob("*.tar.gz"))


def collect_packages(python: str, folder: Path) -> Path:
    """A folder with the locked packages that a build and a run need, for this Python."""
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(entry.text for entry in locked(["run", "build"])), "utf-8")
    packages = folder / "packages"
    _run(
        *(python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--require-hashes", "-r", str(requirements), "-d", str(packages)),
    )
    return packages


def build_wheel(python: str, folder: Path, packages: Path, source: Path) -> Path:
    """A wheel with every hot module compiled, under its manylinux name in dist."""
    parallel = folder / "parallel.cfg"
    parallel.write_text(f"[build_ext]\nparallel = {os.cpu_count() or 1}\n")
    _run(
        *(python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-cache-dir"),
        *("--no-deps", "--no-index", "--find-links", str(packages), "-w", str(folder), str(source)),
        DIST_EXTRA_CONFIG=str(parallel),
        SKIP_CYTHON="",
        REQUIRE_CYTHON="1",
    )
    built = next(folder.glob("*.whl"))
    tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    repaired = folder / "repaired"
    _run(sys.executable, "-m", "auditwheel", "repair", "-w", str(repaired), str(built), PATH=tools)
    named = next(repaired.glob("*.whl"))
    return named.replace(DIST / named.name)


def main() -> None:
    for folder in (WORK, DIST):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    source = build_source()
    _refuse(source, source_breaches(source))
    print(f"{source.name}: whole")
    pythons = {version: find_python(version, os.environ) for version in supported(read_project())}
    tried_source = False
    for version, python in pythons.items():
        if python is None:
            print(f"Python {version}: not on this machine, no wheel")
            continue
        begun = time.monotonic()
        folder = WORK / version
        folder.mkdir()
        packages = collect_packages(python, folder)
        wheel = build_wheel(python, folder, packages, source)
        _refuse(wheel, wheel_breaches(wheel))
        try_wheel(python, folder / "trial", packages, wheel)
        print(f"{wheel.name}: works without a compiler, {time.monotonic() - begun:.0f} s")
        if not tried_source:  # with one Python: to compile takes minutes
            tried_source = True
            try_source(python, folder / "source-trial", packages, source)
            print(f"{source.name}: on Python {version} compiled, and pure without a compiler")


def _refuse(archive: Path, breaches: list[str]) -> None:
    if breaches:
        raise TrialFailed(f"{archive.name}: " + "; ".join(breaches))


def _run(*command: str, cwd: Path = ROOT, **settings: str) -> None:
    ran = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise TrialFailed(f"{' '.join(command)}: status {ran.returncode}\n{ran.stdout}")


if __name__ == "__main__":
    try:
        main()
    except TrialFailed as error:
        sys.exit(str(error))
