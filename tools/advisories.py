"""Locked packages that have known holes, looked up in a copy of PyPA's advisory database.

    python -m tools.advisories FOLDER

The folder is a checkout of github.com/pypa/advisory-database: files `vulns/PACKAGE/PYSEC-….yaml`.
Nothing is asked over the network. The answer is as old as the newest file, and says so: nothing
known at that time is not the same as no hole.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from packaging.version import InvalidVersion, Version

from tools.locked import Entry, normal, read_lock


class Advisory(NamedTuple):
    package: str
    version: str
    number: str
    aliases: tuple[str, ...]


class Report(NamedTuple):
    newest: str
    """When the newest advisory of the copy was changed; empty: there is none in it."""
    files: int
    found: list[Advisory]


def look_up(folder: Path, entries: list[Entry]) -> Report:
    newest, files = "", 0
    by_name: dict[str, list[Entry]] = {}
    for entry in entries:
        by_name.setdefault(entry.name, []).append(entry)
    found: list[Advisory] = []
    for path in sorted(folder.glob("vulns/*/PYSEC-*.yaml")):
        files += 1
        text = path.read_text("utf-8")
        newest = max(newest, _modified(text))
        mine = by_name.get(normal(path.parent.name), [])
        if mine:
            found += _against(yaml.safe_load(text), mine)
    return Report(newest, files, found)


def _modified(text: str) -> str:
    """The time of the last change; read without the parser, which takes minutes for all files."""
    lines = [line for line in text.splitlines() if line.startswith("modified:")]
    return lines[-1].partition(":")[2].strip().strip("\"'") if lines else ""


def _against(advisory: dict[str, Any], entries: list[Entry]) -> Iterator[Advisory]:
    if advisory.get("withdrawn"):
        return
    for entry in entries:
        if any(
            normal(affected["package"]["name"]) == entry.name and _holds(affected, entry.version)
            for affected in advisory.get("affected", ())
        ):
            aliases = tuple(advisory.get("aliases", ()))
            yield Advisory(entry.name, entry.version, str(advisory["id"]), aliases)


def _holds(affected: dict[str, Any], version: str) -> bool:
    if version in map(str, affected.get("versions", ())):
        return True
    return any(
        _is_between(found.get("events", ()), Version(version))
        for found in affected.get("ranges", ())
        if found.get("type") == "ECOSYSTEM"
    )


def _is_between(events: Any, version: Version) -> bool:
    """Whether a version is in one of the ranges that begin and end with these events, in order."""
    is_in = False
    for event in events:
        for what, text in event.items():
            try:
                at = Version("0" if str(text) == "0" else str(text))
            except InvalidVersion:
                return True  # rather told than missed
            if what == "introduced" and version >= at:
                is_in = True
            if (what == "fixed" and version >= at) or (what == "last_affected" and version > at):
                is_in = False
    return is_in


def main(folder: str) -> int:
    report = look_up(Path(folder), read_lock())
    if not report.files:
        print(f"{folder} has no advisories: vulns/PACKAGE/PYSEC-….yaml", file=sys.stderr)
        return 2
    for one in report.found:
        print(f"{one.package} {one.version}: {one.number} {' '.join(one.aliases)}")
    known = f"{report.files} advisories, the newest changed {report.newest}"
    print(f"{len(report.found)} of the locked packages' versions are in them ({known})")
    return 1 if report.found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("make audit ADVISORIES=FOLDER: a copy of github.com/pypa/advisory-database")
    sys.exit(main(sys.argv[1]))
