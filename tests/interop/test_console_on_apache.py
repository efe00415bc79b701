"""Our console on Apache's name server and broker, 5.5 and 4.9: every call that looks is answered,
every page opens in a browser, and what the cluster cannot tell is said."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee as mq
from aerobee.console.settings import ConsoleConfig
from aerobee.model.group import GroupConfig
from tests.browser_kit import DESKTOP, PHONE, breaches, follow, open_page
from tests.console_kit import ConsoleClient, served_console
from tests.integration.test_console_safety import GIVEN, asked_in_many_ways, calls, status_of
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer
from tools.browser.chromium import find_program
from tools.browser.devtools import Browser

pytestmark = pytest.mark.java

EXPLAIN = "/api/groups/console-one/explain"
"""4.9 does not tell the topics of a group."""
PAGES = (
    *("/api/overview", "/api/brokers", "/api/brokers/broker-a", "/api/topics", "/api/groups"),
    *("/api/topics/ConsoleOne", "/api/groups/console-one", "/api/clients", "/api/transactions"),
    *("/api/dead-letters", "/api/dead-letters/console-one", "/api/delayed", "/api/pipeline"),
    *("/api/messages?topic=ConsoleOne", "/api/users", "/api/rights", "/api/bench", "/api/audit"),
    *("/api/search?q=Console", "/api/history?series=cluster.in", "/api/session"),
    EXPLAIN,
)


async def _fill(name_server: str) -> None:
    async with mq.connect(name_server) as client:
        await client.admin.topics.create("ConsoleOne", queues=1)
        await client.admin.groups.put(GroupConfig("console-one"))
        for number in range(3):
            await client.send("ConsoleOne", f"body {number}")
        message = await client.receive("ConsoleOne", group="console-one", timeout=60)
        await message.ack()


@pytest.fixture(scope="module", params=["jars", "jars_4_9"], ids=["5.5", "4.9"])
def console(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ConsoleClient]:
    jars: Jars = request.getfixturevalue(request.param)
    tmp_path = tmp_path_factory.mktemp("console")
    folder = tmp_path / "apache"
    (folder / "conf").mkdir(parents=True)
    for name in ("namesrv", "broker"):  # 4.9 does not start without
        (folder / "conf" / f"logback_{name}.xml").write_text("<configuration/>")
    with ApacheServer(folder, jars) as started:
        started.wait_for_figures()
        asyncio.run(_fill(started.name_server))
        config = ConsoleConfig(
            port=0, name_servers=started.name_server, folder=str(tmp_path / "console")
        )
        with served_console(config) as served:
            served.until("topic.ConsoleOne.messages", 3)
            yield served


def test_every_page_is_answered_and_says_what_it_cannot_know(console: ConsoleClient) -> None:
    told = {path: console.ask("GET", path) for path in PAGES}
    wrong = {path: one.code for path, one in told.items() if one.status != 200}
    (broker,) = told["/api/overview"].json()["brokers"]
    assert (broker["product"], broker["problem"]) == ("apache", None)
    unknown = told["/api/overview"].json()["unknown"]
    assert "brokers.transactions" in unknown
    is_new = broker["version"].startswith("V5")
    assert wrong == ({} if is_new else {EXPLAIN: "not_supported"})
    assert "brokers.put_ms" not in unknown
    assert told["/api/transactions"].json()["open"] is None
    assert "config.default" in told["/api/brokers/broker-a"].json()["unknown"]
    assert "rows" in told["/api/users"].json()["unknown"]
    assert [row["preview"] for row in told["/api/messages?topic=ConsoleOne"].json()["rows"]]
    group = told["/api/groups/console-one"].json()
    assert [queue["topic"] for queue in group["queues"]]


def test_a_topic_is_made_and_deleted_by_its_name(console: ConsoleClient) -> None:
    assert console.change("POST", "/api/topics", {"name": "Made", "queues": 1}).status == 200
    assert console.get("/api/topics/Made")["messages"] == 0
    assert console.change("DELETE", "/api/topics/Made", {"confirm": "Made"}).status == 200


def test_every_call_that_looks_is_answered_or_says_that_the_cluster_cannot(
    console: ConsoleClient,
) -> None:
    """Also with things that do not exist: no call fails for a reason that it does not name."""
    ids = [row["id"] for row in console.get("/api/messages?topic=ConsoleOne&limit=1")["rows"]]
    given: dict[str, list[object]] = {
        **GIVEN,
        "topic": ["ConsoleOne", "absent"],
        "group": ["console-one", "absent"],
        "id": [*ids, "absent"],
        "series": ["cluster.in"],
    }
    codes: dict[str, set[int]] = {}
    for call in calls(console):
        if call.method == "GET":
            for path in asked_in_many_ways(call, given):
                codes.setdefault(call.name, set()).add(status_of(console, path))
    failed = {name: told for name, told in codes.items() if told - {200, 400, 404, 501}}
    assert failed == {}
    absent = {name for name, told in codes.items() if 200 not in told}
    assert absent <= {"showBench", "showMember", "showClient", "traceMessage", *UNTOLD}


UNTOLD = {"explainGroup", "explainMessage", "can"}
"""Calls that 4.9 cannot answer: it does not tell the topics of a group, and has no users."""
SHOWN = {
    # Sentences of pages about what this cluster does not tell.
    "/transactions": "This cluster does not tell",
    "/brokers/broker-a": "Not known here",
    "/users": "",
}


def test_every_page_opens_in_a_browser(console: ConsoleClient, tmp_path: Path) -> None:
    (message,) = console.get("/api/messages?topic=ConsoleOne&limit=1")["rows"]
    paths = (
        *("/", "/topics", "/groups", "/messages", "/brokers", "/clients", "/dead-letters"),
        *("/transactions", "/delayed", "/pipeline", "/bench", "/users", "/audit"),
        *("/topics/ConsoleOne", "/groups/console-one", "/brokers/broker-a?all=yes"),
        *("/messages?topic=ConsoleOne", f"/messages/ConsoleOne/{message['offset_id']}"),
        "/dead-letters/console-one",
    )
    faults, said = {}, {}
    with Browser(find_program(), tmp_path / "profile") as browser:
        for look in (DESKTOP, PHONE):
            page = open_page(browser, console, "/", look)
            for path in paths:
                follow(page, path)
                told = [one for one in breaches(page, console) if "status of 501" not in one]
                faults[look.scheme, path] = [one for one in told if "status of 404" not in one]
                said[path.partition("?")[0]] = page.evaluate(
                    "document.querySelector('main').innerText"
                )
    assert faults == {key: [] for key in faults}
    for path, text in SHOWN.items():
        assert text in said[path], path
