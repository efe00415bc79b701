import pytest

from aerobee.app.process.lifecycle import WRONG_CONFIG
from aerobee.cli.main import main


def test_no_workers_do_no_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "billing:app", "--workers", "0"]) == WRONG_CONFIG
    assert "0 workers do no work" in capsys.readouterr().err


def test_help_shows_what_can_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    said = capsys.readouterr().out
    assert "--workers" in said
    assert "--reload" in said
