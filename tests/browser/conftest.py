"""One browser and one cluster with live traffic for all tests of the pages.

Whatever a test is about, it fails if one of its pages had an error on its console, a report of the
content security policy, a frame, a dialog or another window, or asked another machine for anything:
a test that has a page refused something says so (`page.expect`).

Both run until the last test of the process: `make test` has these tests last in their part.
"""

import contextlib
import json
from collections.abc import Iterator

import pytest

import aerobee
from aerobee.pipeline.capture.position import CaptureState, Phase, Position
from aerobee.pipeline.capture.state_topic import PREFIX
from tests.browser_kit import send_raw
from tests.console_kit import ConsoleClient, guarded_console, running_console
from tests.web_kit import served_text
from tools.browser.chromium import find_program
from tools.browser.devtools import Browser

CAPTURE = CaptureState("shop", Position("bin.000007", 4711), phase=Phase.STREAMING, rows=12)
QUERIES = """
aerobee_query_rows_total{query="totals"} 1024
aerobee_query_batches_total{query="totals"} 12
aerobee_query_batch_seconds{query="totals"} 1.5
aerobee_query_offset{query="totals",topic="demo-orders",broker="broker-a",queue="0"} 40
aerobee_query_lag_messages{query="totals",topic="demo-orders",broker="broker-a",queue="0"} 2
"""
"""A page of metrics of a Spark job."""
LATENCY = {"p50": 0.4, "p99": 2.0, "p99.9": 4.0, "max": 9.0}
POINT = {"second": 1.0, "sent": 100.0, "received": 0.0, "p50_ms": 0.4, "p99_ms": 2.0, "max_ms": 9.0}
RESULT = {
    "version": 1,
    "kind": "produce",
    "started": "2026-01-01T00:00:00Z",
    "workload": {"size_max": 1024, "batch": 1},
    "figures": {
        "sent": {"messages": 100, "seconds": 1, "rate": 100.0, "errors": 0, "latency_ms": LATENCY}
    },
    "verdict": {"sentence": "The brokers were not busy."},
    "series": [POINT, {**POINT, "second": 2.0}],
    "is_interrupted": False,
}
RESULTS = ("20260101-000000-abcd", "20260101-000001-abcd")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("browser") / "profile"
    # Other sites are this machine, too.
    with Browser(find_program(), folder, ["--host-resolver-rules=MAP *.test 127.0.0.1"]) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_goes_wrong_in_a_page(browser: Browser) -> Iterator[None]:
    yield
    assert browser.close_pages() == []


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    folder = tmp_path_factory.mktemp("cluster")
    with served_text(QUERIES) as page:
        jobs = {"AEROBEE_CONSOLE_PIPELINE_PAGES": page}
        with running_console(folder, "--demo", "--slaves", "1", **jobs) as console:
            _wait_for_traffic(console)
            yield console


@pytest.fixture(scope="session")
def filled(
    console: ConsoleClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ConsoleClient]:
    """The console with something on every page, which the demonstration alone has not."""
    group = topic = "browser-filled"
    results = console.folder / "bench"
    results.mkdir(exist_ok=True)
    for name in RESULTS:
        (results / f"{name}.json").write_text(json.dumps({**RESULT, "name": name}))
    console.change("POST", "/api/topics", {"name": topic})  # the record of actions has it
    half = {"TRAN_MSG": "true", "PGROUP": "browser-payers", "UNIQ_KEY": "browser-half"}
    send_raw(console, topic, [("half", half)])
    with aerobee.connect_sync(console.name_server) as client:
        client.admin.topics.create(f"{PREFIX}shop", queues=1)
        client.send(f"{PREFIX}shop", CAPTURE.to_json(), keys=["state"])
        client.send("browser-later", "later", delay=1200)
        client.send(topic, "never")
        with client.consumer(topic, group=group, start="earliest") as consumer:
            next(iter(consumer)).reject(reason="not wanted")
        while client.admin.dead_letters.count(group) < 1:
            pass  # name servers hear of its topic a moment later
    yield console
    for name in RESULTS:
        (results / f"{name}.json").unlink()


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    """Of a cluster with users, who log in to it."""
    with guarded_console(tmp_path_factory.mktemp("guarded")) as console:
        right = {"user": "carol", "resource": "Topic:orders", "actions": ["Sub"]}
        assert console.change("PUT", "/api/rights", right).status == 200
        yield console


def _wait_for_traffic(console: ConsoleClient) -> None:
    with contextlib.closing(console.events("/api/live?series=cluster.out")) as events:
        for name, data in events:
            if name == "sample" and data["values"].get("cluster.out"):
                return
