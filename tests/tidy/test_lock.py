from collections.abc import Callable

import pytest

from tests.tidy import locking
from tests.tidy.source_tree import SourceTree
from tools.locked import NotLocked, locked

Plant = Callable[[dict[str, str]], SourceTree]
Rule = Callable[[SourceTree], list[str]]

RULES: list[Rule] = [
    locking.disagreements,
    locking.unhashed_entries,
    locking.unneeded_entries,
    locking.undeclared_pythons,
]

PROJECT = """\
[build-system]
requires = ["builder>=2"]
[project]
name = "small"
requires-python = ">=3.11"
classifiers = ["Programming Language :: Python :: 3.11", "Programming Language :: Python :: 3.12"]
dependencies = ["Run_Time>=1; sys_platform == 'linux'"]
[project.optional-dependencies]
more = ["old.and-new"]
test = ["small[more]", "tester[fast]>=1,<2"]
[dependency-groups]
lock = ["locker"]
"""


def entry(pinned: str, *via: str) -> str:
    needed_by = "".join(f"    #   {name}\n" for name in via)
    return f"{pinned} \\\n    --hash=sha256:{'0a' * 32}\n    # via\n{needed_by}"


OURS = "small (pyproject.toml)"
ENTRIES = [
    entry("builder==2.0", OURS),
    entry("deep==1", "old-and-new", "tester"),
    entry("deeper==1", "deep"),
    entry("locker==3", "small (pyproject.toml:lock)"),
    entry("old-and-new==1 ; python_full_version < '3.12'", OURS),
    entry("old-and-new==2 ; python_full_version >= '3.12'", OURS),
    entry("run-time==1.5 ; sys_platform == 'linux'", OURS),
    entry("tester==1.9", OURS),
]
LOCK = "".join(["# made by hand\n", *ENTRIES])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_lock_of_the_repository_is_for_its_dependencies(
    rule: Rule, repository: SourceTree
) -> None:
    breaches = rule(repository)
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_lock_that_agrees_is_not_accused(rule: Rule, planted: Plant) -> None:
    assert rule(planted({"pyproject.toml": PROJECT, "requirements.lock": LOCK})) == []


@pytest.mark.parametrize(
    ("before", "after", "breaches"),
    [
        ("builder>=2", "builder>=2.1", 2),
        ("tester[fast]>=1,<2", "tester[fast]>=1,<1.9", 2),
        ('"locker"', '"locker>=4"', 2),
        ('"Run_Time>=1', '"forgotten", "Run_Time>=1', 2),
        # Only for the newer Python.
        ('"old.and-new"', '''"old.and-new<2; python_version >= '3.12'"''', 1),
    ],
)
def test_a_dependency_that_is_not_locked_within_its_range_is_found(
    planted: Plant, before: str, after: str, breaches: int
) -> None:
    assert before in PROJECT
    project = PROJECT.replace(before, after)
    tree = planted({"pyproject.toml": project, "requirements.lock": LOCK})
    # What `test` wants because of `more` is found for both.
    found = {line.split(" wants ")[1] for line in locking.disagreements(tree)}
    assert len(found) == breaches


def test_a_lock_that_leaves_a_python_out_is_found(planted: Plant) -> None:
    lock = LOCK.replace(
        "old-and-new==2 ; python_full_version >= '3.12'", "old-and-new==2 ; os_name == 'nt'"
    )
    tree = planted({"pyproject.toml": PROJECT, "requirements.lock": lock})
    assert locking.disagreements(tree) == [
        "requirements.lock: more wants old.and-new, Python 3.12 gets nothing",
        "requirements.lock: test wants old.and-new, Python 3.12 gets nothing",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "bare==1",
        "bare==1\n    # via tester",
        "bare==1 \\\n    --hash=md5:00\n    # via tester",
        "bare>=1 \\\n    --hash=sha256:" + "0a" * 32 + "\n    # via tester",
        "--index-url https://example.org/simple",
    ],
)
def test_a_line_that_is_no_version_with_hashes_is_found(planted: Plant, line: str) -> None:
    lock = LOCK.replace(ENTRIES[1], f"{line}\n{ENTRIES[1]}")
    tree = planted({"pyproject.toml": PROJECT, "requirements.lock": lock})
    [breach] = locking.unhashed_entries(tree)
    assert line.splitlines()[0] in breach


def test_a_package_that_nothing_needs_any_more_is_found(planted: Plant) -> None:
    lock = LOCK + entry("forgotten==1", "gone")
    tree = planted({"pyproject.toml": PROJECT, "requirements.lock": lock})
    assert locking.unneeded_entries(tree) == [
        "requirements.lock: no part of pyproject.toml needs forgotten"
    ]


def test_an_oldest_python_that_pip_is_not_told_of_is_found(planted: Plant) -> None:
    project = PROJECT.replace('">=3.11"', '">=3.12"')
    tree = planted({"pyproject.toml": project, "requirements.lock": LOCK})
    assert locking.undeclared_pythons(tree) == [
        "pyproject.toml: the oldest classifier is 3.11, requires-python is >=3.12"
    ]


@pytest.mark.parametrize(
    ("part", "packages"),
    [
        (["run", "build"], "builder run-time"),
        (["more"], "deep deeper old-and-new old-and-new"),
        (["test"], "deep deeper old-and-new old-and-new tester"),
        (["lock"], "locker"),
    ],
)
def test_a_part_of_the_lock_is_the_packages_of_that_part_and_those_they_need(
    planted: Plant, part: list[str], packages: str
) -> None:
    tree = planted({"pyproject.toml": PROJECT, "requirements.lock": LOCK})
    found = locked(part, tree.root)
    assert " ".join(entry.name for entry in found) == packages
    assert all(entry.text in ENTRIES for entry in found)


@pytest.mark.parametrize(
    ("part", "advice"),
    [("tset", "its parts are run, build, more, test, lock"), ("more", "make lock")],
)
def test_a_part_that_cannot_be_had_says_what_to_do(planted: Plant, part: str, advice: str) -> None:
    lock = LOCK.replace(ENTRIES[4], "").replace(ENTRIES[5], "")
    tree = planted({"pyproject.toml": PROJECT, "requirements.lock": lock})
    with pytest.raises(NotLocked, match=advice):
        locked([part], tree.root)
