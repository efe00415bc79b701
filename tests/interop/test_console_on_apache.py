"""Our console on Apache's name server and broker, 5.5 and 4.9: every call that a page makes is
answered, and what the cluster cannot tell is said."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee as mq
from aerobee.console.settings import ConsoleConfig
from aerobee.model.group import GroupConfig
from tests.console_kit import ConsoleClient, served_console
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer

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


@pytest.fixture(params=["jars", "jars_4_9"], ids=["5.5", "4.9"])
def console(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ConsoleClient]:
    jars: Jars = request.getfixturevalue(request.param)
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
