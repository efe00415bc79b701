from pathlib import Path

import pytest

from aerobee.app.demo.story import SETTINGS
from aerobee.app.settings.up_settings import UpFlags
from aerobee.cli.commands.up import flags_of
from aerobee.cli.main import main, parser_for


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["up", "--help"])
    said = capsys.readouterr().out
    assert "aerobee up --store" in said
    assert "--nameserver-port" in said
    assert "aerobee up --brokers 2 --slaves 1 --replication sync" in said


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


def test_flags_are_handed_on_and_the_demonstration_has_settings_of_its_own() -> None:
    def said(*words: str) -> UpFlags:
        return flags_of(parser_for(["up"]).parse_args(["up", *words]), "folder")

    assert said() == UpFlags("folder")
    everything = said("--host", "h", "--port", "1", "--nameserver-port", "2", "--brokers", "3")
    assert everything == UpFlags("folder", "h", "1", "2", 3)
    assert said("--slaves", "1", "--replication", "sync") == UpFlags(
        "folder", slaves=1, replication="sync"
    )
    assert said("--demo") == UpFlags("folder", beside=SETTINGS)
    assert said("--insecure") == UpFlags("folder", insecure="true")


def test_replication_without_slaves_is_said_with_the_flags_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["up", "--store", f"{tmp_path}/data", "--replication", "sync"]) == 2
    assert "write --slaves 1 --replication sync" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SystemExit):
        main(["up", "--slaves", "1", "--replication", "semi"])
    assert "one of async, sync" in capsys.readouterr().err


def test_a_folder_is_either_named_or_temporary(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["up", "--temp", "--store", "x"])
    assert caught.value.code == 2
    assert "not allowed with" in capsys.readouterr().err
