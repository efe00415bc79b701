from pathlib import Path

import pytest

from aerobee.cli.main import main


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nameserver", "start", "--help"])
    said = capsys.readouterr().out
    assert "aerobee nameserver start -c conf/namesrv.conf" in said
    assert "--port" in said


def test_the_configuration_that_would_hold_is_printed_with_its_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "namesrv.conf"
    file.write_text(f"rocketmqHome=/x\norderMessageEnable=true\nconfigStorePath={tmp_path}/c\n")
    assert main(["nameserver", "config", "-c", str(file), "--port", "7", "--host", "::1"]) == 0
    said = capsys.readouterr().out
    assert "# rocketmqHome has no meaning here\n" in said
    assert f"# {file} line 2\norderMessageEnable=true\n" in said
    assert "# --port\nlistenPort=7\n# --host\nbindAddress=::1\n" in said
    assert "# default\nenableTopicList=true\n" in said


@pytest.mark.parametrize("verb", ["start", "config"])
def test_mistakes_are_said_one_a_line_and_nothing_is_started(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "namesrv.conf"
    file.write_text("listenPort=x\nnonsense=1\n")
    assert main(["nameserver", verb, "-c", str(file)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(":")[0] for line in said.err.splitlines()] == ["aerobee", "aerobee"]
