import importlib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import aerobee
from aerobee._compiled import HOT_MODULES, is_compiled, report


def test_a_module_is_hot_exactly_when_a_pxd_lies_beside_its_py() -> None:
    package = Path(aerobee.__file__).parent
    expected = set()
    for source in package.rglob("*.py"):
        if source.with_suffix(".pxd").exists():
            parts = source.relative_to(package).with_suffix("").parts
            expected.add(".".join(("aerobee", *parts)))
    assert expected
    assert set(HOT_MODULES) == expected
    assert list(HOT_MODULES) == sorted(HOT_MODULES)


def test_what_is_said_of_a_module_is_what_the_module_says_of_itself() -> None:
    for name in HOT_MODULES:
        module = importlib.import_module(name)
        assert is_compiled(name) == module.is_compiled(), name
        assert is_compiled(name) == str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES)), name


def test_a_cold_module_and_a_module_that_is_not_there_are_not_compiled() -> None:
    assert not is_compiled("aerobee.errors")
    assert not is_compiled("aerobee.no_such_module")


def test_the_report_counts_what_runs_as_c() -> None:
    compiled = sum(is_compiled(name) for name in HOT_MODULES)
    text = report()
    if compiled == len(HOT_MODULES):
        assert text == f"compiled: all {compiled} hot modules run as C"
    elif compiled == 0:
        assert text.startswith("PURE PYTHON")
    else:
        assert text.startswith(f"PARTLY COMPILED: {compiled} of {len(HOT_MODULES)}")
        assert all(name in text for name in HOT_MODULES if not is_compiled(name))
