import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.app.process.lifecycle import STOPPED
from aerobee.testing.thread_cluster import ThreadCluster
from tests.process_kit import SECONDS_MAX

MODULE = [sys.executable, "-m", "aerobee"]
# What the installed script does.
COMMAND = [sys.executable, "-c", "import sys; from aerobee.cli.main import main; sys.exit(main())"]

# A handler that has its work done by another process, which imports what this one runs.
APPLICATION = """
import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import aerobee

app = aerobee.App("{address}")


def double(number):
    return 2 * number


@app.consumer("orders", group="billing", start="earliest")
async def on_order(order: dict) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = await asyncio.wrap_future(pool.submit(double, order["id"]))
    print("order", found, flush=True)
"""


def said(command: list[str], *words: str) -> tuple[int, str, str]:
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, env=environment, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("--help",),
        ("topic", "create", "--help"),
        ("topic", "crate"),
        ("-n", "host:9876", "topic", "list"),
        ("config", "explain", "flushDiskType"),
    ],
    ids=" ".join,
)
def test_the_module_says_what_the_command_says(words: tuple[str, ...]) -> None:
    status, out, error = said(MODULE, *words)
    assert (status, out, error) == said(COMMAND, *words)
    assert out + error
    assert "__main__" not in out + error


def test_help_does_not_wait_for_what_it_does_not_need() -> None:
    program = (
        "import runpy, sys\n"
        "sys.argv = ['aerobee', 'topic', '--help']\n"
        "try: runpy.run_module('aerobee', run_name='__main__', alter_sys=True)\n"
        "except SystemExit: pass\n"
        "heavy = [name for name in ('asyncio', 'aerobee.client') if name in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_importing_the_module_starts_nothing() -> None:
    program = "import sys; sys.argv = ['x', 'topic', 'crate']; import aerobee.__main__"
    assert said([sys.executable, "-c", program]) == (0, "", "")


def test_an_application_has_workers_and_they_may_spawn_processes(tmp_path: Path) -> None:
    with ThreadCluster() as cluster:
        text = APPLICATION.format(address=cluster.address)
        (tmp_path / "billing.py").write_text(text, encoding="utf-8")
        cluster.client.send("orders", {"id": 7})
        process = subprocess.Popen(
            [*MODULE, "run", "billing:app", "--workers", "2"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        lines: list[str] = []
        while not (lines.count("ready: billing\n") == 2 and "order 14\n" in lines):
            lines.append(process.stdout.readline())
            assert lines[-1], process.communicate(timeout=SECONDS_MAX)
        process.send_signal(signal.SIGTERM)
        rest, complaints = process.communicate(timeout=SECONDS_MAX)
        # The worker that comes second takes queues over half a second later: what the first one has
        # not finished by then, on a slow machine, is handled twice.
        assert {*lines, *rest.splitlines(True)} == {"ready: billing\n", "order 14\n"}, complaints
        assert process.returncode == STOPPED, complaints
