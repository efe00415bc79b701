"""Server-sent events as bytes, with a comment now and then while nothing happens.

    event: sample
    data: {"at": 1700000000000}

A comment (`: ping`) keeps connections open through proxies, and finds readers that have left. An
error of the source becomes an event `failed`, after which the stream ends: the status was sent.
"""

import asyncio
import json
from collections.abc import AsyncIterator

from aerobee.console.http.action import Event
from aerobee.console.http.problem import problem_of
from aerobee.errors import AerobeeError

PING_SECONDS = 15.0


def event_bytes(event: Event | None) -> bytes:
    """Return an event as it is sent; None is a comment."""
    if event is None:
        return b": ping\n\n"
    data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"event: {event.name}\ndata: {data}\n\n".encode()


async def with_pings(
    events: AsyncIterator[Event], seconds: float = PING_SECONDS
) -> AsyncIterator[Event | None]:
    """Yield the events, and None whenever none came for some seconds."""
    coming: asyncio.Task[Event] | None = None
    try:
        while True:
            if coming is None:
                coming = asyncio.ensure_future(_next(events))
            done, _ = await asyncio.wait({coming}, timeout=seconds)
            if not done:
                yield None
                continue
            told, coming = coming, None
            try:
                yield told.result()
            except StopAsyncIteration:
                return
            except AerobeeError as error:
                yield Event("failed", problem_of(error).record())
                return
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.wait({coming})
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)
