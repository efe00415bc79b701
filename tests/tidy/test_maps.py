from collections.abc import Callable

import pytest

from tests.tidy import maps
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]
Rule = Callable[[SourceTree], list[str]]

RULES: list[Rule] = [maps.misplaced_packages, maps.missing_stations, maps.dead_references]

LAYERS = """\
[[tool.importlinter.contracts]]
type = "layers"
containers = ["aerobee"]
layers = ["sim | system", "storage", "errors | _compiled"]
"""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_what_the_documents_of_the_repository_name_exists(
    rule: Rule, repository: SourceTree
) -> None:
    breaches = rule(repository)
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize(
    ("order", "breaches"),
    [
        (["system", "sim", "storage", "errors"], 0),
        (["storage", "sim", "system", "errors"], 2),
        (["sim", "system", "storage"], 1),
        (["sim", "system", "storage", "errors", "extra"], 1),
    ],
)
def test_a_map_that_is_not_the_layers_contract_is_found(
    planted: Plant, order: list[str], breaches: int
) -> None:
    lines = "".join(f"    {name}   what it is\n" for name in order)
    tree = planted(
        {
            "pyproject.toml": LAYERS,
            "src/aerobee/__init__.py": f'"""The map.\n\n{lines}\nThe end.\n"""\n',
        }
    )
    assert len(maps.misplaced_packages(tree)) == breaches


def test_a_walk_past_a_file_that_is_not_there_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/__init__.py": '"""Walk.\n\n  a/here.py, then a/gone.py\n"""\n',
            "src/aerobee/a/here.py": "",
        }
    )
    assert maps.missing_stations(tree) == ["src/aerobee/__init__.py: there is no a/gone.py"]


def test_a_page_that_names_what_is_not_there_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "Makefile": "test: install\n\techo\n",
            "src/aerobee/a/here.py": "",
            "docs/there.md": "",
            "docs/page.md": (
                "`a/here.py` `a/gone.py` [x](there.md) [y](lost.md) [z](https://example.org/a.md)\n"
                "`make test` `make money` and we make sure\n```\nmake fast\n```\n"
            ),
        }
    )
    assert maps.dead_references(tree) == [
        "docs/page.md: there is no a/gone.py",
        "docs/page.md: there is no lost.md",
        "docs/page.md: there is no make fast",
        "docs/page.md: there is no make money",
    ]
