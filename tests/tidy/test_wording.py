from collections.abc import Callable

import pytest

from tests.tidy import wording
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]


def test_the_repository_holds_no_banned_text(repository: SourceTree) -> None:
    breaches = wording.banned_text(repository)
    assert not breaches, "\n".join(breaches)


def test_everything_in_the_repository_has_a_name(repository: SourceTree) -> None:
    breaches = wording.nameless_things(repository)
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize(
    "text",
    [
        "# TO" + "DO: later",
        "x = 1  # FIX" + "ME",
        "see /wo" + "rk/shared/spec",
        'open("/tm' + 'p/out")',
        "https://py" + "pi.org/simple",
        "as asked in iss" + "ue 3",
    ],
)
@pytest.mark.parametrize("place", ["README.md", "src/aerobee/a.pxd", ".ci/run", "tests/unit/a.py"])
def test_banned_text_is_found_wherever_it_stands(planted: Plant, place: str, text: str) -> None:
    tree = planted({place: f"first line\n{text}\n"})
    assert [breach.split(" ")[0] for breach in wording.banned_text(tree)] == [f"{place}:2:"]


def test_ordinary_words_and_folders_that_are_not_ours_are_left_alone(planted: Plant) -> None:
    tree = planted(
        {
            "HACKING.md": "HACKING, a/tm" + "p/b, /proc/self, the method todo_list, rework/",
            "build/x.py": "# TO" + "DO",
            ".venv/x.py": "# TO" + "DO",
            "tests/vectors/x.json": "/roo" + "t/",
        }
    )
    assert wording.banned_text(tree) == []


def test_drawers_without_a_name_are_found(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/utils.py": "",
            "src/aerobee/store.py": "class StoreManager: ...\nclass Store: ...\n",
            "tests/helpers.py": "",
            "tools/a.py": "class DefaultStore: ...\n",
        }
    )
    assert [breach.split(": ")[0] for breach in wording.nameless_things(tree)] == [
        "src/aerobee/store.py:1",
        "src/aerobee/utils.py",
        "tests/helpers.py",
        "tools/a.py:1",
    ]
