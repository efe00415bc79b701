"""Objects and server-sent events as bytes, with a comment now and then while nothing happens.

    event: sample
    data: {"at": 1700000000000}

A comment (`: ping`) keeps connections open through proxies, and finds readers that have left. An
error of the source becomes an event `failed`, after which the stream ends: the status was sent.
With the session of its reader it ends by an event `ended`.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from aerobee.console.http.action import Event, Record
from aerobee.console.http.problem import problem_of
from aerobee.errors import AerobeeError

PING_SECONDS = 15.0


def event_bytes(event: Event | None) -> bytes:
    """Return an event as it is sent; None is a comment."""
    if event is None:
        return b": ping\n\n"
    return b"event: %b\ndata: %b\n\n" % (event.name.encode(), json_bytes(event.data))


def json_bytes(data: Record) -> bytes:
    """Return an object as it is sent. Texts of strangers may hold halves of characters, which no
    text of UTF-8 has: they become question marks."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode(errors="replace")


Ending = Callable[[], Coroutine[Any, Any, None]]
"""Its coroutine returns when the session of a reader is over."""


async def with_pings(
    events: AsyncIterator[Event], ending: Ending, seconds: float = PING_SECONDS
) -> AsyncIterator[Event | None]:
    """Yield the events until the ending, and None whenever none came for some seconds."""
    coming: asyncio.Task[Event] | None = None
    over = asyncio.ensure_future(ending())
    try:
        while True:
            if coming is None:
                coming = asyncio.ensure_future(_next(events))
            done, _ = await asyncio.wait(
                {coming, over}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if over in done:
                yield Event("ended", {"why": "the session is over"})
                return
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
        await _cancelled(over)
        if coming is not None:
            await _cancelled(coming)
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


async def pieces_until(pieces: AsyncIterator[bytes], ending: Ending) -> AsyncIterator[bytes]:
    """Yield the pieces of a file. ConnectionAbortedError at the ending: a file that is cut must not
    look like a whole one."""
    over = asyncio.ensure_future(ending())
    try:
        async for piece in pieces:
            if over.done():
                raise ConnectionAbortedError("the session is over")
            yield piece
    finally:
        await _cancelled(over)
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


async def _cancelled(task: "asyncio.Future[Any]") -> None:
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        with contextlib.suppress(Exception):
            task.result()


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)
