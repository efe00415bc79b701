"""The repository as the rules of this folder see it: files, their text and their syntax trees.

A rule is a function from a SourceTree to a list of breaches, each one line that begins with the
place. Every rule is run on the repository, where it must find nothing, and on a small tree made
up for it, where it must find what was planted: a rule that cannot fail is no rule.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CORE = ("errors", "model", "ports", "protocol", "raft", "replication", "service", "storage")
"""What must run the same on a real and on a pretended world."""

_SKIPPED = {"assets", "build", "data", "dist", "node_modules", "target", "__pycache__"}
# Recorded from other people's programs, with their words in it.
_RECORDED = {"corpus", "vectors"}
_OURS = {".py", ".md"}


@dataclass(frozen=True)
class Module:
    """One Python file."""

    place: str
    """Path from the root of the repository, with forward slashes."""
    name: str
    """Dotted name from the folder that is on the import path."""
    text: str

    @cached_property
    def syntax(self) -> ast.Module:
        return ast.parse(self.text, self.place)

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.syntax) or ""

    @property
    def is_package(self) -> bool:
        return self.place.endswith("__init__.py")

    @property
    def is_core(self) -> bool:
        parts = self.name.split(".")
        return parts[0] == "aerobee" and len(parts) > 1 and parts[1] in CORE

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.syntax):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def classes(self) -> Iterator[ast.ClassDef]:
        for node in ast.walk(self.syntax):
            if isinstance(node, ast.ClassDef):
                yield node

    def project_imports(self) -> set[str]:
        """Every `aerobee…` module named by an import, wherever it stands in the file."""
        found = set()
        for node in ast.walk(self.syntax):
            if isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
            elif isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
        return {name for name in found if name.split(".")[0] == "aerobee"}


class SourceTree:
    def __init__(self, root: Path = ROOT) -> None:
        self.root = root

    @cached_property
    def package(self) -> list[Module]:
        """The modules that ship."""
        return self._modules("src", name_from=self.root / "src")

    @cached_property
    def tests(self) -> list[Module]:
        return self._modules("tests", name_from=self.root)

    @cached_property
    def programs(self) -> list[Module]:
        """What is run by hand: benchmarks, fuzz targets, tools."""
        folders = ("bench", "fuzz", "tools")
        return [m for folder in folders for m in self._modules(folder, name_from=self.root)]

    @cached_property
    def declarations(self) -> list[Path]:
        """Every .pxd of the package."""
        return sorted((self.root / "src").rglob("*.pxd"))

    def module_beside(self, declaration: Path) -> Module | None:
        """The .py that a .pxd speaks of, if there is one."""
        place = self.place(declaration.with_suffix(".py"))
        return next((m for m in self.package if m.place == place), None)

    def declaration_of(self, name: str) -> Path:
        """Where the .pxd of a dotted module name would be."""
        return self.root.joinpath("src", *name.split(".")).with_suffix(".pxd")

    def place(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def texts(self) -> Iterator[tuple[str, str]]:
        """(place, text) of every file that somebody wrote, whatever it is written in."""
        for path in sorted(self.root.rglob("*")):
            parts = path.relative_to(self.root).parts
            if not path.is_file() or any(_is_skipped(part) for part in parts[:-1]):
                continue
            if _RECORDED.intersection(parts) and path.suffix not in _OURS:
                continue
            try:
                yield self.place(path), path.read_text("utf-8")
            except UnicodeDecodeError:
                continue  # a built extension, or data

    def _modules(self, folder: str, name_from: Path) -> list[Module]:
        found = []
        for path in sorted((self.root / folder).rglob("*.py")):
            if _SKIPPED.intersection(path.relative_to(self.root).parts):
                continue
            parts = path.with_suffix("").relative_to(name_from).parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(Module(self.place(path), name, path.read_text("utf-8")))
        return found


def _is_skipped(folder: str) -> bool:
    return (
        folder in _SKIPPED
        or folder.endswith(".egg-info")
        or (folder.startswith(".") and folder != ".ci")
    )
