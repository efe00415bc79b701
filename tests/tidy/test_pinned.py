import json
from collections.abc import Callable

import pytest

from tests.tidy import pinned
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]
Rule = Callable[[SourceTree], list[str]]

RULES: list[Rule] = [pinned.unhashed_installs, pinned.unhashed_packages, pinned.moving_actions]
COMMIT = "0a" * 20
LOCK = {"packages": {"": {}, "node_modules/a": {"version": "1", "integrity": "sha512-x"}}}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_everything_that_is_fetched_has_a_fixed_content(rule: Rule, repository: SourceTree) -> None:
    breaches = rule(repository)
    assert not breaches, "\n".join(breaches)


def test_every_exception_is_needed(repository: SourceTree) -> None:
    known = {module.place: module for module in repository.programs}
    for place in pinned.UNHASHED:
        assert list(pinned._listed_installs(known[place].syntax)), place


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("Makefile", "x:\n\tcd y && pip install \\\n\t  requests\n"),
        ("Makefile", "x:\n\t@$(PIP_INSTALL) requests\n"),
        ("deploy/Containerfile", "RUN apt-get update && pip wheel requests\n"),
        ("tools/a.py", "run([python, '-m', 'pip', 'install', 'requests'])\n"),
    ],
)
def test_an_install_without_hashes_is_found(planted: Plant, place: str, text: str) -> None:
    (breach,) = pinned.unhashed_installs(planted({place: text}))
    assert breach.startswith(f"{place}:")


def test_installs_with_hashes_and_words_about_them_are_not(planted: Plant) -> None:
    made = (
        "PIP_INSTALL := python -m pip install --quiet\n"
        "x:\n\t$(PIP_INSTALL) --require-hashes -r locked.txt\n"
        "\techo pip install it yourself\n# pip install x\n"
        "\tpip install --no-index x; pip install --no-deps -e .\n"
    )
    listed = "run(['pip', 'install', '--require-hashes', '-r', path])\n"
    assert not pinned.unhashed_installs(planted({"Makefile": made, "tools/a.py": listed}))


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("console/package-lock.json", json.dumps(LOCK).replace("integrity", "resolved")),
        (
            "a/Cargo.lock",
            '[[package]]\nname = "a"\nversion = "1"\nsource = "registry+https://x"\n',
        ),
    ],
)
def test_a_locked_package_without_a_hash_is_found(planted: Plant, place: str, text: str) -> None:
    (breach,) = pinned.unhashed_packages(planted({place: text}))
    assert breach.startswith(f"{place}: ")


def test_locked_packages_with_hashes_are_not(planted: Plant) -> None:
    cargo = '[[package]]\nname = "ours"\nversion = "1"\n'
    files = {"console/package-lock.json": json.dumps(LOCK), "a/Cargo.lock": cargo}
    assert not pinned.unhashed_packages(planted(files))


def test_an_action_that_can_be_moved_is_found(planted: Plant) -> None:
    text = f"steps:\n  - uses: a/b@v4\n  - uses: a/c@{COMMIT}\n  - uses: ./here\n"
    (breach,) = pinned.moving_actions(planted({".github/workflows/test.yml": text}))
    assert "a/b@v4" in breach
