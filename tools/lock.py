"""`make lock`: the newest version of every package that pyproject.toml allows, with hashes.

The lock is one file for all supported Pythons and all parts of the project (tools/locked.py). uv
writes it, and is itself one of the packages in it. A version is locked only if each supported
Python can install it without a compiler: uv asks the index again, for one Python after
the other, and the old lock stays where that fails.

    python -m tools.lock          the newest versions
    python -m tools.lock --keep   the versions of the old lock, as far as pyproject.toml allows them
"""

import shutil
import subprocess
import sys
from pathlib import Path

from tools.locked import LOCK, ROOT, Project, read_lock, read_project
from tools.pythons import supported

PLATFORM = "x86_64-manylinux_2_28"
SOURCE_ONLY = {"pyspark"}
"""Packages without wheels. The locked setuptools builds them, which takes no compiler."""


def compile_lock(project: Project, output: Path, *options: str) -> None:
    groups = [f"--group={name}" for name in project.get("dependency-groups", {})]
    subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-config"),
            *("--all-extras", *groups, "--generate-hashes"),
            *("--no-emit-index-url", "--no-emit-find-links", "--no-emit-index-annotation"),
            *("--custom-compile-command=make lock", f"--output-file={output}", *options),
            "pyproject.toml",
        ],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,  # uv prints what it writes
        check=True,
    )


def main(arguments: list[str]) -> None:
    project = read_project()
    pythons = supported(project)
    folder = ROOT / "build/lock"
    folder.mkdir(parents=True, exist_ok=True)
    renewed = folder / LOCK
    shutil.copy(ROOT / LOCK, renewed)
    upgrade = [] if "--keep" in arguments else ["--upgrade"]
    compile_lock(project, renewed, "--universal", f"--python-version={pythons[0]}", *upgrade)
    names = {entry.name for entry in read_lock(folder)} - SOURCE_ONLY
    wheels = [f"--only-binary={name}" for name in sorted(names)]
    for version in pythons:
        target = (f"--python-version={version}", f"--python-platform={PLATFORM}")
        only = (f"--constraints={renewed}", *target, *wheels)
        compile_lock(project, folder / f"python-{version}.txt", *only)
        print(f"Python {version}: every locked package has a wheel, but {', '.join(SOURCE_ONLY)}")
    renewed.replace(ROOT / LOCK)
    print(f"{LOCK}: {len(read_lock())} packages")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError:
        sys.exit(f"{LOCK} is as it was: see above for the package that cannot be locked")
