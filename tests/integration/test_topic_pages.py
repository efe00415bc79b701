"""The commands and programs of docs/priority.md and docs/static-topics.md are run, in their order,
against a cluster of four brokers.
"""

import asyncio
import contextlib
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import aerobee as mq
from aerobee.testing.thread_cluster import ThreadCluster
from tests.cli_kit import aerobee_here

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BROKER = "127.0.0.1:10911"
ADDRESSES = ("127.0.0.1:9876", "localhost:9876")


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


@pytest.fixture
def cluster() -> Iterator[ThreadCluster]:
    with ThreadCluster(brokers=4) as started:
        yield started


def address_of_a(cluster: ThreadCluster) -> str:
    async def ask() -> str:
        async with mq.admin(cluster.address) as admin:
            (found,) = [one for one in (await admin.cluster()).brokers if one.name == "broker-a"]
            return found.addresses[0]

    return asyncio.run(ask())


def here(text: str, cluster: ThreadCluster) -> str:
    """A text of a page with the addresses of the cluster."""
    for address in ADDRESSES:
        text = text.replace(address, cluster.address)
    return text.replace(BROKER, address_of_a(cluster))


def run_command(line: str, cluster: ThreadCluster) -> str:
    words = shlex.split(here(line, cluster), comments=True)
    if words[0] == "aerobee":
        words = [*words[1:], "-n", cluster.address]
        if {"move", "set"} & set(words) and "--dry-run" not in words:
            words.append("--yes")
    said = aerobee_here(*words)
    assert said.status == 0, f"{line}\n{said.out}{said.error}"
    for plan in re.findall(r"written to file (\S+)$", said.out, re.MULTILINE):
        Path(plan).unlink()
    return said.out


def run_program(text: str, cluster: ThreadCluster, lines: int) -> list[tuple[object, ...]]:
    """Run a program, to its end or until it has printed so many lines; return what it printed."""
    body = textwrap.indent(here(text, cluster), "    ")
    names: dict[str, Any] = {"aerobee": mq}
    exec(f"async def program():\n{body}", names)
    printed: list[tuple[object, ...]] = []

    async def run() -> None:
        task = asyncio.ensure_future(names["program"]())

        def note(*values: object) -> None:
            printed.append(values)
            if len(printed) == lines:
                task.cancel()

        names["print"] = note
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(task, 60)

    asyncio.run(run())
    return printed


def test_the_page_about_priorities(cluster: ThreadCluster) -> None:
    ran = []
    for language, text in blocks("priority.md"):
        if language == "python":
            assert run_program(text, cluster, 1) == [(3, b"disk full")]
        else:
            ran += [run_command(line, cluster) for line in text.splitlines()]
    assert len(ran) == 4
    run_command("aerobee broker config set useSeparateRetryQueue=true", cluster)
    assert "90" in run_command("aerobee group describe on-call", cluster)


def test_the_page_about_static_topics(cluster: ThreadCluster) -> None:
    ran = []
    for language, text in blocks("static-topics.md"):
        if language == "python":
            run_program(text, cluster, 1)
        else:
            lines = [line for line in text.splitlines() if "-mf" not in line]
            ran += [run_command(line, cluster) for line in lines]
    assert len(ran) == 8
    for topic in ("ledger", "journal", "invoices", "audit"):
        assert "logical queues" in run_command(f"aerobee topic describe {topic}", cluster)
