import os
import sys
from pathlib import Path
from subprocess import PIPE, run

import pytest

import aerobee
from aerobee._compiled import report
from aerobee.cli.main import main
from tests.cli_kit import OnTerminal


def test_help_has_examples_and_names_the_nouns(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    for noun in ("up", "nameserver", "broker"):
        assert f"\n    {noun}" in said
    assert "examples:" in said


def test_nothing_at_all_is_answered_with_what_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "usage: aerobee" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["topic", "list", "--help"],
        ["broker", "start", "--help"],
        ["pipeline", "list"],
    ],
)
def test_help_does_not_wait_for_what_it_does_not_need(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from aerobee.cli.main import main\n"
        f"try: main({arguments})\n"
        "except SystemExit: pass\n"
        "names = ('asyncio', 'pyspark', 'pyarrow', 'aerobee.net', 'aerobee.service', 'aerobee.app',"
        " 'aerobee.storage', 'aerobee.client')\n"
        "heavy = [name for name in names if name in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    run([sys.executable, "-c", program], check=True, capture_output=True)


def test_a_reader_that_has_enough_is_no_failure() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "aerobee.cli.main", "completion", "bash"]
    done = run(command, stdout=writer, stderr=PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_is_no_traceback(tmp_path: Path) -> None:
    file = tmp_path / "contexts.json"
    file.write_text('{"contexts": {"dev": "a:1"}}')
    screen = OnTerminal("context", "remove", "dev", AEROBEE_CONFIG=str(file))
    screen.wait_for("Go on?")
    screen.interrupt()
    status, lines = screen.end()
    assert status == 130
    assert not any("Traceback" in line for line in lines)
    assert "dev" in file.read_text()


def test_a_flag_before_the_noun_is_answered_with_the_line_that_was_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["-n", "host:9876", "topic", "list", "--all"]) == 2
    assert "say `aerobee topic list --all -n host:9876`" in capsys.readouterr().err


def test_the_version_says_what_runs_here(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    python = ".".join(map(str, sys.version_info[:3]))
    said = capsys.readouterr().out
    assert said == f"aerobee {aerobee.__version__}, Python {python}, {report()}\n"
