import asyncio
from contextlib import aclosing

from aerobee.console.watch.feed import Feed, FigureSample


def test_a_watcher_that_is_late_gets_the_newest() -> None:
    async def live() -> None:
        feed = Feed()
        async with aclosing(feed.samples()) as samples:
            waiting = asyncio.ensure_future(anext(samples))
            while len(feed) == 0:
                await asyncio.wait({waiting}, timeout=0.001)
            for at in range(10):
                feed.publish(FigureSample(at, {"a": float(at)}))
            assert (await waiting).at >= 0
            assert (await anext(samples)).at == 9
        assert len(feed) == 0

    asyncio.run(live())
