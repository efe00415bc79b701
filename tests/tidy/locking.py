"""requirements.lock agrees with pyproject.toml, for every Python that the package supports.

A dependency that was added without `make lock`, or a range that the locked version is outside of,
would otherwise be found by the first person who installs.
"""

from packaging.markers import default_environment
from packaging.requirements import Requirement

from tests.tidy.source_tree import SourceTree
from tools.locked import (
    LOCK,
    Entry,
    NotLocked,
    locked,
    normal,
    parts,
    read_lock,
    read_project,
    requirements_of,
)
from tools.pythons import supported

Environment = dict[str, str]
"""The values of the variables of a marker."""


def disagreements(tree: SourceTree) -> list[str]:
    """Each dependency of each part has exactly one locked version on each Python, in its range."""
    project = read_project(tree.root)
    entries = read_lock(tree.root)
    found = []
    for part in parts(project):
        for text in requirements_of(project, part):
            wanted = Requirement(text)
            for python in supported(project):
                there = _environment(python)
                if wanted.marker and not wanted.marker.evaluate(there):
                    continue
                versions = [
                    entry.version
                    for entry in entries
                    if entry.name == normal(wanted.name) and _holds(entry, there)
                ]
                if len(versions) != 1 or not wanted.specifier.contains(versions[0], True):
                    is_locked = " and ".join(versions) or "nothing"
                    found.append(f"{LOCK}: {part} wants {text}, Python {python} gets {is_locked}")
    return found


def unhashed_entries(tree: SourceTree) -> list[str]:
    """Every entry has a hash: the reader of the lock knows no other form."""
    try:
        read_lock(tree.root)
    except NotLocked as error:
        return [str(error)]
    return []


def unneeded_entries(tree: SourceTree) -> list[str]:
    """Every entry is of some part."""
    used = locked(parts(read_project(tree.root)), tree.root)
    return [
        f"{LOCK}: no part of pyproject.toml needs {entry.name}"
        for entry in read_lock(tree.root)
        if entry not in used
    ]


def undeclared_pythons(tree: SourceTree) -> list[str]:
    """The oldest Python of the classifiers is the one that pip asks for, too."""
    project = read_project(tree.root)
    oldest, asked = supported(project)[0], project["project"]["requires-python"]
    if asked == f">={oldest}":
        return []
    return [f"pyproject.toml: the oldest classifier is {oldest}, requires-python is {asked}"]


def _holds(entry: Entry, there: Environment) -> bool:
    marker = Requirement(f"{entry.name} ; {entry.marker}").marker if entry.marker else None
    return marker is None or marker.evaluate(there)


def _environment(python: str) -> Environment:
    return {
        **{name: str(text) for name, text in default_environment().items()},
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "os_name": "posix",
        "platform_system": "Linux",
    }
