import argparse
import logging
from dataclasses import dataclass, field

import pytest

from aerobee.app.process.lifecycle import CannotStart, Ended
from aerobee.app.settings.config import BadConfig, Given
from aerobee.cli.server_verbs import (
    Flag,
    add_server,
    add_server_verb,
    given,
    print_settings,
    serve,
    settings_from,
)

FLAGS = (Flag("port", "listenPort", "which port", "N", "-p"), Flag("host", "bindAddress", "where"))


@dataclass
class Settings:
    ignored: list[str] = field(default_factory=list)
    effective: str = ""


class Unable:
    """A part that says that it was asked, and cannot."""

    def __init__(self) -> None:
        self.levels = (0, 0)

    async def start(self, failed: Ended) -> str:
        self.levels = levels()
        raise CannotStart("not today", hint="come back")

    async def stop(self) -> None: ...


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    nouns = parser.add_subparsers()
    verbs = add_server(nouns, "server", "serves", "  server go\n")
    add_server_verb(verbs, "go", "goes", lambda _: 7, FLAGS, "  server go -p 1\n")
    return parser.parse_args(["server", *words])


def test_what_was_said_as_flags_becomes_settings_and_nothing_else_does() -> None:
    assert parsed("go").verb(None) == 7
    assert given(parsed("go"), FLAGS) == []
    assert given(parsed("go", "-p", "7"), FLAGS) == [Given("listenPort", "7", "--port")]
    both = given(parsed("go", "--host", "::1", "--port", "7"), FLAGS)
    assert [one.place for one in both] == ["--port", "--host"]


def test_a_server_has_its_examples_in_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["go"]):
        with pytest.raises(SystemExit):
            parsed(*words, "--help")
        assert "examples:\n  server go" in capsys.readouterr().out


def test_every_mistake_is_said_on_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    def read() -> Settings:
        raise BadConfig(["a is wrong", "b is wrong"])

    assert settings_from(read) is None
    assert capsys.readouterr().err == "aerobee: a is wrong\naerobee: b is wrong\n"


def test_settings_that_are_wrong_start_nothing_and_print_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert print_settings(None) == 2
    assert serve(None, lambda _: pytest.fail("it was started")) == 2
    assert capsys.readouterr().out == ""


def test_settings_are_printed_after_what_has_no_meaning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert print_settings(settings_from(lambda: Settings(["deleteWhen"], "a=1\n"))) == 0
    assert capsys.readouterr().out == "# deleteWhen has no meaning here\na=1\n"


def levels() -> tuple[int, int]:
    """Of most loggers, and of the one that tells of starts."""
    names = ("aerobee.net", "aerobee.app.process.broker_process")
    most, starts = (logging.getLogger(name).getEffectiveLevel() for name in names)
    return most, starts


@pytest.mark.parametrize(("is_quiet", "level"), [(False, logging.INFO), (True, logging.WARNING)])
def test_parts_are_run_with_as_much_of_a_log_as_is_wanted(
    is_quiet: bool, level: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before, handlers = levels(), logging.getLogger().handlers[:]
    unable = Unable()
    assert serve(Settings(), lambda _: ([unable], []), is_quiet=is_quiet) == 3
    assert capsys.readouterr().err == "aerobee: not today (come back)\n"
    assert unable.levels == (level, logging.INFO)
    assert (levels(), logging.getLogger().handlers) == (before, handlers)
