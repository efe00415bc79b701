"""The commands of docs/bench.md are run, in their order, for a fraction of a second each."""

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_kit import aerobee
from tests.server_kit import Server, running_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bench.md").read_text("utf-8")
COMMANDS = "".join(re.findall(r"```shell\n(.*?)```", PAGE, re.DOTALL)).splitlines()
(WORKLOAD,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
WANTED = {
    "produce": "sent",
    "roundtrip": "end to end",
    "consume": "received",
    "latency": "█",
    "plan": "brok",
}
BRIEFLY = ("--duration", "500ms", "--warm-up", "0")
COUNTED = ("--duration", "60s", "--warm-up", "0")  # over when as many are received as were said


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running_server(tmp_path) as server:
        yield server


def test_every_command_of_the_page_works(server: Server, tmp_path: Path) -> None:
    shown: dict[str, str] = {}
    with contextlib.chdir(tmp_path):
        Path("workload.yaml").write_text(WORKLOAD)
        for line in COMMANDS:
            words = shlex.split(line, comments=True)
            assert words[0] == "aerobee"
            target = words[-1] if ">" in words else ""
            if target:
                words = words[:-2]
            said = aerobee(server, *words[1:], *(COUNTED if "--count" in words else BRIEFLY))
            assert said.status == 0, f"{line}: {said.error}"
            assert WANTED.get(words[2], "") in said.out.replace("\n", " "), line
            wide = [text for text in (said.out + said.error).splitlines() if len(text) > 80]
            assert wide == [] or "json" in words, line
            if target:
                Path(target).write_text(said.out)
            shown[line] = said.out.replace("\n", " ")
        (searched,) = [text for line, text in shown.items() if "--p99" in line]
        assert "is the highest rate found that holds p99 within 500 ms" in searched
        assert Path("run.html").stat().st_size > 1000
    assert len(COMMANDS) == 11


def test_what_the_page_shows_of_a_plan_is_what_is_printed() -> None:
    line = next(line for line in COMMANDS if "--daily" in line)
    said = aerobee(Server("127.0.0.1:1"), *shlex.split(line)[1:])
    (shown,) = re.findall(r"```\n(1\. .*?)```", PAGE, re.DOTALL)
    assert said.out.startswith(shown)
