import asyncio

import aerobee
from aerobee.console.api.message.lookups import is_id
from tests.console_kit import ConsoleClient


def _lookup(console: ConsoleClient, word: str) -> tuple[list[str], dict[str, object]]:
    """The topics of what is found, and how it ended."""
    events = list(console.events(f"/api/messages/lookup?word={word}"))
    name, end = events[-1]
    assert name == "done"
    return [data["topic"] for name, data in events if name == "message"], end


def test_a_message_is_found_by_a_key_or_an_id_alone(console: ConsoleClient) -> None:
    async def send(topic: str) -> None:
        async with aerobee.connect(console.name_server) as client:
            await client.send(topic, b"x", keys=["o-1"])

    assert console.change("POST", "/api/topics", {"name": "other", "queues": 1}).status == 200
    asyncio.run(send("other"))
    console.until("topic.other.messages", 1)
    topics, end = _lookup(console, "o-1")
    assert sorted(topics) == ["orders", "other"]
    assert end["complete"] is True
    (row,) = console.get("/api/messages?topic=orders&key=o-3")["rows"]
    for word in (row["id"], row["offset_id"]):
        assert _lookup(console, word)[0] == ["orders"]
    for word in ("nothing", "F" * 32, "7F00000100002A9F0000000000000000"):
        assert _lookup(console, word)[0] == []
    assert console.ask("GET", "/api/messages/lookup").code == "bad_request"
    gone = {"confirm": "other"}
    assert console.change("DELETE", "/api/topics/other", gone).status == 200


def test_an_id_is_32_or_56_hexadecimal_digits() -> None:
    assert is_id("0a" * 16)
    assert is_id("0A" * 28)
    assert not is_id("0a" * 15)
    assert not is_id("og" * 16)
