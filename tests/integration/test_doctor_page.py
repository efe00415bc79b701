"""The commands of docs/doctor.md are run, in their order, beside a real server."""

import contextlib
import re
import shlex
from pathlib import Path

from aerobee.app.diagnosis.finding import LEVELS
from tests.cli_kit import aerobee
from tests.server_kit import running_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "doctor.md").read_text("utf-8")
COMMANDS = "".join(re.findall(r"```shell\n(.*?)```", PAGE, re.DOTALL)).splitlines()
AREAS = set(re.findall(r"^\| ([a-z]+) \|", PAGE, re.MULTILINE)) - {"area", "level", *LEVELS}


def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    seen: set[str] = set()
    with running_server(tmp_path) as server, contextlib.chdir(tmp_path):
        Path("broker.conf").write_text(f"namesrvAddr={server.name_server}\n")
        for line in COMMANDS:
            words = shlex.split(line)
            said = aerobee(server, *words[1:])
            # What this machine is like is not ours to say; that it is said is.
            assert said.status in (0, 4), f"{line}: {said.error}"
            assert said.error == ""
            if "--fix" in words:
                assert said.out.startswith("# Nothing")
                continue
            records = aerobee(server, *words[1:], "-o", "json").records
            seen.update(one["area"] for one in records)
            assert not [one for one in records if (one["area"], one["level"]) == ("cluster", "bad")]
    assert seen == AREAS
