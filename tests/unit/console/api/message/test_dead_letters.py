import asyncio

import aerobee
from aerobee.console.api.message.dead_letters import reason_of, reasons
from tests.console_kit import ConsoleClient
from tests.unit.console.message.test_message_rows import MESSAGE

PATH = "/api/dead-letters/giver-up"


def test_rows_are_grouped_by_reason_and_the_most_frequent_comes_first() -> None:
    assert reason_of(MESSAGE) == "topic orders, 0 retries"
    rows = [
        {"reason": reason, "origin_topic": "t", "stored": at}
        for at, reason in enumerate(("a", "b", "b"))
    ]
    assert [(one["reason"], one["count"], one["last_stored"]) for one in reasons(rows)] == [
        ("b", 2, 2),
        ("a", 1, 0),
    ]


def test_a_message_that_was_given_up_is_shown_exported_and_sent_again(
    console: ConsoleClient,
) -> None:
    async def give_up() -> None:
        async with aerobee.connect(console.name_server) as client:
            async with client.consumer("orders", group="giver-up", start="earliest") as consumer:
                async for message in consumer:
                    await message.reject(reason="it is no order")
                    break
            while await client.admin.dead_letters.count("giver-up") == 0:
                pass  # name servers hear of its topic a moment later

    asyncio.run(give_up())
    told = console.get(PATH)
    assert told["count"] == 1
    (reason,) = told["reasons"]
    assert (reason["topic"], reason["reason"]) == ("orders", "it is no order")
    (row,) = console.get("/api/dead-letters")["rows"]
    assert (row["group"], row["count"]) == ("giver-up", 1)
    exported = console.ask("GET", f"{PATH}/export")
    assert len(exported.body.splitlines()) == 1
    assert console.change("POST", f"{PATH}/resend", {}).code == "confirm"
    would = console.change("POST", f"{PATH}/resend", {"dry_run": True}).json()
    assert would["preview"] == {"count": 1}
    ids = [told["rows"][0]["offset_id"]]
    for body in ({"ids": ids}, {"ids": ["none"]}, {}):
        done = console.change("POST", f"{PATH}/resend", {**body, "confirm": "giver-up"})
        assert done.status == 200, done.body
        assert done.json()["count"] == (0 if body == {"ids": ["none"]} else 1)
    gone = console.change("DELETE", "/api/groups/giver-up", {"confirm": "giver-up"})
    assert gone.status == 200
    assert console.ask("GET", "/api/dead-letters/nobody").status == 404
