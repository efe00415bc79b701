import io

import pytest

from aerobee.cli.secret_words import OF_ADDRESS, OF_OPTION, find_secret, warn
from tests.cli_kit import aerobee_here

NOBODY = "rmq://alice:alice-secret@127.0.0.1:1"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["topic", "list", "-n", NOBODY], OF_ADDRESS),
        (["topic", "list", f"-n{NOBODY}"], OF_ADDRESS),
        (["context", "add", "prod", "rmqs://k:s@h:1?ca=x"], OF_ADDRESS),
        (["capture", "start", "mysql://u:p/@w@host"], OF_ADDRESS),
        (["createUser", "-u", "bob", "--password", "word"], OF_OPTION),
        (["createUser", "-u", "bob", "-password=word"], OF_OPTION),
    ],
)
def test_a_secret_is_found_wherever_it_is(words: list[str], hint: str) -> None:
    assert find_secret(words) == hint


@pytest.mark.parametrize(
    "words",
    [
        ["topic", "list", "-n", "127.0.0.1:9876;[::1]:9876"],
        ["topic", "list", "-n", "rmq://host:9876"],
        ["topic", "list", "-n", "rmq://alice@host:9876"],
        ["context", "add", "prod", "-"],
        ["auth", "create-user", "bob", "--password-file", "-"],
        ["console", "--set-password", "alice"],
        ["message", "send", "orders", "http://host/a@b: c@d"],
    ],
)
def test_what_is_no_secret_is_none(words: list[str]) -> None:
    assert find_secret(words) is None


def test_a_warning_says_what_to_do_instead() -> None:
    stream = io.StringIO()
    warn(OF_ADDRESS, stream)
    assert "other users of this machine" in stream.getvalue()
    assert "hint: keep the address under a name" in stream.getvalue()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("topic", "list", "-n", NOBODY), OF_ADDRESS),
        (("mqadmin", "topicList", "-n", NOBODY), OF_ADDRESS),
        (("mqadmin", "createUser", "-u", "b", "-p", "word", "-n", "127.0.0.1:1"), OF_OPTION),
        (("mqadmin", "updateUser", "-u", "b", "-p", "word", "-b", "127.0.0.1:1"), OF_OPTION),
    ],
)
def test_commands_warn_once_and_do_not_repeat_the_secret(words: tuple[str, ...], hint: str) -> None:
    said = aerobee_here(*words)
    assert said.error.count("aerobee: warning:") == 1
    assert hint in said.error
    assert "alice-secret" not in said.error
    assert "word" not in said.error.replace("password", "")
    assert said.out == ""


def test_commands_without_a_secret_do_not_warn() -> None:
    for words in (("topic", "list"), ("mqadmin", "topicList")):
        assert "warning" not in aerobee_here(*words, "-n", "127.0.0.1:1").error
