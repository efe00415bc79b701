"""Asynchronous verbs for callers without an event loop: the same verb, waited for.

    send = verb(Client.send)             a coroutine function  → a function that waits
    between = stream(Messages.between)   an asynchronous generator function → an iterator
    pause = act(Consumer.pause)          a plain method → the same, done on the loop's thread
    consumer = part(Client.consumer, SyncConsumer)    what it makes, made to wait as well

No signature is written twice: a type checker and `inspect` see that of the original.

B1. Coroutines run on one loop, in its own thread; who waits, waits in the thread that called.
B2. A wait that is interrupted cancels what it waited for.
B3. Calling from the loop's own thread would wait for itself: that is Misuse, and so is a fork.
"""

import asyncio
import contextlib
import functools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from aerobee.client.own_process import own_number
from aerobee.errors import Misuse

INTERRUPT_SECONDS = 0.5

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
C = TypeVar("C", bound=AbstractAsyncContextManager[Any, Any])
S = TypeVar("S", bound="Facade[Any]")


class Portal:
    """A loop that runs in some thread, called into from others."""

    def __init__(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> None:
        self._loop = loop
        self._thread_id = thread_id
        self._pid = own_number()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it there, and wait for what comes of it."""
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
        if own_number() != self._pid:
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
    """Of what is not open, or not any more."""

    def __init__(self) -> None:
        """Nothing to remember."""

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
        loop = self._loop = _new_loop()
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


class Facade(Generic[A]):
    """Something asynchronous, and where it runs."""

    def __init__(self, subject: A, portal: Portal) -> None:
        self._subject = subject
        self._portal = portal


class Context(Facade[C]):
    """Something that is used with `async with`, used with `with`."""

    def __enter__(self) -> Self:
        self._portal.call(_entered(self._subject))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal.call(_left(self._subject, kind, error, trace))


class Fact(Generic[A, T]):
    """What something asynchronous says of itself without waiting, said by its façade as well."""

    def __init__(self, said: Callable[[A], T]) -> None:
        self._said = said

    def __get__(self, facade: Facade[A], owner: type | None = None) -> T:
        return self._said(facade._subject)


def verb(
    method: Callable[Concatenate[A, P], Awaitable[T]],
) -> Callable[Concatenate[Facade[A], P], T]:
    @functools.wraps(method)
    def waiting(facade: Facade[A], /, *args: P.args, **options: P.kwargs) -> T:
        async def work() -> T:
            return await method(facade._subject, *args, **options)

        return facade._portal.call(work())

    return waiting


def act(method: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[Facade[A], P], T]:
    """What does not wait, and still belongs on the loop's own thread."""

    @functools.wraps(method)
    def acting(facade: Facade[A], /, *args: P.args, **options: P.kwargs) -> T:
        async def work() -> T:
            return method(facade._subject, *args, **options)

        return facade._portal.call(work())

    return acting


def stream(
    method: Callable[Concatenate[A, P], AsyncIterator[T]],
) -> Callable[Concatenate[Facade[A], P], Iterator[T]]:
    @functools.wraps(method)
    def iterating(facade: Facade[A], /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        items = method(facade._subject, *args, **options)
        try:
            while True:
                try:
                    yield facade._portal.call(_next(items))
                except StopAsyncIteration:
                    return
        finally:
            facade._portal.call(_closed(items))

    return iterating


def part(
    method: Callable[Concatenate[A, P], T], kind: Callable[[T, Portal], S]
) -> Callable[Concatenate[Facade[A], P], S]:
    made = act(method)

    @functools.wraps(method)
    def making(facade: Facade[A], /, *args: P.args, **options: P.kwargs) -> S:
        return kind(made(facade, *args, **options), facade._portal)

    return making


def giving(
    method: Callable[Concatenate[A, P], Awaitable[T]], kind: Callable[[T, Portal], S]
) -> Callable[Concatenate[Facade[A], P], S]:
    """What comes of a verb, made to wait as well."""
    waited = verb(method)

    @functools.wraps(method)
    def given(facade: Facade[A], /, *args: P.args, **options: P.kwargs) -> S:
        return kind(waited(facade, *args, **options), facade._portal)

    return given


async def _entered(subject: AbstractAsyncContextManager[Any, Any]) -> None:
    await subject.__aenter__()


async def _left(
    subject: AbstractAsyncContextManager[Any, Any],
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> None:
    await subject.__aexit__(kind, error, trace)


async def _next(items: AsyncIterator[T]) -> T:
    return await anext(items)


async def _closed(items: AsyncIterator[Any]) -> None:
    close = getattr(items, "aclose", None)
    if close is not None:
        await close()


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed, else Python's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
