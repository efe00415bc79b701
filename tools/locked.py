"""The locked packages of parts of the project, printed for `pip install --require-hashes`.

    python tools/locked.py run build console  the parts that `make up` needs
    python tools/locked.py run build test  the parts that `make test` needs

A part is `run` (the dependencies of the package), `build` (of the build), an extra or a dependency
group of pyproject.toml. The file requirements.lock has the packages of all parts, each with its
version, its hashes and a comment that names the packages that need it (`# via`). pip installs
all of a requirements file, so this program prints some of it: the direct dependencies of the
parts, and the packages that these need. A mistake in that cannot pass unseen: with
--require-hashes, pip refuses a package if it needs another one that is not listed.

It imports the standard library alone, because it runs before anything is installed.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK = "requirements.lock"

Project = dict[str, Any]
"""The tables of pyproject.toml."""

_ENTRY = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+?))? \\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
    r"(?P<via>(?:    #.*\n)+)"
)
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[(?P<extras>[^\]]*)\])?")


class NotLocked(Exception):
    """The lock and pyproject.toml disagree, or a part has no such name."""


@dataclass(frozen=True)
class Entry:
    """One version of one package. A package has two if old Pythons need an older version."""

    name: str
    version: str
    marker: str
    via: frozenset[str]
    """The packages that need this one; empty for a direct dependency of the project alone."""
    text: str


def read_project(root: Path = ROOT) -> Project:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


def read_lock(root: Path = ROOT) -> list[Entry]:
    """The entries of the lock, in its order; an error at the first line that is no entry."""
    text = (root / LOCK).read_text("utf-8")
    position = len(text) - len(re.sub(r"\A(?:#.*\n)+", "", text))
    entries = []
    while position < len(text):
        found = _ENTRY.match(text, position)
        if found is None:
            line = text[position:].splitlines()[0]
            raise NotLocked(f"{LOCK}: no version with hashes and a `# via`: {line}")
        via = re.findall(r"#(?: via)? +([a-z0-9-]+)$", found["via"], re.MULTILINE)
        marker = found["marker"] or ""
        entries.append(
            Entry(found["name"], found["version"], marker, frozenset(via), found.group())
        )
        position = found.end()
    return entries


def parts(project: Project) -> dict[str, list[str]]:
    """Every part and its requirements as they are written."""
    return {
        "run": project["project"].get("dependencies", []),
        "build": project["build-system"]["requires"],
        **project["project"].get("optional-dependencies", {}),
        **project.get("dependency-groups", {}),
    }


def requirements_of(project: Project, part: str) -> Iterator[str]:
    """The requirements of a part; of extras of the project itself, theirs."""
    known = parts(project)
    if part not in known:
        raise NotLocked(f"pyproject.toml has no part {part}; its parts are {', '.join(known)}")
    for requirement in known[part]:
        name, extras = split_name(requirement)
        if name == normal(project["project"]["name"]):
            for extra in extras:
                yield from requirements_of(project, extra)
        else:
            yield requirement


def split_name(requirement: str) -> tuple[str, list[str]]:
    """The normal name of a required package, and the extras that are asked for."""
    found = _REQUIREMENT.match(requirement)
    if found is None:
        raise NotLocked(f"pyproject.toml: {requirement!r} does not begin with a name")
    return normal(found["name"]), [extra.strip() for extra in (found["extras"] or "").split(",")]


def normal(name: str) -> str:
    """The name by which an index, and the lock, know a package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(entries: Iterable[Entry], roots: Iterable[str]) -> list[Entry]:
    """The entries of the packages named, and of all that these need, in the order of the lock."""
    entries = list(entries)
    names = set(roots)
    missing = names - {entry.name for entry in entries}
    if missing:
        raise NotLocked(f"{LOCK} has no {', '.join(sorted(missing))}: make lock")
    grown = -1
    while grown < len(names):
        grown = len(names)
        names |= {entry.name for entry in entries if not names.isdisjoint(entry.via)}
    return [entry for entry in entries if entry.name in names]


def locked(asked: Iterable[str], root: Path = ROOT) -> list[Entry]:
    """The entries that the parts asked for need."""
    project = read_project(root)
    roots = {split_name(text)[0] for part in asked for text in requirements_of(project, part)}
    return needed(read_lock(root), roots)


if __name__ == "__main__":
    try:
        print(*(entry.text for entry in locked(sys.argv[1:])), sep="", end="")
    except NotLocked as error:
        sys.exit(str(error))
