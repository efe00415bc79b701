"""Documents that name files, packages and commands name ones that exist.

A map that is wrong is worse than none. The docstring of `aerobee` lists the packages as the layers
contract orders them; every page's paths, links and `make` verbs lead somewhere; the numbers of
decisions have no holes.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path

from tests.tidy.source_tree import SourceTree

_MAP_LINE = re.compile(r"^    ([a-z]+) {2,}\S", re.MULTILINE)
_PATH = re.compile(r"[\w./-]+\.(?:py|pxd|md|toml)\b")
_QUOTED = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
_VERB = re.compile(r"\bmake ([a-z][a-z-]*)")
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
_DECISIONS = "docs/decisions"
_DECISION = re.compile(r"decisions/(\d{4}-[\w-]+\.md)")
_NUMBERED_LINK = re.compile(r"\[(?:decision )?(\d{4})\]\((?:[\w./]*/)?(\d{4}-[\w-]+\.md)\)")


def misplaced_packages(tree: SourceTree) -> list[str]:
    """The packages in the docstring of `aerobee` are the layers, in their order."""
    listed = _MAP_LINE.findall(_package_docstring(tree))
    layers = _layers(tree.root / "pyproject.toml")
    found = []
    for layer in layers:
        here = listed[: len(layer)]
        if set(here) != layer:
            wanted = " and ".join(sorted(layer))
            found.append(f"src/aerobee/__init__.py: {', '.join(here)} where {wanted} belong")
        listed = listed[len(layer) :]
    return found + [f"src/aerobee/__init__.py: {name} is no layer" for name in listed]


def missing_stations(tree: SourceTree) -> list[str]:
    """Every file that the walk in the docstring of `aerobee` names is there."""
    return [
        f"src/aerobee/__init__.py: there is no {path}"
        for path in _PATH.findall(_package_docstring(tree))
        if not (tree.root / "src/aerobee" / path).exists() and not (tree.root / path).exists()
    ]


def dead_references(tree: SourceTree) -> list[str]:
    """Quoted paths, links and make verbs on every page lead somewhere.

    A path may be written from the root, from the package, or from the page itself.
    """
    makefile = tree.root / "Makefile"
    verbs = set(_TARGET.findall(makefile.read_text("utf-8"))) if makefile.exists() else set()
    found = []
    for place, text in tree.texts():
        if not place.endswith(".md"):
            continue
        page = tree.root / place
        quoted = [path for part in _QUOTED.findall(text) for path in _PATH.findall(part)]
        for path in sorted({*quoted, *_LINK.findall(text)}):
            if not _leads_somewhere(path, page, tree):
                found.append(f"{place}: there is no {path}")
        written = [verb for part in _code(text) for verb in _VERB.findall(part)]
        found += [f"{place}: there is no make {verb}" for verb in sorted({*written} - verbs)]
    return found


def misnumbered_decisions(tree: SourceTree) -> list[str]:
    """The pages of decisions count from 0001 without a hole, each begins with its number, and the
    index lists each once, in order. Whatever names one by number means the page it leads to."""
    folder = tree.root / _DECISIONS
    pages = sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")
    found = []
    for number, name in enumerate(pages, 1):
        if not name.startswith(f"{number:04d}-"):
            found.append(f"{_DECISIONS}/{name}: where {number:04d} belongs")
            break  # all that follow would say the same
    for name in pages:
        if not (folder / name).read_text("utf-8").startswith(f"# {name[:4]} "):
            found.append(f"{_DECISIONS}/{name}: its title begins with another number")
    return found + _misindexed(folder / "README.md", pages) + _misnamed(tree, set(pages))


def _misindexed(index: Path, pages: list[str]) -> list[str]:
    listed = _LINK.findall(index.read_text("utf-8")) if index.exists() else []
    times = Counter(listed)
    found = [
        f"{_DECISIONS}/README.md: {name} is listed {times[name]} times"
        for name in pages
        if times[name] != 1
    ]
    if not found and [name for name in listed if name in pages] != pages:
        found.append(f"{_DECISIONS}/README.md: not in the order of numbers")
    return found


def _misnamed(tree: SourceTree, pages: set[str]) -> list[str]:
    found = []
    for place, text in tree.texts():
        gone = {*_DECISION.findall(text)} - pages
        found += [f"{place}: there is no decision {name}" for name in sorted(gone)]
        found += [
            f"{place}: {said} is said of {name}"
            for said, name in _NUMBERED_LINK.findall(text)
            if not name.startswith(f"{said}-")
        ]
    return found


def _code(text: str) -> list[str]:
    blocks = re.findall(r"```.*?```", text, re.DOTALL)
    return blocks + _QUOTED.findall(text)


def _leads_somewhere(path: str, page: Path, tree: SourceTree) -> bool:
    bases = (tree.root, tree.root / "src/aerobee", page.parent)
    return path.startswith("NNNN") or any((base / path).exists() for base in bases)


def _package_docstring(tree: SourceTree) -> str:
    return next((m.docstring for m in tree.package if m.name == "aerobee"), "")


def _layers(pyproject: Path) -> list[set[str]]:
    """The public packages of each layer of the contract over `aerobee`, highest first."""
    contracts = tomllib.loads(pyproject.read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    contract = next(c for c in contracts if c.get("containers") == ["aerobee"])
    layers = [
        {name.strip(" ()") for name in layer.split("|") if not name.strip(" (").startswith("_")}
        for layer in contract["layers"]
    ]
    return [layer for layer in layers if layer]
