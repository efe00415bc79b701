from collections.abc import Callable

import pytest

from tests.tidy import maps
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]
Rule = Callable[[SourceTree], list[str]]

RULES: list[Rule] = [
    maps.misplaced_packages,
    maps.missing_stations,
    maps.dead_references,
    maps.misnumbered_decisions,
]

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


# Apart from the names behind it, which are no pages of this repository.
FOLDER = "docs/decisions"


def decisions(*numbers: int) -> dict[str, str]:
    """Pages of decisions with these numbers, and their index."""
    names = [f"{number:04d}-x.md" for number in numbers]
    pages = {f"{FOLDER}/{name}": f"# {name[:4]} About x\n" for name in names}
    index = "".join(f"| [{name[:4]}]({name}) | x |\n" for name in names)
    return {**pages, f"{FOLDER}/README.md": index}


def test_decisions_that_are_numbered_and_listed_are_well(planted: Plant) -> None:
    first = "0001-x.md"
    tree = planted(
        {
            **decisions(1, 2, 3),
            "README.md": f"[decision 0001]({FOLDER}/{first})",
            "src/aerobee/a.py": f'"""See {FOLDER}/{first}."""',
        }
    )
    assert maps.misnumbered_decisions(tree) == []


@pytest.mark.parametrize(
    ("numbers", "breach"),
    [
        ((2, 3), f"{FOLDER}/0002-x.md: where 0001 belongs"),
        ((1, 2, 5, 6), f"{FOLDER}/0005-x.md: where 0003 belongs"),
    ],
)
def test_a_hole_in_the_numbers_of_decisions_is_found(
    planted: Plant, numbers: tuple[int, ...], breach: str
) -> None:
    assert maps.misnumbered_decisions(planted(decisions(*numbers))) == [breach]


def test_a_number_that_two_decisions_have_is_found(planted: Plant) -> None:
    pages = decisions(1, 2)
    pages[f"{FOLDER}/0002-y.md"] = "# 0002 About y\n"
    pages[f"{FOLDER}/README.md"] += "| [0002](0002-y.md) | y |\n"
    assert maps.misnumbered_decisions(planted(pages)) == [f"{FOLDER}/0002-y.md: where 0003 belongs"]


def test_an_index_of_decisions_that_leaves_out_repeats_or_mixes_is_found(planted: Plant) -> None:
    index = f"{FOLDER}/README.md"
    pages = decisions(1, 2, 3)
    first, second, third = pages[index].splitlines(keepends=True)
    assert maps.misnumbered_decisions(planted({**pages, index: first + third + third})) == [
        f"{index}: 0002-x.md is listed 0 times",
        f"{index}: 0003-x.md is listed 2 times",
    ]
    assert maps.misnumbered_decisions(planted({**pages, index: second + first + third})) == [
        f"{index}: not in the order of numbers"
    ]


def test_a_decision_by_the_wrong_number_is_found_wherever_it_is_said(planted: Plant) -> None:
    second, gone = "0002-x.md", "0009-x.md"
    tree = planted(
        {
            **decisions(1, 2),
            f"{FOLDER}/{second}": "# 0003 About x\n",
            "README.md": f"[decision 0001]({FOLDER}/{second})",
            "docs/page.md": f"[0001](decisions/{second})",
            "src/aerobee/a.py": f'"""See {FOLDER}/{gone}."""',
        }
    )
    assert maps.misnumbered_decisions(tree) == [
        f"{FOLDER}/0002-x.md: its title begins with another number",
        "README.md: 0001 is said of 0002-x.md",
        "docs/page.md: 0001 is said of 0002-x.md",
        "src/aerobee/a.py: there is no decision 0009-x.md",
    ]
