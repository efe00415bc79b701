import argparse
from pathlib import Path

import pytest

from aerobee.cli.cluster_verbs import DEFAULT_NAME_SERVER, target_of, whole_from, without_secret
from aerobee.cli.contexts import Contexts, write_contexts
from aerobee.errors import NotFound
from tests.cli_kit import NOWHERE, OnTerminal, aerobee
from tests.server_kit import Server


def asked(given: str | None, context: str | None = None, **environment: str) -> str:
    return target_of(argparse.Namespace(name_server=given, context=context), environment)


def test_the_name_server_is_given_or_in_the_environment_or_here(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert asked(None, HOME=home) == DEFAULT_NAME_SERVER
    assert asked(None, HOME=home, NAMESRV_ADDR="a:1") == "a:1"
    assert asked(None, HOME=home, NAMESRV_ADDR="a:1", AEROBEE_NAME_SERVER="b:1") == "b:1"
    assert asked("c:1", NAMESRV_ADDR="a:1") == "c:1"


def test_a_context_counts_more_than_variables_and_less_than_a_flag(tmp_path: Path) -> None:
    said = {"AEROBEE_CONFIG": str(tmp_path / "contexts.json"), "NAMESRV_ADDR": "a:1"}
    write_contexts(Contexts("dev", {"dev": "d:1", "prod": "p:1"}), said)
    assert asked(None, **said) == "d:1"
    assert asked(None, AEROBEE_CONTEXT="prod", **said) == "p:1"
    assert asked(None, "dev", AEROBEE_CONTEXT="prod", **said) == "d:1"
    assert asked("c:1", "dev", **said) == "c:1"
    with pytest.raises(NotFound, match="'test'"):
        asked(None, "test", **said)


def test_a_secret_is_not_shown() -> None:
    assert without_secret("rmq://key:secret@a:1/ns?tls=on") == "rmq://key:***@a:1/ns?tls=on"
    assert without_secret("a:1;b:1") == "a:1;b:1"


def test_an_error_for_programs_is_an_object(server: Server) -> None:
    said = aerobee(server, "topic", "status", "VerbNowhere", "-o", "json")
    assert '"code": "TopicNotFound"' in said.error
    assert said.out == ""


def test_help_has_examples_and_a_wrong_verb_is_wrong_use(server: Server) -> None:
    assert "examples:" in aerobee(server, "topic", "--help").out
    assert aerobee(server, "topic", "frobnicate").status == 2


def test_watching_shows_it_again_and_again_until_somebody_has_enough(server: Server) -> None:
    watch = ("cluster", "list", "--watch", "0.01", "-n", server.name_server)
    screen = OnTerminal(*watch)
    screen.wait_for("broker-a", 3)
    screen.interrupt()
    status, lines = screen.end()
    assert status == 0
    assert all(len(line) <= 80 for line in lines)
    assert aerobee(server, "cluster", "list", "--watch", "0").status == 2
    assert aerobee(NOWHERE, "cluster", "list", "--watch", "1").status == 1


def test_whoever_is_there_is_asked(server: Server) -> None:
    aerobee(server, "topic", "create", "VerbAsked")
    delete = ("topic", "delete", "VerbAsked", "-n", server.name_server)
    for answer, status in (("\n", 1), ("no\n", 1), ("yes\n", 0)):
        screen = OnTerminal(*delete)
        screen.wait_for("Go on? [y/N]")
        screen.type(answer)
        ended, lines = screen.end()
        assert ended == status
        assert lines[0].startswith("This would delete the topic VerbAsked and its 0 messages")
        assert server.name_server in lines[0]
    assert aerobee(server, "topic", "route", "VerbAsked").status == 3


def test_what_was_done_and_would_be_done_is_a_record_to_programs(server: Server) -> None:
    made = aerobee(server, "topic", "create", "VerbDone", "-o", "json")
    assert made.records == [{"done": "VerbDone has 8 queues on each broker"}]
    (would,) = aerobee(
        server, "topic", "delete", "VerbDone", "--dry-run", "-o", "ndjson"
    ).out.splitlines()
    assert would.startswith('{"would": "would delete the topic VerbDone')


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5"])
def test_a_number_that_is_too_small_or_none_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="from 1 on"):
        whole_from(1)(text)
    assert whole_from(1)("1") == 1
