"""WorkerClient is a client with blocking calls, for Spark's workers, which have no event loop.

The event loop runs during a call only: nothing runs in the background, and nothing keeps a worker
from ending. A connection that was closed meanwhile is opened again. One client is kept for each
cluster and process, because opening one costs more than most requests.
"""

import asyncio
import atexit
import logging
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from aerobee.client.api.client_options import options_for
from aerobee.client.connection.session import Session
from aerobee.client.core.target import Target
from aerobee.errors import NoAnswer, Retriable

_log = logging.getLogger(__name__)

V = TypeVar("V")

_kept: dict[tuple[int, Target], "WorkerClient"] = {}


class WorkerClient:
    def __init__(self, target: Target, timeout: float = 3.0) -> None:
        self._runner = asyncio.Runner()
        self._timeout = timeout
        self.session = self._runner.run(self._opened(target))

    async def _opened(self, target: Target) -> Session:
        session = Session(options_for(target, timeout=self._timeout))
        await session.start()
        return session

    def run(self, work: Coroutine[Any, Any, V]) -> V:
        # Not the runner's own `run`: it sets a handler of signals each time, and to look at that
        # handler Python writes out the task and all that it returned, a megabyte of records.
        return self._runner.get_loop().run_until_complete(work)

    def insist(self, ask: Callable[[], Coroutine[Any, Any, V]], tries: int, seconds: float) -> V:
        """Repeat a request until there is an answer, so many times, with growing pauses: an
        exception in a streaming source ends the whole query."""
        return self.run(insisting(ask, tries, seconds))

    def close(self) -> None:
        self._runner.run(self.session.close())
        self._runner.close()


async def insisting(ask: Callable[[], Coroutine[Any, Any, V]], tries: int, seconds: float) -> V:
    for attempt in range(tries):
        try:
            return await ask()
        except (NoAnswer, Retriable) as error:
            _log.info("asked again: %s", error)
            await asyncio.sleep(seconds * 2**attempt)
    return await ask()


def kept(target: Target, timeout: float) -> WorkerClient:
    """Return this process's client for a cluster. After a fork the parent's is not used."""
    key = (os.getpid(), target)
    found = _kept.get(key)
    if found is None:
        found = _kept[key] = WorkerClient(target, timeout)
    return found


def close_kept() -> None:
    """Close the clients that this process keeps."""
    for key in [key for key in _kept if key[0] == os.getpid()]:
        _kept.pop(key).close()


atexit.register(close_kept)
