import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from aerobee.cli.main import main as aerobee_main
from aerobee.cli.mqadmin import catalog
from aerobee.cli.mqadmin.entry import main
from aerobee.cli.mqadmin.options import read
from tests.mqadmin_kit import Fails, Place, Works


def test_without_words_all_sub_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert "   updateTopic                         Update or create topic.\n" in listed
    assert main(["help"]) == 0
    assert capsys.readouterr().out == listed


@pytest.mark.parametrize("words", [["help", "UPDATETOPIC"], ["updateTopic", "-h"]])
def test_help_says_what_a_sub_command_takes(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: mqadmin updateTopic [-b <arg>] [-c <arg>] -t <arg> ")
    assert " -w,--writeQueueNums <arg>" in said


def test_help_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    for name in catalog.names():
        assert main(["help", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80


def test_the_program_is_installed_under_its_name() -> None:
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())
    module, _, name = project["project"]["scripts"]["mqadmin"].partition(":")
    assert getattr(importlib.import_module(module), name) is main


@pytest.mark.parametrize("name", catalog.names())
def test_the_example_of_help_can_be_given(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["help", name])
    _, divided, example = capsys.readouterr().out.partition("example:")
    command = catalog.find(name)
    assert command is not None
    assert bool(divided) is (command.run is not None)
    if divided:
        program, said, *flags = example.split()
        assert (program, said) == ("mqadmin", name)
        read(command.options, flags)


def test_help_of_what_cannot_be_done_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "getControllerConfig"]) == 0
    assert "cannot be done: no process is a controller" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["topicLst"], "did you mean topicList"),
        (["qqqq"], "mqadmin lists all"),
        (["topicRoute"], r"-t (--topic) must be given"),
        (["topicRoute", "-t"], "mqadmin help topicRoute"),
    ],
)
def test_wrong_use_is_said_with_what_to_do(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_failure_ends_badly_and_says_what_to_do(place: Place) -> None:
    place.see_refused(Fails("topicRoute -t NoSuchTopic", "NoSuchTopic", status=3))
    place.see_refused(
        Fails("updateTopic -t T -c NoSuchCluster", "no cluster 'NoSuchCluster'", status=3)
    )
    place.see_refused(Fails("updateTopic -t T", "one of --brokerAddr or --clusterName is needed"))


def test_nobody_at_the_address_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topicList", "-n", "127.0.0.1:1"]) == 1
    assert "127.0.0.1:1" in capsys.readouterr().err


def test_it_is_a_noun_of_aerobee_and_takes_flags_of_its_own(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert aerobee_main(["mqadmin", "TopicList", "-n", place.name_server]) == 0
    assert "TBW102\n" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        aerobee_main(["mqadmin", "-h"])
    assert ended.value.code == 0
    assert "aerobee mqadmin help updateTopic" in capsys.readouterr().out
    assert aerobee_main(["mqadmin", "help", "topicList"]) == 0
    assert "--clusterModel" in capsys.readouterr().out


def test_it_is_a_program_that_takes_the_name_server_from_the_environment(place: Place) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "aerobee.cli.mqadmin.entry", "clusterList"],
        capture_output=True,
        text=True,
        check=False,
        env={"NAMESRV_ADDR": place.name_server, "PYTHONPATH": ":".join(sys.path)},
    )
    assert run.returncode == 0, run.stderr
    assert place.address in run.stdout
    place.see(Works("clusterList", (place.address,)))


def test_who_reads_may_have_enough(place: Place) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "aerobee.cli.mqadmin.entry", "topicList", "-n", place.name_server],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0
