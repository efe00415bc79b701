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
    "protocol/primitives/big_endian.py": (
        "import aerobee.protocol.message.record",
        "aerobee.protocol.primitives.big_endian -> aerobee.protocol.message.record",
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
    "service/broker/state/__init__.py": (
        "import aerobee.service.broker.send",
        "aerobee.service.broker.state -> aerobee.service.broker.send",
    ),
    "service/broker/unplaced.py": ("", "- aerobee.service.broker.unplaced"),
    "service/broker/pop/revive/__init__.py": (
        "import aerobee.service.broker.pop.take",
        "aerobee.service.broker.pop.revive -> aerobee.service.broker.pop.take",
    ),
    "service/broker/pop/unplaced.py": ("", "- aerobee.service.broker.pop.unplaced"),
    "service/broker/replication/log_comparison.py": (
        "import aerobee.service.broker.replication.slave_side",
        "aerobee.service.broker.replication.log_comparison -> "
        "aerobee.service.broker.replication.slave_side",
    ),
    "service/broker/replication/unplaced.py": (
        "",
        "- aerobee.service.broker.replication.unplaced",
    ),
    "service/broker/admin/topic/__init__.py": (
        "import aerobee.service.broker.admin.group",
        "aerobee.service.broker.admin.topic -> aerobee.service.broker.admin.group",
    ),
    "service/broker/admin/unplaced.py": ("", "- aerobee.service.broker.admin.unplaced"),
    "client/connection/__init__.py": (
        "import aerobee.client.send",
        "aerobee.client.connection -> aerobee.client.send",
    ),
    "client/unplaced.py": ("", "- aerobee.client.unplaced"),
    "client/core/send/__init__.py": (
        "import aerobee.client.core.consume",
        "aerobee.client.core.send -> aerobee.client.core.consume",
    ),
    "client/core/unplaced.py": ("", "- aerobee.client.core.unplaced"),
    "pipeline/sink/__init__.py": (
        "import aerobee.pipeline.source",
        "aerobee.pipeline.sink -> aerobee.pipeline.source",
    ),
    "pipeline/unplaced.py": ("", "- aerobee.pipeline.unplaced"),
    "service/filters/__init__.py": (
        "import aerobee.service.nameserver",
        "aerobee.service.filters -> aerobee.service.nameserver",
    ),
    "service/unplaced.py": ("", "- aerobee.service.unplaced"),
    "pipeline/capture/position.py": (
        "import aerobee.pipeline.capture.database",
        "aerobee.pipeline.capture.position -> aerobee.pipeline.capture.database",
    ),
    "pipeline/capture/unplaced.py": ("", "- aerobee.pipeline.capture.unplaced"),
    "cli/output.py": ("import aerobee.cli.commands", "aerobee.cli.output -> aerobee.cli.commands"),
    "cli/unplaced.py": ("", "- aerobee.cli.unplaced"),
    "app/settings/__init__.py": (
        "import aerobee.app.process",
        "aerobee.app.settings -> aerobee.app.process",
    ),
    "app/unplaced.py": ("", "- aerobee.app.unplaced"),
    "app/load/measure/__init__.py": (
        "import aerobee.app.load.run",
        "aerobee.app.load.measure -> aerobee.app.load.run",
    ),
    "console/history/__init__.py": (
        "import aerobee.console.api",
        "aerobee.console.history -> aerobee.console.api",
    ),
    "console/unplaced.py": ("", "- aerobee.console.unplaced"),
    "console/api/listing.py": (
        "import aerobee.console.api.topics",
        "aerobee.console.api.listing -> aerobee.console.api.topics",
    ),
    "console/api/unplaced.py": ("", "- aerobee.console.api.unplaced"),
    "app/load/unplaced.py": ("", "- aerobee.app.load.unplaced"),
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
