import asyncio

import aerobee
from aerobee.client.core.trace_reading import CONSUMED, RECEIVED, TraceStep
from aerobee.console.api.group_times import consumed_by
from tests.console_kit import ConsoleClient


def _step(kind: str, group: str, request: str) -> TraceStep:
    return TraceStep(kind, "id", group, 1, 5, True, "client", "", request)


def test_a_step_without_a_group_has_that_of_its_beginning() -> None:
    steps = [
        _step(RECEIVED, "old", "r1"),
        _step(CONSUMED, "", "r1"),
        _step(CONSUMED, "new", "r2"),
        _step(CONSUMED, "", "r3"),
    ]
    assert [one.request for one in consumed_by("old", steps)] == ["r1"]
    assert [one.request for one in consumed_by("new", steps)] == ["r2"]


def test_times_are_those_that_members_traced_and_a_reason_where_none_did(
    console: ConsoleClient,
) -> None:
    async def consume() -> None:
        async with aerobee.connect(console.name_server, trace=True) as client:
            for number in range(3):
                await client.send("timed", str(number))
            for _ in range(3):
                message = await client.receive("timed", group="timed-group")
                await message.ack()

    quiet = console.get("/api/groups/billing/times")
    assert (quiet["messages"], quiet["ms"]) == (0, None)
    assert "trace" in quiet["unknown"]["ms"]
    assert console.change("POST", "/api/topics", {"name": "timed", "queues": 1}).status == 200
    asyncio.run(consume())
    told = console.get("/api/groups/timed-group/times")
    assert told["messages"] == 3
    assert 0 <= told["ms"]["p50"] <= told["ms"]["p999"] == told["ms"]["most"]
    assert told["unknown"] == {}
    gone = {"confirm": "timed"}
    assert console.change("DELETE", "/api/topics/timed", gone).status == 200
