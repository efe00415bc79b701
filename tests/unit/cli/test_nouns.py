import importlib

import pytest

from aerobee.cli.main import parser_for
from aerobee.cli.nouns import NOUNS
from tests.cli_kit import OnTerminal, aerobee_here


@pytest.mark.parametrize("noun", NOUNS)
def test_a_noun_has_a_module_that_adds_it_and_says_the_same_in_help(noun: str) -> None:
    module, text = NOUNS[noun]
    assert callable(importlib.import_module(f"aerobee.cli.{module}").add_to)
    said = parser_for([noun]).format_help()
    assert said == parser_for([]).format_help()
    assert " ".join(text.split()) in " ".join(said.split())


ASKING = ("nameserver", "broker", "cluster", "topic", "group", "offset", "message", "dlq")
OTHERS = ("transaction", "store", "config", "context", "completion")


@pytest.mark.parametrize("noun", [*ASKING, *OTHERS])
def test_help_fits_into_80_columns(noun: str) -> None:
    status, lines = OnTerminal(noun, "--help").end()
    assert status == 0
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("noun", NOUNS)
def test_a_noun_has_help_with_examples(noun: str) -> None:
    said = aerobee_here(noun, "--help")
    assert said.status == 0
    # RocketMQ's own tool lists its sub-commands instead.
    assert "examples:" in said.out or noun == "mqadmin"
