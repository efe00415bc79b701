import asyncio
import time

import aerobee
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.admin_kit import put
from tests.console_kit import ConsoleClient

LEVELLED = 50
"""More than the page reads."""


async def _send(name_server: str) -> dict[str, str]:
    """Send some messages by level, and two by time; returns the ids of these."""
    async with aerobee.connect(name_server) as client:
        await client.admin.topics.create("later", queues=1)
        for _ in range(LEVELLED):
            await put(client, MessageQueue("later", "broker-a", QueueId(0)), b"x", DELAY="17")
        delays = {"soon": 1800, "far": 7 * 3600}
        return {
            name: (await client.send("later", name, delay=seconds)).message_id
            for name, seconds in delays.items()
        }


def test_delayed_messages_are_counted_by_the_time_they_are_due_and_one_is_taken_back(
    console: ConsoleClient,
) -> None:
    ids = asyncio.run(_send(console.name_server))
    told = console.get("/api/delayed?topic=later&range_ms=7200000")
    rows = {row["id"]: row for row in told["rows"]}
    assert rows.keys() >= {ids["soon"], ids["far"]}
    soon = rows[ids["soon"]]
    assert (soon["topic"], soon["level"], soon["preview"]) == ("later", None, "soon")
    due_in = soon["due"] / 1000 - time.time()
    assert 1_500 < due_in <= 1_802
    (level,) = [one for one in told["levels"] if one["level"] == 17]
    assert (level["waiting"], level["delay_ms"]) == (LEVELLED, 3_600_000)
    assert sum(told["counts"]) == LEVELLED + 1
    assert sum(told["counts"][14:16]) >= LEVELLED
    assert told["later"] >= 1
    assert [row["due"] for row in told["rows"]] == sorted(row["due"] for row in told["rows"])
    asked = {name: soon[name] for name in ("id", "broker", "topic", "due")}
    assert console.change("POST", "/api/delayed/recall", asked).code == "confirm"
    away = {**asked, "broker": "10.0.0.1:80", "confirm": asked["id"]}
    assert console.change("POST", "/api/delayed/recall", away).code == "not_found"
    taken = console.change("POST", "/api/delayed/recall", {**asked, "confirm": asked["id"]})
    assert taken.status == 200, taken.body
    left = {row["id"] for row in console.get("/api/delayed?topic=later")["rows"]}
    assert ids["soon"] not in left
    assert ids["far"] in left
    assert console.change("DELETE", "/api/topics/later", {"confirm": "later"}).status == 200
