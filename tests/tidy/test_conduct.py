from collections.abc import Callable

import pytest

from tests.tidy import conduct
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]
Rule = Callable[[SourceTree], list[str]]

RULES: list[Rule] = [
    conduct.unmirrored_modules,
    conduct.sleeping_tests,
    conduct.patching_tests,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tests_of_the_repository_behave(rule: Rule, repository: SourceTree) -> None:
    breaches = rule(repository)
    assert not breaches, "\n".join(breaches)


def test_a_module_without_tests_and_tests_without_a_module_are_found(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/errors.py": "def f(): return 1\n",
            "src/aerobee/a/tested.py": "def f(): return 1\n",
            "src/aerobee/a/untested.py": "def f(): return 1\n",
            "src/aerobee/ports/disk.py": 'class Disk:\n    def f(self):\n        """Do."""\n',
            "src/aerobee/ports/clock.py": "LIMIT = 1\nclass Clock:\n    def f(self): ...\n",
            "tests/unit/test_errors.py": "",
            "tests/unit/a/test_tested.py": "",
            "tests/unit/a/test_gone.py": "",
            "tests/unit/a/frames.py": "",
            "tests/property/test_anything.py": "",
        }
    )
    assert conduct.unmirrored_modules(tree) == [
        "src/aerobee/a/untested.py: tests/unit/a/test_untested.py is missing",
        "tests/unit/a/test_gone.py: tests no module of its name",
    ]


def test_a_sleeping_test_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "tests/unit/test_a.py": "import time\ntime.sleep(1)\n",
            "tests/crash/test_b.py": "from time import sleep\nsleep(1)\n",
            "tests/crash/test_c.py": "clock.advance(1)\n",
        }
    )
    assert [breach.split(": ")[0] for breach in conduct.sleeping_tests(tree)] == [
        "tests/crash/test_b.py:2",
        "tests/unit/test_a.py:2",
    ]


def test_a_patching_test_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "tests/unit/test_a.py": "def test_x(monkeypatch): ...\n",
            "tests/unit/test_b.py": "from unittest.mock import Mock\n",
            "tests/unit/test_c.py": "def test_x(tmp_path): ...\n",
        }
    )
    assert [breach.split(": ")[0] for breach in conduct.patching_tests(tree)] == [
        "tests/unit/test_a.py:1",
        "tests/unit/test_b.py:1",
    ]
