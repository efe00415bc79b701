import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.cli.main import main
from aerobee.console.session.accounts import FILE, put_account, read_accounts
from aerobee.console.session.visitor import Role


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["console", "--help"])
    said = capsys.readouterr().out
    assert "aerobee console -n" in said
    assert "--set-password" in said


def test_mistakes_are_said_and_nothing_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["console", "--port", "x", "--data", str(tmp_path / "c")]) == 2
    assert "--port: listenPort must be" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_user_is_added_with_the_password_of_the_input(tmp_path: Path) -> None:
    words = ("console", "--data", str(tmp_path), "--set-password", "alice", "--role", "operator")
    done = subprocess.run(
        [sys.executable, "-m", "aerobee.cli.main", *words],
        input="long enough\n",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "long enough" not in done.stdout
    (account,) = read_accounts(str(tmp_path / FILE))
    assert (account.name, account.role) == ("alice", Role.OPERATOR)


def test_a_user_is_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / FILE)
    put_account(path, "alice", Role.VIEWER, "long enough")
    put_account(path, "bob", Role.VIEWER, "long enough")
    assert main(["console", "--data", str(tmp_path), "--remove-user", "alice"]) == 0
    assert "alice may not log in" in capsys.readouterr().out
    assert [one.name for one in read_accounts(path)] == ["bob"]
    assert main(["console", "--data", str(tmp_path), "--remove-user", "alice"]) != 0
    assert "no user 'alice'" in capsys.readouterr().err
