import re
from pathlib import Path

import pytest

from aerobee.cli.mqadmin import catalog

PAGE = Path(__file__).parents[4] / "docs" / "mqadmin.md"


def test_every_sub_command_of_rocketmqs_tool_is_known() -> None:
    known = re.findall(r"^\| (\w+) \|", PAGE.read_text(), re.MULTILINE)
    assert len(known) > 89
    assert catalog.names() == sorted(known, key=str.lower)


@pytest.mark.parametrize("family", catalog.FAMILIES)
def test_a_module_has_the_sub_commands_that_the_catalog_says(family: str) -> None:
    names = [command.name for command in catalog.commands_of(family)]
    assert sorted(names) == sorted(catalog.FAMILIES[family].split())


def test_a_name_is_found_in_capitals_or_not() -> None:
    found = catalog.find("TOPICLIST")
    assert found is not None
    assert found.name == "topicList"
    assert catalog.find("nonsense") is None


@pytest.mark.parametrize("name", catalog.names())
def test_a_sub_command_does_something_or_says_why_not(name: str) -> None:
    command = catalog.find(name)
    assert command is not None
    assert (command.run is None) == bool(command.why_not and command.instead)
    flags = [flag for option in command.options for flag in (option.short, option.long) if flag]
    assert len(flags) == len(set(flags))
