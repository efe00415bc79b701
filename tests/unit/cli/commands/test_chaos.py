import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.cli.main import parser_for
from tests.cli_kit import aerobee, aerobee_here
from tests.server_kit import Server


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--faults", "kill,flood"), "'flood' is no fault"),
        (("--plot", "chaos.txt"), "ends in .svg"),
        (("--broker", "broker-a"), "say where with -n"),
        (("--duration", "soon"), "a time like"),
        (("--rate", "max"), "--rate 400"),
        (("--nodes", "4"), "one of 3, 5, 7"),
    ],
)
def test_a_wrong_flag_is_said_before_anything_starts(words: tuple[str, ...], why: str) -> None:
    said = aerobee_here("chaos", *words)
    assert (said.status, said.out) == (2, "")
    assert why in said.error


def test_a_cluster_that_is_not_marked_is_refused_with_a_hint(server: Server) -> None:
    said = aerobee(server, "chaos")
    assert said.status != 0
    assert "not marked as a test cluster" in said.error
    assert "testCluster=true" in said.error


def test_help_has_examples() -> None:
    said = aerobee_here("chaos", "--help")
    assert said.status == 0
    assert "aerobee chaos --duration 10m --nodes 5" in said.out


def test_the_commands_of_the_page_are_commands() -> None:
    page = (Path(__file__).resolve().parents[4] / "docs" / "chaos.md").read_text("utf-8")
    commands = [line.split()[1:] for line in page.splitlines() if line.startswith("aerobee ")]
    assert len(commands) >= 3
    for words in commands:
        assert parser_for(words[:1]).parse_args(words).verb


@pytest.mark.night
@pytest.mark.timeout(900)
def test_all_faults_in_turn_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    plot = tmp_path / "chaos.svg"
    words = ("--duration", "45s", "--seed", "1", "--plot", str(plot), "-o", "json")
    said = subprocess.run(
        [sys.executable, "-m", "aerobee.cli.main", "chaos", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert said.returncode == 0, said.stderr
    outcome = json.loads(said.stdout)
    assert outcome["is_sound"]
    assert outcome["acknowledged"] > 1000
    done = {one["fault"] for one in outcome["events"]}
    skipped = {one["fault"] for one in outcome["skipped"]}
    assert done | skipped == {"kill", "stop", "pause", "cut", "disk", "clock"}
    assert plot.read_text().startswith("<svg")
    assert list(tmp_path.iterdir()) == [plot]
