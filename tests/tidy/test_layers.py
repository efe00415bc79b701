"""The import contracts of pyproject.toml hold, and each is seen to catch a breach."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.tidy.source_tree import ROOT

# Lines added to a copy of the package, and the arrow that the linter must then report.
BREACHES = {
    "model/__init__.py": ("import aerobee.storage", "aerobee.model is not allowed to import"),
    "system/__init__.py": ("import aerobee.sim", "aerobee.system -> aerobee.sim"),
    "storage/files/__init__.py": (
        "import aerobee.storage.index",
        "aerobee.storage.files -> aerobee.storage.index",
    ),
    "protocol/__init__.py": ("import os.path", "aerobee.protocol -> os"),
    "protocol/big_endian.py": (
        "import aerobee.protocol.record",
        "aerobee.protocol.big_endian -> aerobee.protocol.record",
    ),
    "net/__init__.py": ("import aerobee.service", "aerobee.net -> aerobee.service"),
    "service/__init__.py": ("from asyncio import sleep", "aerobee.service -> asyncio"),
    "service/broker/__init__.py": (
        "import aerobee.service.nameserver",
        "aerobee.service.broker -> aerobee.service.nameserver",
    ),
    "client/__init__.py": ("import aerobee.service", "aerobee.client -> aerobee.service"),
    "client/core/__init__.py": ("import aerobee.net", "aerobee.client.core -> aerobee.net"),
    "app/__init__.py": ("import aerobee.sim", "aerobee.app -> aerobee.sim"),
    "ports/__init__.py": ("from time import time", "aerobee.ports -> time"),
    "unplaced/__init__.py": ("", "- aerobee.unplaced"),
    "storage/unplaced.py": ("", "- aerobee.storage.unplaced"),
    "protocol/unplaced.py": ("", "- aerobee.protocol.unplaced"),
}


def lint(root: Path) -> tuple[int, str]:
    """Run the linter on the package under root/src with the contracts of root/pyproject.toml."""
    program = "from importlinter.cli import lint_imports_command as lint; lint()"
    run = subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--no-logo"],
        cwd=root,
        env={"PYTHONPATH": str(root / "src"), "COLUMNS": "200", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout + run.stderr


def test_the_package_keeps_its_layers() -> None:
    status, output = lint(ROOT)
    assert status == 0, output


def test_every_contract_catches_a_breach(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for place, (line, _) in BREACHES.items():
        path = tmp_path / "src/aerobee" / place
        path.parent.mkdir(exist_ok=True)
        path.write_text((path.read_text() if path.exists() else "") + f"\n{line}\n")
    status, output = lint(tmp_path)
    assert status != 0
    missed = [place for place, (_, arrow) in BREACHES.items() if arrow not in output]
    assert not missed, output
    assert " KEPT" not in output, output
