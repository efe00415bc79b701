import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.app.process.application_process import load_application
from aerobee.app.process.lifecycle import STOPPED, WRONG_CONFIG
from aerobee.errors import Misuse
from aerobee.testing.thread_cluster import ThreadCluster
from tests.process_kit import SECONDS_MAX

APPLICATION = """
import aerobee

app = aerobee.App("{address}")


@app.consumer("orders", group="billing", start="earliest")
async def on_order(order: dict) -> None:
    print("order", order["id"], flush=True)
"""


def started(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "aerobee.cli.main", "run", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("more", [[], ["--workers", "1", "--reload"]])
def test_an_application_is_run_until_it_is_told_to_stop(tmp_path: Path, more: list[str]) -> None:
    with ThreadCluster() as cluster:
        text = APPLICATION.format(address=cluster.address)
        (tmp_path / "billing.py").write_text(text, encoding="utf-8")
        cluster.client.send("orders", {"id": 7})
        process = started(tmp_path, "billing:app", *more)
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGTERM)
        rest, said = process.communicate(timeout=SECONDS_MAX)
        assert (sorted(lines), rest) == (["order 7\n", "ready: billing\n"], ""), said
        assert process.returncode == STOPPED, said


def test_what_is_no_application_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("app = 3", encoding="utf-8")
    for place, said in (
        ("empty:app", "no aerobee.App"),
        ("absent:app", "no module 'absent'"),
        ("empty", "say module:app"),
        ("empty.py:app", "say empty:app"),
    ):
        process = started(tmp_path, place)
        _, error = process.communicate(timeout=SECONDS_MAX)
        assert said in error
        assert process.returncode == WRONG_CONFIG


def test_a_name_may_lead_into_an_object() -> None:
    with pytest.raises(Misuse, match=r"'path\.join' in os is no aerobee\.App"):
        load_application("os:path.join")
