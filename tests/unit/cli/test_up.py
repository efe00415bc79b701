from pathlib import Path

import pytest

from aerobee.cli.main import main


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["up", "--help"])
    said = capsys.readouterr().out
    assert "aerobee up --store" in said
    assert "--nameserver-port" in said


def test_mistakes_of_both_are_said_and_nothing_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["up", "--store", f"{tmp_path}/data", "--port", "x", "--nameserver-port", "y"]
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "aerobee: --nameserver-port: listenPort must be a whole number from 0 to 65535, not 'y'",
        "aerobee: --port: listenPort must be 0 or a whole number from 3 to 65535, not 'x'",
    ]
    assert list(tmp_path.iterdir()) == []
