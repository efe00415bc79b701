import argparse
import subprocess
from pathlib import Path

import pytest

from aerobee.cli.commands.completion import bash_script, fish_script, places_in, zsh_script
from aerobee.cli.main import parser_for
from aerobee.cli.nouns import NOUNS
from tests.cli_kit import aerobee_here


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    said = aerobee_here("completion", "bash")
    assert said.status == 0
    path = tmp_path_factory.mktemp("completion") / "aerobee.bash"
    path.write_text(said.out)
    return path


def completed(script: Path, *words: str) -> list[str]:
    """What bash offers after these words, of which the last is not finished."""
    quoted = " ".join(f"'{word}'" for word in ("aerobee", *words))
    program = (
        f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _aerobee; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    run = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
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


def test_another_shell_is_wrong_use() -> None:
    assert aerobee_here("completion", "tcsh").status == 2
    for shell in ("zsh", "fish"):
        assert aerobee_here("completion", shell).out.count("aerobee") > 5
