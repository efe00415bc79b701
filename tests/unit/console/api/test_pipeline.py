import asyncio
from dataclasses import replace

import aerobee
from aerobee.pipeline.capture.position import CaptureState, Phase, Position
from aerobee.pipeline.capture.state_topic import StateTopic
from tests.console_kit import ConsoleClient

STATE = CaptureState("shop", Position("bin.000007", 4711), rows=12, lag_seconds=1.5)


async def _save(name_server: str) -> None:
    async with aerobee.connect(name_server) as client:
        topic = StateTopic(client, "shop")
        await topic.load()
        await topic.save(replace(STATE, phase=Phase.STREAMING, updated_ms=1))


def test_captures_are_known_by_their_topics_and_queries_by_their_pages(
    console: ConsoleClient,
) -> None:
    assert "pipelinePages" in console.get("/api/pipeline")["unknown"]["queries"]
    asyncio.run(_save(console.name_server))
    while not (captures := console.get("/api/pipeline")["captures"]):
        pass  # the list of topics is kept for a moment
    (row,) = captures
    assert (row["name"], row["phase"], row["position"]) == ("shop", "streaming", "bin.000007:4711")
    assert (row["rows"], row["lag_seconds"], row["is_stale"]) == (12, 1.5, True)
    for topic in ("aerobee-capture-shop", "aerobee-capture-shop-schemas"):
        assert console.change("DELETE", f"/api/topics/{topic}", {"confirm": topic}).status == 200
