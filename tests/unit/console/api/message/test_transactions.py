import asyncio

import aerobee
from tests.console_kit import ConsoleClient


async def commits(_: object) -> bool:
    return True


def test_an_open_transaction_is_listed_until_it_ends(console: ConsoleClient) -> None:
    assert console.change("POST", "/api/topics", {"name": "paid", "queues": 1}).status == 200

    async def live() -> dict[str, object]:
        async with (
            aerobee.connect(console.name_server) as client,
            client.transaction("paid", b"x", group="tellers", check=commits),
        ):
            told = await asyncio.to_thread(console.get, "/api/transactions?group=tellers")
            (row,) = told["open"]
            found: dict[str, object] = row
            return found

    row = asyncio.run(live())
    assert (row["topic"], row["group"], row["broker"]) == ("paid", "tellers", "broker-a")
    assert len(str(row["id"])) == 32
    assert console.get("/api/transactions?group=tellers")["open"] == []
    assert console.change("DELETE", "/api/topics/paid", {"confirm": "paid"}).status == 200


def test_a_transaction_that_is_not_open_is_not_ended(console: ConsoleClient) -> None:
    for how in ("commit", "rollback"):
        path = f"/api/transactions/none/{how}"
        assert console.change("POST", path, {}).code == "confirm"
        assert console.change("POST", path, {"confirm": "none"}).code == "not_found"
