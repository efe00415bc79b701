from collections.abc import Callable

import pytest

from tests.tidy import rooms
from tests.tidy.source_tree import SourceTree
from tools.rooms_picture import picture

Rule = Callable[[SourceTree], list[str]]
Plant = Callable[[dict[str, str]], SourceTree]

RULES: list[Rule] = [
    rooms.crowded_levels,
    rooms.docstrings_without_subject,
    rooms.repeated_classes,
    rooms.rooms_without_contract,
]

CONTRACT = """
[[tool.importlinter.contracts]]
name = "the house"
type = "layers"
containers = ["aerobee"]
layers = ["a | b", "c"]
exhaustive = true
"""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_repository_keeps_the_rules_of_the_house(rule: Rule, repository: SourceTree) -> None:
    breaches = rule(repository)
    assert not breaches, "\n".join(breaches)


def test_a_level_with_21_modules_is_found_unless_it_is_a_catalogue(planted: Plant) -> None:
    tree = planted(
        {f"src/aerobee/{level}/m{number}.py": "" for number in range(20) for level in ("a", "b")}
        | {"src/aerobee/b/one_more.py": "", "src/aerobee/b/__init__.py": ""}
        | {f"src/aerobee/protocol/bodies/m{number}.py": "" for number in range(21)}
    )
    assert rooms.crowded_levels(tree) == ["src/aerobee/b: 21 modules on one level; 20 at most"]


def test_a_package_with_rooms_needs_an_exhaustive_contract(planted: Plant) -> None:
    tree = planted(
        {
            "pyproject.toml": CONTRACT,
            "src/aerobee/__init__.py": "",
            "src/aerobee/a/__init__.py": "",
            "src/aerobee/a/room/__init__.py": "",
        }
    )
    assert rooms.rooms_without_contract(tree) == ["aerobee.a: has rooms and no contract"]


def test_a_public_class_name_may_stand_in_two_layers_and_not_twice_in_one(
    planted: Plant,
) -> None:
    text = "class Offsets: ...\nclass _Table: ...\n"
    tree = planted(
        {
            "src/aerobee/client/a.py": text,
            "src/aerobee/service/b.py": text,
            "src/aerobee/service/broker/c.py": text,
        }
    )
    assert rooms.repeated_classes(tree) == [
        "Offsets is a class of src/aerobee/service/b.py and of src/aerobee/service/broker/c.py"
    ]


def test_a_docstring_that_begins_with_a_question_word_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/a.py": '"""What a broker does.\n\nMore."""\n',
            "src/aerobee/b.py": '"""Whatsoever is a word of its own."""\n',
            "bench/c.py": '"""How fast it is."""\n',
            "tests/test_d.py": '"""Which it is."""\n',
        }
    )
    assert [breach.split(":")[0] for breach in rooms.docstrings_without_subject(tree)] == [
        "src/aerobee/a.py",
        "bench/c.py",
        "tests/test_d.py",
    ]


def test_a_contract_is_read_layer_by_layer(planted: Plant) -> None:
    tree = planted({"pyproject.toml": CONTRACT})
    read = list(rooms.layer_contracts(tree.root / "pyproject.toml"))
    assert read == [("aerobee", [["a", "b"], ["c"]])]


def test_the_picture_of_the_rooms_shows_the_contracts(repository: SourceTree) -> None:
    drawn = (repository.root / "docs/pictures/rooms.svg").read_text("utf-8")
    assert drawn == picture(), "python -m tools.rooms_picture docs/pictures/rooms.svg"


def test_a_room_is_drawn_in_the_box_of_its_package_and_a_private_module_is_not(
    planted: Plant,
) -> None:
    inner = CONTRACT.replace('"aerobee"', '"aerobee.b"').replace("a | b", "deep | _hidden")
    drawn = picture(planted({"pyproject.toml": CONTRACT + inner}).root)
    assert "deep" in drawn
    assert "_hidden" not in drawn
