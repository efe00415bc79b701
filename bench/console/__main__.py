"""`python -m bench.console`: the console of a large cluster: times, memory, load, first picture.

python -m bench.console                  # 50 brokers, 10,000 topics and groups, 1,000 clients
python -m bench.console --rounds 20      # a first look
python -m bench.console --small          # a tenth of everything
python -m bench.console --no-browser     # without Chromium

The cluster is real: one process with all brokers, so that what the console costs them is one
figure. It is filled first; measured is what is quiet, because a console must not cost more where
nothing happens. Each page's call is made by one client after the other. The load on brokers is the
processor time of their process in turns of some seconds, in which the console works with a
browser's stream open, less that of the turns between, in which it is stopped: fifty brokers and
their slaves are never quiet, and a shared machine is not, either.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import statistics
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

from bench.console.calls import (
    RunningConsole,
    Timed,
    cpu_seconds,
    download_bytes,
    percentile,
    resident_mib,
    running_console,
    timed,
    value,
)
from bench.console.large_cluster import (
    Cluster,
    Size,
    connected_clients,
    fill,
    group_name,
    running_cluster,
    topic_name,
)
from tools.browser.chromium import find_program
from tools.browser.devtools import Browser, Page

ROUNDS = 100
LOAD_SECONDS = 60.0
TURN_SECONDS = 5.0
LEARN_SECONDS_MAX = 300.0
PAGES = (
    ("overview", "/api/overview"),
    ("topics", "/api/topics?sort=-messages&limit=200"),
    ("topics, searched", "/api/topics?q=topic-0999&limit=200"),
    ("topic", f"/api/topics/{topic_name(7)}"),
    ("groups", "/api/groups?sort=-lag&limit=200"),
    ("group", f"/api/groups/{group_name(7)}"),
    ("clients", "/api/clients?limit=200"),
    ("brokers", "/api/brokers?limit=200"),
    ("broker", "/api/brokers/broker-a"),
    ("dead letters", "/api/dead-letters"),
    ("transactions", "/api/transactions"),
    ("delayed", "/api/delayed"),
    ("pipeline", "/api/pipeline"),
    ("bench", "/api/bench"),
    ("audit", "/api/audit"),
    ("search", "/api/search?q=topic-05"),
    ("history", "/api/history?series=cluster.in,cluster.out,cluster.lag"),
)
PICTURES = ("/", "/topics", "/groups", "/clients", "/brokers")
_IS_THERE = (
    "document.querySelector('main h1')"
    " && !document.querySelector('main .loading, main [aria-busy=true]')"
)
_SCROLL = """new Promise(done => {
  const list = document.querySelector('[role=table]');
  let frames = 0;
  const step = () => {
    list.scrollBy(0, 400);
    if (++frames < 300) requestAnimationFrame(step);
    else done(frames);
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.console", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--small", action="store_true", help="a tenth of everything")
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--load-seconds", type=float, default=LOAD_SECONDS)
    parsed = parser.parse_args()
    size = Size(3, 1_000, 1_000, 100) if parsed.small else Size()
    with running_cluster(size) as cluster, tempfile.TemporaryDirectory() as folder:
        print(f"{2 * size.masters} brokers, {size.topics} topics, {size.groups} groups, "
              f"{size.clients} clients")  # fmt: skip
        asyncio.run(measure(cluster, size, parsed, Path(folder)))


async def measure(cluster: Cluster, size: Size, parsed: argparse.Namespace, folder: Path) -> None:
    begun = time.monotonic()
    await fill(cluster, size)
    print(f"filled in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    async with connected_clients(cluster, size):
        with running_console(cluster.name_server, folder) as console:
            await asyncio.to_thread(learn, console, size)
            rows = await asyncio.to_thread(page_times, console, parsed.rounds)
            show(rows, resident_mib(console.pid), download_bytes(console.address))
            with open_stream(console):
                loads = await loads_by(console, cluster, parsed.load_seconds)
            show_load(loads, size)
            if not parsed.no_browser:
                await asyncio.to_thread(show_pictures, console, folder)


def learn(console: RunningConsole, size: Size) -> None:
    """Wait until the console has heard of everything."""
    limit = time.monotonic() + LEARN_SECONDS_MAX
    while time.monotonic() < limit:
        topics = value(console.address, "/api/topics?limit=1")["found"]
        groups = value(console.address, "/api/groups?limit=1")["found"]
        if topics >= size.topics and groups >= size.groups:
            return
        time.sleep(1)
    raise SystemExit(f"the console knows {topics} topics and {groups} groups")


def page_times(console: RunningConsole, rounds: int) -> list[Timed]:
    for page, path in PAGES:
        timed(console, page, path, 1)  # what is kept for a moment is asked for here
    return [timed(console, page, path, rounds) for page, path in PAGES]


async def loads_by(console: RunningConsole, cluster: Cluster, seconds: float) -> list[float]:
    """Return for each two turns the brokers' load with a console, less that without."""
    found = []
    for _ in range(max(2, round(seconds / TURN_SECONDS))):
        with_console = await load_of(cluster, TURN_SECONDS)
        os.kill(console.pid, signal.SIGSTOP)
        try:
            found.append(with_console - await load_of(cluster, TURN_SECONDS))
        finally:
            os.kill(console.pid, signal.SIGCONT)
    return found


async def load_of(cluster: Cluster, seconds: float) -> float:
    """Return the share of a core that the brokers' process takes."""
    before = cpu_seconds(cluster.pid)
    await asyncio.sleep(seconds)
    return (cpu_seconds(cluster.pid) - before) / seconds


@contextlib.contextmanager
def open_stream(console: RunningConsole):  # type: ignore[no-untyped-def]
    connection = HTTPConnection(console.address)
    connection.request("GET", "/api/live?series=cluster.in,cluster.out,cluster.lag")
    connection.getresponse()
    try:
        yield
    finally:
        connection.close()


def show(rows: list[Timed], memory: float, download: int) -> None:
    print("| page | p50 ms | p99 ms | processor p99 ms | kB |\n|---|---:|---:|---:|---:|")
    for row in rows:
        p50, p99 = percentile(row.ms, 0.5), percentile(row.ms, 0.99)
        own = percentile(row.own_ms, 0.99)
        print(f"| {row.page} | {p50:.1f} | {p99:.1f} | {own:.1f} | {row.bytes / 1000:.0f} |")
    worst = max(percentile(row.ms, 0.99) for row in rows)
    own = max(percentile(row.own_ms, 0.99) for row in rows)
    print(f"\nworst p99 {worst:.0f} ms (at most 200), {own:.0f} ms of processor time")
    print(f"memory of the console {memory:.0f} MiB (at most 120)")
    print(f"first download {download / 1000:.0f} kB (at most 250)")


def show_load(loads: list[float], size: Size) -> None:
    mean = statistics.fmean(loads)
    error = statistics.stdev(loads) / len(loads) ** 0.5
    print(
        f"load of an open console on all brokers together {mean:.1%} ± {error:.1%} of a core, "
        f"on each of {size.masters} masters {mean / size.masters:.2%} (at most 1 %)"
    )


def show_pictures(console: RunningConsole, folder: Path) -> None:
    """Print how long pages take from their address to what they show, with an empty cache."""
    for path in PICTURES:
        with Browser(find_program(), folder / f"profile{path.replace('/', '-')}") as browser:
            page = browser.open_page()
            page.resize(1400, 900)
            begun = time.perf_counter()
            page.go(f"http://{console.address}{path}")
            page.wait(_IS_THERE)
            took = (time.perf_counter() - begun) * 1000
            calls = [url for url in page.requests if "/api/" in url]
            streams = sum("/api/live" in url for url in calls)
            print(
                f"{path}: first picture {took:.0f} ms (at most 1,000), "
                f"{len(calls) - streams} calls, {streams} streams"
            )
            if path == "/topics":
                show_scrolling(page)


def show_scrolling(page: Page) -> None:
    """Print the work of the browser's main thread for each frame, while a list is scrolled."""
    page.call("Performance.enable")
    before = task_ms(page)
    frames = page.evaluate(_SCROLL)
    spent = (task_ms(page) - before) / frames
    print(f"scrolling through the topics: {spent:.1f} ms of work a frame (60 a second: 16.7)")


def task_ms(page: Page) -> float:
    """Processor time of the tasks of a page, in ms."""
    metrics = page.call("Performance.getMetrics")["metrics"]
    return 1000 * next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


if __name__ == "__main__":
    main()
