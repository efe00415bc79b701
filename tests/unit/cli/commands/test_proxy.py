from pathlib import Path

import pytest

from aerobee.cli.main import main


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["proxy", "start", "--help"])
    said = capsys.readouterr().out
    assert "aerobee proxy start -n localhost:9876" in said
    assert "--cluster" in said


def test_the_configuration_that_would_hold_is_printed_with_its_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rmq-proxy.json"
    file.write_text('{"rocketMQClusterName": "c", "proxyName": "p"}')
    assert main(["proxy", "config", "-c", str(file), "-n", "ns:9876", "--port", "7"]) == 0
    said = capsys.readouterr().out
    assert "# proxyName has no meaning here\n" in said
    assert f"# {file}\nrocketMQClusterName=c\n" in said
    assert "# --port\ngrpcServerPort=7\n" in said


@pytest.mark.parametrize("verb", ["start", "config"])
def test_mistakes_are_said_one_a_line_and_nothing_is_started(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["proxy", verb, "-n", "nonsense", "--port", "x"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(":")[0] for line in said.err.splitlines()][:2] == ["aerobee", "aerobee"]
