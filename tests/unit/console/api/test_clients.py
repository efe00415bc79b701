import asyncio

import aerobee
from tests.console_kit import ConsoleClient


def test_a_client_is_listed_with_what_it_consumes_and_what_it_is(console: ConsoleClient) -> None:
    async def live() -> dict[str, object]:
        async with aerobee.connect(console.name_server) as client:
            message = await client.receive("orders", group="watched-by-test")
            found = await asyncio.to_thread(console.get, f"/api/clients?q={client.id[:12]}")
            await message.ack()
            return next(one for one in found["rows"] if one["client_id"] == client.id)

    row = asyncio.run(live())
    assert row["consumes"] == ["watched-by-test"]
    assert row["language"] == "PYTHON"
    told = console.change("DELETE", "/api/groups/watched-by-test", {"confirm": "watched-by-test"})
    assert told.status == 200
