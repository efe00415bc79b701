import argparse

from aerobee.cli.verbs import DEFAULT_NAME_SERVER, target_of
from tests.cli_kit import aerobee
from tests.server_kit import Server


def test_the_name_server_is_given_or_in_the_environment_or_here() -> None:
    def asked(given: str | None, **environment: str) -> str:
        return target_of(argparse.Namespace(name_server=given), environment)

    assert asked(None) == DEFAULT_NAME_SERVER
    assert asked(None, NAMESRV_ADDR="a:1") == "a:1"
    assert asked(None, NAMESRV_ADDR="a:1", AEROBEE_NAME_SERVER="b:1") == "b:1"
    assert asked("c:1", NAMESRV_ADDR="a:1") == "c:1"


def test_an_error_for_programs_is_an_object(server: Server) -> None:
    said = aerobee(server, "topic", "show", "VerbNowhere", "-o", "json")
    assert '"code": "TopicNotFound"' in said.error
    assert said.out == ""


def test_help_has_examples_and_a_wrong_verb_is_wrong_use(server: Server) -> None:
    assert "examples:" in aerobee(server, "topic", "--help").out
    assert aerobee(server, "topic", "frobnicate").status == 2
