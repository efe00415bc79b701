"""Everything that the project fetches has a fixed content: packages of pip, npm and Cargo have
hashes, actions of a workflow have commits. A version without one may be another tomorrow.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.source_tree import SourceTree

_PIP = re.compile(r"\bpip3? (?:install|wheel|download)\b|\$\(PIP_INSTALL\)")
_HASHED = ("--require-hashes", "--no-index", "--no-deps")
"""Hashes are checked; nothing is asked of an index; the package itself alone is installed."""
UNHASHED = {
    "bench/client/packages.py": "other people's clients, of one version each, to be measured",
    "bench/pipeline/servers.py": "a server to be measured, of one version",
}
"""Programs that install by version, in an environment of their own, when somebody calls them."""
_USES = re.compile(r"^\s*(?:- )?uses:\s*[\"']?(?P<action>[^\s\"'#]+)", re.MULTILINE)
_COMMIT = re.compile(r"@[0-9a-f]{40}$")


def unhashed_installs(tree: SourceTree) -> list[str]:
    """pip installs nothing without hashes, in whatever file it is called."""
    found = []
    for place, text in tree.texts():
        name = place.rpartition("/")[2]
        if name in ("Makefile", "Containerfile", "Dockerfile", "run") or place.endswith(".sh"):
            found += [f"{place}:{line}: {said}" for line, said in _shell_installs(text)]
    for module in (*tree.programs, *tree.package):
        found += [
            f"{module.place}:{line}: pip installs without hashes"
            for line in _listed_installs(module.syntax)
            if module.place not in UNHASHED
        ]
    return found


def _shell_installs(text: str) -> Iterator[tuple[int, str]]:
    joined = text.replace("\\\n", "  ")
    for number, line in enumerate(joined.splitlines(), 1):
        for part in re.split(r"&&|\|\||;", line):
            command = part.strip().lstrip("@")
            if command.startswith(("#", "echo ")) or ":=" in command:
                continue
            if _PIP.search(command) and not any(word in command for word in _HASHED):
                yield number, f"pip installs without hashes: {' '.join(command.split())}"


def _listed_installs(syntax: ast.AST) -> Iterator[int]:
    for node in ast.walk(syntax):
        if isinstance(node, ast.List | ast.Tuple):
            words = [one.value for one in node.elts if isinstance(one, ast.Constant)]
            if "pip" in words and "install" in words and not set(words).intersection(_HASHED):
                yield node.lineno


def unhashed_packages(tree: SourceTree) -> list[str]:
    """Locks of npm and Cargo have the hash of every package that comes from elsewhere."""
    found = []
    for path in _files(tree, "package-lock.json"):
        for name, entry in json.loads(path.read_text("utf-8"))["packages"].items():
            if name and not entry.get("link") and not entry.get("integrity"):
                found.append(f"{tree.place(path)}: {name} has no integrity")
    for path in _files(tree, "Cargo.lock"):
        for entry in tomllib.loads(path.read_text("utf-8")).get("package", ()):
            if entry.get("source") and not entry.get("checksum"):
                found.append(f"{tree.place(path)}: {entry['name']} has no checksum")
    return found


def moving_actions(tree: SourceTree) -> list[str]:
    """Workflows name the commits of the actions that they run, not tags, which can be moved."""
    return [
        f"{tree.place(path)}: {used['action']} is no commit"
        for pattern in ("*.yml", "*.yaml")
        for path in sorted((tree.root / ".github").rglob(pattern))
        for used in _USES.finditer(path.read_text("utf-8"))
        if not used["action"].startswith("./") and not _COMMIT.search(used["action"])
    ]


def _files(tree: SourceTree, name: str) -> list[Path]:
    return [tree.root / place for place, _ in tree.texts() if place.rpartition("/")[2] == name]
