from collections.abc import Callable

import pytest

from tests.tidy import budgets
from tests.tidy.source_tree import SourceTree

Rule = Callable[[SourceTree], list[str]]
Plant = Callable[[dict[str, str]], SourceTree]

RULES: list[Rule] = [
    budgets.long_functions,
    budgets.long_modules,
    budgets.wide_classes,
    budgets.wide_constructors,
    budgets.knows_too_many,
    budgets.known_by_too_many,
    budgets.thin_docstrings,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_repository_keeps_its_budgets(rule: Rule, repository: SourceTree) -> None:
    breaches = rule(repository)
    assert not breaches, "\n".join(breaches)


def lines(count: int, line: str = "    x = 1\n") -> str:
    return line * count


def test_a_function_of_71_lines_is_found_and_one_of_70_is_not(planted: Plant) -> None:
    tree = planted({"src/aerobee/a.py": "def f():\n" + lines(70) + "def g():\n" + lines(69)})
    assert budgets.long_functions(tree) == ["src/aerobee/a.py:1: f has 71 lines"]


def test_a_docstring_does_not_count_as_lines_of_its_function(planted: Plant) -> None:
    text = 'def f():\n    """One.\n' + lines(30, "    more\n") + '    """\n' + lines(69)
    assert budgets.long_functions(planted({"tools/a.py": text})) == []


def test_a_module_over_500_lines_needs_a_reason_and_over_800_is_too_long(planted: Plant) -> None:
    reason = f'"""Words.\n\n{budgets.LENGTH_REASON} it is a table.\n"""\n'
    tree = planted(
        {
            "src/aerobee/plain.py": lines(501, "x = 1\n"),
            "src/aerobee/whole.py": lines(500, "x = 1\n"),
            "src/aerobee/reasoned.py": reason + lines(700, "x = 1\n"),
            "tests/unit/huge.py": reason + lines(800, "x = 1\n"),
        }
    )
    assert budgets.long_modules(tree) == [
        "src/aerobee/plain.py: 501 lines; 500 at most",
        "tests/unit/huge.py: 804 lines; 800 at most",
    ]


def test_a_class_with_21_public_methods_is_found(planted: Plant) -> None:
    methods = "".join(f"    def m{index}(self): ...\n" for index in range(20))
    wide = "class Wide:\n" + methods + "    def one_more(self): ...\n"
    good = "class Good:\n" + methods + "    def _private(self): ...\n"
    tree = planted({"src/aerobee/a.py": wide + good})
    assert budgets.wide_classes(tree) == ["src/aerobee/a.py:1: Wide has 21 public methods"]


def test_what_a_port_asks_for_does_not_count_in_the_worlds_behind_it(planted: Plant) -> None:
    methods = "".join(f"    def m{index}(self): ...\n" for index in range(21))
    tree = planted(
        {
            "src/aerobee/ports/disk.py": "class Disk:\n    def m0(self): ...\n",
            "src/aerobee/sim/disk.py": "class SimDisk:\n" + methods,
            "src/aerobee/storage/disk.py": "class Other:\n" + methods,
        }
    )
    assert budgets.wide_classes(tree) == [
        "src/aerobee/storage/disk.py:1: Other has 21 public methods"
    ]


def test_a_constructor_of_9_parameters_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/a.py": """\
            class A:
                def __init__(self, a, b, c, d, e, f, g, *, h, i): ...
            class B:
                def __init__(self, a, b, c, d, e, f, g, *, h): ...
            """
        }
    )
    assert budgets.wide_constructors(tree) == ["src/aerobee/a.py:2: 9 constructor parameters"]


def imports(count: int) -> str:
    return "import struct\n" + "".join(f"import aerobee.m{index}\n" for index in range(count))


def test_a_module_that_imports_16_others_needs_a_reason_and_21_are_too_many(
    planted: Plant,
) -> None:
    reason = f'"""Words.\n\n{budgets.WIDTH_REASON} it is where\nall meet.\n"""\n'
    tree = planted(
        {
            "src/aerobee/good.py": imports(15),
            "src/aerobee/bad.py": imports(15) + "from aerobee.x import y\n",
            "src/aerobee/reasoned.py": reason.replace("more than", "more\nthan") + imports(20),
            "src/aerobee/worse.py": reason + imports(21),
        }
    )
    assert budgets.knows_too_many(tree) == [
        "src/aerobee/bad.py: imports 16 modules of the project; 15 at most",
        "src/aerobee/worse.py: imports 21 modules of the project; 20 at most",
    ]


def test_a_module_that_31_others_import_is_found_unless_it_is_a_value_or_a_port(
    planted: Plant,
) -> None:
    text = "import aerobee.protocol.remoting.frame\nimport aerobee.model.message\n"
    tree = planted({f"src/aerobee/m{index}.py": text for index in range(31)})
    assert budgets.known_by_too_many(tree) == [
        "aerobee.protocol.remoting.frame: imported by 31 modules"
    ]


def test_a_module_with_a_thin_docstring_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/bare.py": "x = 1\n",
            "src/aerobee/short.py": '"""One line."""\n',
            "src/aerobee/good.py": '"""Two\nlines."""\n',
            "src/aerobee/p/__init__.py": '"""One line is enough for a package."""\n',
            "fuzz/fuzz_x.py": '"""Any bytes give a value or an error."""\n',
        }
    )
    assert [breach.split(":")[0] for breach in budgets.thin_docstrings(tree)] == [
        "src/aerobee/bare.py",
        "src/aerobee/short.py",
    ]
