"""The examples of docs/client.md are run, each as it stands, against a cluster in this process."""

import asyncio
import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aerobee.testing.thread_cluster import ThreadCluster
from tests.net_kit import in_loop
from tests.process_kit import SECONDS_MAX

PAGE = Path(__file__).resolve().parents[2] / "docs" / "client.md"
EXAMPLES = {
    re.findall(r"^## (.*)$", PAGE.read_text("utf-8")[: found.start()], re.MULTILINE)[-1]
    + f" {found.start()}": found[1]
    for found in re.finditer(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
}
PROGRAMS = {
    name: text for name, text in EXAMPLES.items() if "App(" not in text and "def test_" not in text
}


def run(text: str, address: str) -> tuple[dict[str, Any], str]:
    """What the example has defined, and what it has printed."""
    names: dict[str, Any] = {"__name__": "example"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text.replace("localhost:9876", address), str(PAGE), "exec"), names)
    return names, printed.getvalue()


def example(word: str) -> str:
    (found,) = [text for text in EXAMPLES.values() if word in text]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_to_its_end(name: str) -> None:
    with ThreadCluster() as cluster:
        cluster.client.admin.topics.create("orders")
        cluster.client.send("orders", b"{}")
        run(PROGRAMS[name], cluster.address)


def test_what_is_consumed_is_what_was_sent() -> None:
    with ThreadCluster() as cluster:
        assert run(example('"invoices", {"id": 7}'), cluster.address)[1] == "{'id': 7} 1\n"
        assert run(example("connect_sync"), cluster.address)[1] == "hello\n"
        assert run(example("receive_many(500)"), cluster.address)[1] == "1000\n"


def test_the_application_handles_an_order() -> None:
    with ThreadCluster() as cluster:
        names, _ = run(example("App("), cluster.address)
        seen: asyncio.Queue[object] = asyncio.Queue()
        names["print"] = lambda order, message_id: seen.put_nowait(order)

        async def test() -> None:
            async with names["app"] as app:
                await app.client.send("sales", {"id": 3, "amount": 4})
                assert await seen.get() == names["Order"](3, 4.0)

        in_loop(test)


def test_the_reminder_comes() -> None:
    names, _ = run(example("async def reminder"), "")
    in_loop(names["reminder"])


def test_the_test_passes(tmp_path: Path) -> None:
    (tmp_path / "test_page.py").write_text(example("def test_"), encoding="utf-8")
    plugin = ["-p", "aerobee.testing.plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
