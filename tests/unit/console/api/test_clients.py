import asyncio
from urllib.parse import quote

import aerobee
from tests.console_kit import ConsoleClient


def test_a_client_is_listed_with_what_it_consumes_and_what_it_is(console: ConsoleClient) -> None:
    async def live() -> dict[str, object]:
        async with aerobee.connect(console.name_server) as client:
            message = await client.receive("orders", group="watched-by-test")
            row = None
            while row is None:  # the list is kept for as long as it was dear
                found = await asyncio.to_thread(console.get, f"/api/clients?q={client.id[:12]}")
                row = next((one for one in found["rows"] if one["client_id"] == client.id), None)
            path = f"/api/client?id={quote(client.id, safe='')}&stacks=true"
            held = await asyncio.to_thread(console.get, path)
            await message.ack()
            (member,) = held["members"]
            assert member["group"] == "watched-by-test"
            assert {"orders"} <= {one["topic"] for one in member["queues"]}
            assert "Task" in member["stacks"]
            return dict(row)

    row = asyncio.run(live())
    assert row["consumes"] == ["watched-by-test"]
    assert row["language"] == "PYTHON"
    assert console.ask("GET", "/api/client?id=nobody").code == "not_found"
    told = console.change("DELETE", "/api/groups/watched-by-test", {"confirm": "watched-by-test"})
    assert told.status == 200
