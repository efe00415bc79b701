from collections.abc import Callable

from tests.tidy import purity
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]


def test_the_core_uses_no_builtin_that_reaches_the_world(repository: SourceTree) -> None:
    breaches = purity.worldly_builtins(repository)
    assert not breaches, "\n".join(breaches)


def test_a_worldly_builtin_is_found_in_the_core_and_only_there(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/storage/a.py": 'file = open("x")\ndisk.open("x")\n',
            "src/aerobee/protocol/b/c.py": "print(1)\n",
            "src/aerobee/system/disk.py": 'file = open("x")\n',
        }
    )
    assert purity.worldly_builtins(tree) == [
        "src/aerobee/protocol/b/c.py:1: the core may not use print()",
        "src/aerobee/storage/a.py:1: the core may not use open()",
    ]
