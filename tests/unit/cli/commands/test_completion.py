import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.cli.commands.completion import bash_script, fish_script, places_in, zsh_script
from aerobee.cli.main import parser_for
from aerobee.cli.nouns import NOUNS
from tests.cli_kit import Terminal, aerobee_here
from tests.server_kit import Server

PROGRAM = f"""#!/bin/sh
exec {shlex.quote(sys.executable)} -m aerobee "$@"
"""
OTHERS = [shell for shell in ("zsh", "fish") if shutil.which(shell)]
"""The other shells that are here; bash is wherever tests are run."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A script for each shell, with all the time that a busy machine takes, and our program."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        said = aerobee_here("completion", shell, "--seconds", "100")
        assert said.status == 0
        (folder / f"aerobee.{shell}").write_text(said.out)
    install(folder, PROGRAM)
    return folder


@pytest.fixture(scope="module")
def script(folder: Path) -> Path:
    return folder / "aerobee.bash"


def install(folder: Path, program: str) -> Path:
    (folder / "bin").mkdir(exist_ok=True)
    path = folder / "bin" / "aerobee"
    path.write_text(program)
    path.chmod(0o755)
    return path


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """In which `aerobee` is the one that is installed there."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    nothing = {"AEROBEE_CONFIG": str(folder / "none"), "HOME": str(folder)}
    return {**os.environ, **nothing, "PATH": path, **variables}


def completed(script: Path, *words: str, **variables: str) -> list[str]:
    """What bash offers after these words, of which the last is not finished."""
    line = shlex.quote(" ".join(("aerobee", *words)))
    # Bash cuts an address into three words.
    cut = [part for word in ("aerobee", *words) for part in re.split("(:)", word)]
    quoted = " ".join(f"'{word}'" for word in cut)
    program = (
        f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(cut) - 1}; "
        f"COMP_LINE={line}; COMP_POINT=${{#COMP_LINE}}; _aerobee; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    run = subprocess.run(
        ["bash", "-c", program],
        env=environment(script.parent, **variables),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stderr == ""
    return run.stdout.split()


def test_bash_completes_nouns_verbs_flags_and_choices(script: Path) -> None:
    assert {*NOUNS} <= {*completed(script, "")}
    assert completed(script, "topic", "cr") == ["create"]
    assert completed(script, "topic", "create", "orders", "--qu") == ["--queues"]
    assert completed(script, "topic", "create", "orders", "--type", "F") == ["FIFO"]
    assert completed(script, "topic", "create", "orders", "--queues", "") == []
    assert completed(script, "nameserver", "kv", "") == [
        "list",
        "get",
        "put",
        "delete",
        "-h",
        "--help",
    ]
    assert completed(script, "broker", "clean", "exp") == ["expired-queues", "expired-log"]
    assert "json" in completed(script, "message", "get", "-o", "")


def test_bash_takes_the_script_as_it_is_meant_to(script: Path) -> None:
    program = f'eval "$(cat {script})"; complete -p aerobee'
    run = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "complete -o default -F _aerobee aerobee\n"


def test_every_verb_and_flag_of_the_parser_is_in_every_script() -> None:
    places = places_in(parser_for(tuple(NOUNS)))
    assert len(places) > 2 * len(NOUNS)
    for script in (bash_script(places), zsh_script(places), fish_script(places)):
        for place in places:
            assert place.path in script
            assert all(word in script for word in place.words)
            assert all(flag.lstrip("-") in script for flag in place.flags)


def test_flags_without_a_value_have_none() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--form", choices=("a", "b"))
    (place,) = places_in(parser)
    assert place.flags == ("-h", "--help", "--all", "--form")
    assert place.values == {"--form": ("a", "b")}
    assert (place.named, place.has_names) == (frozenset(), False)


def test_another_shell_is_wrong_use() -> None:
    assert aerobee_here("completion", "tcsh").status == 2
    for shell in ("zsh", "fish"):
        assert aerobee_here("completion", shell).out.count("aerobee") > 5


@pytest.fixture(scope="module")
def at(server: Server) -> str:
    """Where a cluster is that has some topics."""
    for topic in ("shell-orders", "shell-payments", "shell|odd"):
        server.create(topic, queues=1)
    return server.name_server


def test_bash_completes_names_of_the_cluster(script: Path, at: str) -> None:
    variables = {"NAMESRV_ADDR": at}
    assert completed(script, "topic", "describe", "shell-", **variables) == [
        "shell-orders",
        "shell-payments",
    ]
    assert completed(script, "topic", "describe", "shell-p", **variables) == ["shell-payments"]
    assert completed(script, "broker", "drain", "", **variables) == ["broker-a"]
    assert completed(script, "message", "trace", "x", "--topic", "shell-o", **variables) == [
        "shell-orders"
    ]
    assert completed(script, "topic", "describe", "-n", at, "shell-o") == ["shell-orders"]


def test_where_no_name_is_told_there_are_the_flags(script: Path) -> None:
    nowhere = {"NAMESRV_ADDR": "127.0.0.1:1"}
    assert "--context" in completed(script, "topic", "describe", "", **nowhere)
    assert completed(script, "topic", "describe", "ord", **nowhere) == []
    assert completed(script, "topic", "describe", "--con", **nowhere) == ["--context"]
    assert completed(script, "topic", "list", "--context", "", **nowhere) == []


def test_bash_quotes_what_it_would_take_for_something_else(script: Path, at: str) -> None:
    found = completed(script, "topic", "describe", "shell|", NAMESRV_ADDR=at)
    assert found == ["shell\\|odd"]


def test_nothing_that_a_cluster_says_is_run(script: Path, tmp_path: Path) -> None:
    install(tmp_path, "#!/bin/sh\ncat <<'END'\n$(touch${IFS}ran)\n`touch${IFS}ran`\n*\nEND\n")
    shutil.copy(script, tmp_path)
    (tmp_path / "file").touch()
    found = completed(tmp_path / script.name, "topic", "describe", "")
    assert [shlex.split(one) for one in found] == [
        ["$(touch${IFS}ran)"],
        ["`touch${IFS}ran`"],
        ["*"],
    ]
    assert not (tmp_path / "ran").exists()
    assert not Path("ran").exists()


def on_screen(command: list[str], folder: Path, at: str) -> Terminal:
    """A shell that is ready for a line."""
    screen = Terminal(command, **environment(folder, NAMESRV_ADDR=at, ZDOTDIR=str(folder)))
    screen.wait_for("ready> ")
    return screen


def test_tab_in_bash_completes_a_topic(folder: Path, at: str) -> None:
    (folder / ".bashrc").write_text(f"source {folder}/aerobee.bash; PS1='ready> '\n")
    screen = on_screen(["bash", "--rcfile", str(folder / ".bashrc"), "-i"], folder, at)
    screen.type("aerobee topic describe shell-p\t")
    screen.wait_for("aerobee topic describe shell-payments ")
    screen.type(f"\x15aerobee topic status -n {at} shell-o\t")
    screen.wait_for(f"{at} shell-orders ")
    screen.type("\x15exit\n")
    assert screen.end()[0] == 0


def in_fish(folder: Path, line: str, at: str) -> list[str]:
    program = f"source aerobee.fish; complete -C {shlex.quote(line)}"
    run = subprocess.run(
        ["fish", "-c", program],
        cwd=folder,
        env=environment(folder, NAMESRV_ADDR=at),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stderr == ""
    return run.stdout.split()


def in_zsh(folder: Path, line: str, at: str) -> list[str]:
    """What it shows behind the line; the test ends here if that is nothing."""
    script = f"autoload -U compinit; compinit -u -D; source {folder}/aerobee.zsh; PS1='ready> '\n"
    (folder / ".zshrc").write_text(script)
    screen = on_screen(["zsh", "-i"], folder, at)
    screen.type(f"{line}\t")
    screen.wait_for("ayments")
    screen.type("\x15exit\n")
    screen.end()
    return ["shell-payments"]


def test_the_other_shells_that_are_here_complete_names(folder: Path, at: str) -> None:
    for shell in OTHERS:
        complete = {"fish": in_fish, "zsh": in_zsh}[shell]
        assert complete(folder, "aerobee topic describe shell-p", at) == ["shell-payments"]


def test_the_script_for_zsh_is_whole(folder: Path) -> None:
    """Bash reads the same blocks and quotes."""
    subprocess.run(["bash", "-n", str(folder / "aerobee.zsh")], check=True)


def test_the_script_for_fish_is_whole(folder: Path) -> None:
    depth = 0
    for line in (folder / "aerobee.fish").read_text().splitlines():
        words = shlex.split(line)  # its quotes are closed
        depth += words[0] in ("function", "for", "if", "while", "begin", "switch")
        depth -= words[0] == "end"
        assert depth >= 0
        assert line.count("(") == line.count(")"), line
    assert depth == 0


def test_every_script_asks_for_names_where_the_parser_takes_them() -> None:
    places = places_in(parser_for(tuple(NOUNS)))
    flags = sum(len(place.named) for place in places)
    verbs = sum(place.has_names for place in places)
    assert flags > 50
    assert verbs > 20
    for script in (bash_script(places), zsh_script(places)):
        assert script.count("asks=1") == flags + verbs
    assert fish_script(places).count("'(__aerobee_names)'") == flags + verbs
    for make in (bash_script, zsh_script, fish_script):
        assert "completion names --seconds 1 " in make(places)
        assert "completion names --seconds 2.5 " in make(places, 2.5)


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_that_is_none_is_wrong_use(seconds: str) -> None:
    said = aerobee_here("completion", "bash", "--seconds", seconds)
    assert said.status == 2
    assert "is no time to wait" in said.error
