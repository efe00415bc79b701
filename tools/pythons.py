"""The Pythons of this machine that the package supports, one line `3.12=/path/to/python3.12` each.

pyproject.toml has the supported versions, as classifiers. Each is looked for as `python3.12` on the
PATH and in the folders of pyenv, whose own `python3.12` on the PATH runs only where that version
was chosen. A Python counts if it runs and can make an environment. Versions that this machine does
not have are named on standard error.

It imports the standard library alone, because it runs before anything is installed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.locked import Project, read_project

_CLASSIFIER = re.compile(r"Programming Language :: Python :: (\d+\.\d+)")
_PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


def supported(project: Project) -> list[str]:
    """The versions of Python that the package supports, oldest first."""
    found = (_CLASSIFIER.fullmatch(line) for line in project["project"]["classifiers"])
    versions = [match.group(1) for match in found if match]
    return sorted(versions, key=lambda version: [int(part) for part in version.split(".")])


def find_python(version: str, environment: Mapping[str, str]) -> str | None:
    """A Python of this version that runs, by its path."""
    return next(
        (path for path in _candidates(version, environment) if _is_python(path, version)), None
    )


def _candidates(version: str, environment: Mapping[str, str]) -> Iterator[str]:
    name = f"python{version}"
    on_path = shutil.which(name, path=environment.get("PATH"))
    if on_path:
        yield on_path
    home = environment.get("HOME", "")
    pyenv = Path(environment.get("PYENV_ROOT") or Path(home, ".pyenv"))
    for folder in sorted(pyenv.glob(f"versions/{version}.*"), key=_patch_number, reverse=True):
        yield str(folder / "bin" / name)


def _patch_number(folder: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", folder.name)]


def _is_python(path: str, version: str) -> bool:
    try:
        run = subprocess.run([path, "-c", _PROBE], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return run.returncode == 0 and run.stdout.strip() == version


if __name__ == "__main__":
    for wanted in supported(read_project()):
        python = find_python(wanted, os.environ)
        if python is None:
            print(f"Python {wanted} is supported, and not on this machine", file=sys.stderr)
        else:
            print(f"{wanted}={python}")
