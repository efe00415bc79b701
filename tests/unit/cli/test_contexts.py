import stat
from pathlib import Path

import pytest

from aerobee.cli.contexts import Contexts, contexts_path, read_contexts, write_contexts
from aerobee.errors import Misuse, NotFound


def test_contexts_are_kept_for_their_owner_only(tmp_path: Path) -> None:
    environment = {"AEROBEE_CONFIG": str(tmp_path / "deep" / "contexts.json")}
    assert read_contexts(environment) == Contexts()
    made = Contexts().with_target("prod", "rmq://k:s@a:1").with_target("dev", "b:2").using("prod")
    path = write_contexts(made, environment)
    assert read_contexts(environment) == made
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert [file.name for file in Path(path).parent.iterdir()] == ["contexts.json"]


def test_where_the_file_is_can_be_said() -> None:
    assert contexts_path({"HOME": "/h"}) == "/h/.config/aerobee/contexts.json"
    assert contexts_path({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}) == "/x/aerobee/contexts.json"
    assert contexts_path({"HOME": "/h", "AEROBEE_CONFIG": "/f"}) == "/f"


def test_what_is_removed_is_no_longer_in_use() -> None:
    contexts = Contexts("a", {"a": "a:1", "b": "b:1"})
    assert contexts.without("a") == Contexts("", {"b": "b:1"})
    assert contexts.without("b") == Contexts("a", {"a": "a:1"})


def test_a_context_that_is_not_there_is_not_found_and_the_others_are_named() -> None:
    contexts = Contexts("", {"dev": "a:1"})
    for ask in (contexts.target, contexts.using, contexts.without):
        with pytest.raises(NotFound, match="there are: dev"):
            ask("prod")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"contexts": 3}', '{"contexts": ["a"]}'])
def test_a_file_that_is_something_else_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "contexts.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Misuse, match=r"contexts\.json is no file of contexts"):
        read_contexts({"AEROBEE_CONFIG": str(path)})


def test_a_place_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    environment = {"AEROBEE_CONFIG": str(tmp_path)}
    with pytest.raises(Misuse, match="cannot be read"):
        read_contexts(environment)
    with pytest.raises(Misuse, match="cannot be written"):
        write_contexts(Contexts(), environment)
