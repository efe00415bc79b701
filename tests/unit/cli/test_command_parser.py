import pytest

from aerobee.cli.main import main


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("nonsense", "has no NOUN 'nonsense'", "`aerobee --help` lists all"),
        ("tpoic list", "has no NOUN 'tpoic'", "did you mean topic? `aerobee --help` lists all"),
        (
            "topic crate orders",
            "topic has no VERB 'crate'",
            "did you mean create? `aerobee topic --help` lists all",
        ),
        (
            "topic list -o xml",
            "topic list has no -o/--output 'xml'",
            "one of table, json, yaml, ndjson, csv; `aerobee topic list --help` lists all",
        ),
        (
            "message send orders hello --tga new",
            "message send does not take --tga new",
            "did you mean --tag? `aerobee message send --help` lists all",
        ),
        (
            "message send orders hello --tga=new",
            "message send does not take --tga=new",
            "did you mean --tag? `aerobee message send --help` lists all",
        ),
        (
            "message send orders hello world",
            "message send does not take world",
            "`aerobee message send --help` lists all",
        ),
        (
            "config list",
            "config list: the following arguments are required: server",
            "server is one of broker, nameserver; `aerobee config list --help` lists all",
        ),
        (
            "message send orders hello --count many",
            "message send: argument --count: invalid int value: 'many'",
            "`aerobee message send --help` lists all",
        ),
    ],
)
def test_a_line_that_is_not_understood_is_answered_with_the_command_that_was_meant(
    line: str, message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(line.split())
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said == f"aerobee: {message}\n  code: WrongUse\n  hint: {hint}\n"


@pytest.mark.parametrize("noun", ["topic", "completion", "pipeline"])
def test_a_noun_without_a_verb_is_answered_with_its_help(
    noun: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([noun])
    assert caught.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"usage: aerobee {noun} ")
    assert "verbs:" in said.err


def test_what_is_said_of_a_verb_is_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert "    transaction  transactions that are open, ended by hand" in lines


def test_a_verb_may_be_meant_where_none_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["broker", "members", "broker-a", "--wathc"])
    assert caught.value.code == 2
    assert "broker members list does not take --wathc" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["broker", "members", "--help"])
    assert "aerobee broker members add broker-a n3-10.0.0.4:40911" in capsys.readouterr().out
