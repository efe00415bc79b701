"""The clients under test, from PyPI, each in a folder of its own below `build/`.

Two of them are packages of the same name, and none has any business in the environment that the
project is developed in. A folder is made once for what it was asked to hold.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "build" / "clients"
LINES_SHOWN = 3


class PackageError(Exception):
    """A package could not be had; the text says why."""


def installed(name: str, packages: Sequence[str], root: Path = BUILD) -> Path:
    """The folder with these packages."""
    folder = root / name
    stamp, wanted = folder / "stamp", " ".join(packages)
    if stamp.exists() and stamp.read_text() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "--target", str(folder), *packages], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-LINES_SHOWN:]
        raise PackageError(f"pip install {wanted}: {' '.join(said)}")
    stamp.write_text(wanted)
    return folder
