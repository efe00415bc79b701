"""Portal and LoopThread run coroutines on an event loop from threads that have none.

P1. Coroutines run on one loop, in its own thread; the caller waits in the thread that called.
P2. A wait that is interrupted cancels the coroutine that it waited for.
P3. A call from the loop's own thread would wait for itself: it is Misuse, and so is one after a
    fork.
"""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from aerobee.client.connection.process_id import process_id
from aerobee.errors import Misuse

INTERRUPT_SECONDS = 0.5

T = TypeVar("T")


class Portal:
    """An event loop that runs in some thread, called into from others."""

    def __init__(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> None:
        self._loop = loop
        self._thread_id = thread_id
        self._pid = process_id()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop, and wait for its result."""
        try:
            self._check()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except Misuse:
            work.close()
            raise
        except RuntimeError:  # of a loop that is closed
            work.close()
            raise Misuse("the client is closed", hint="its `with` block has ended") from None
        try:
            while not future.done():
                # A signal that another thread got is noticed when a wait ends, not before.
                with contextlib.suppress(TimeoutError):
                    future.exception(INTERRUPT_SECONDS)
            return future.result()
        except BaseException:
            future.cancel()  # nothing, if it is over
            raise

    def _check(self) -> None:
        if process_id() != self._pid:
            raise Misuse(
                "this client was opened before a fork",
                hint="open one in each process; `aerobee run --workers` does it for you",
            )
        if threading.get_ident() == self._thread_id:
            raise Misuse(
                "a waiting call inside the event loop",
                hint="use the asynchronous client there, and await",
            )


class ClosedPortal(Portal):
    """The portal of a client that is not open: every call is Misuse."""

    def __init__(self) -> None:
        """A closed portal has no loop."""

    def _check(self) -> None:
        raise Misuse("the client is not open", hint="use it inside its `with` block")


class LoopThread:
    """A loop in a thread of its own: begun by `start`, over when `stop` returns."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> Portal:
        if self._thread is not None:
            raise Misuse("it is open already")
        loop = self._loop = new_event_loop()
        # A daemon, so that a program that forgets to close it can still end.
        thread = self._thread = threading.Thread(
            target=self._run, args=(loop,), name=self._name, daemon=True
        )
        thread.start()
        assert thread.ident is not None
        return Portal(loop, thread.ident)

    def stop(self) -> None:
        thread, loop = self._thread, self._loop
        self._thread = self._loop = None
        if thread is not None and loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            asyncio.set_event_loop(None)
            loop.close()


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed, else Python's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
