from pathlib import Path

import pytest

from aerobee.cli.main import main


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["broker", "start", "--help"])
    said = capsys.readouterr().out
    assert "aerobee broker start -c conf/broker.conf" in said
    assert "--store" in said


def test_the_configuration_that_would_hold_is_printed_with_its_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(f"deleteWhen=04\nbrokerName=b\nstorePathRootDir={tmp_path}/other\n")
    flags = ["--port", "7", "--host", "::1", "-n", "a:1;b:2", "--store", f"{tmp_path}/store"]
    assert main(["broker", "config", "-c", str(file), *flags]) == 0
    said = capsys.readouterr().out
    assert "# deleteWhen has no meaning here\n" in said
    assert f"# {file} line 2\nbrokerName=b\n" in said
    assert "# --port\nlistenPort=7\n# --host\nbindAddress=::1\n" in said
    assert "# --nameserver\nnamesrvAddr=a:1;b:2\n" in said
    assert f"# --store\nstorePathRootDir={tmp_path}/store\n" in said
    assert "# default\nautoCreateTopicEnable=true\n" in said


@pytest.mark.parametrize("verb", ["start", "config"])
def test_mistakes_are_said_one_a_line_and_nothing_is_started(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(f"listenPort=x\nbrokerRole=SLAVE\nstorePathRootDir={tmp_path}/store\n")
    assert main(["broker", verb, "-c", str(file)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(":")[0] for line in said.err.splitlines()] == ["aerobee", "aerobee"]
    assert not (tmp_path / "store").exists()
