"""`Facade` makes asynchronous objects usable without an event loop: each method waits for its
result.

    send = verb(Client.send)             a coroutine function  → a function that waits
    between = stream(Messages.between)   an asynchronous generator function → an iterator
    pause = act(Consumer.pause)          a plain method → the same, done on the loop's thread
    consumer = part(Client.consumer, SyncConsumer)    its result, as a facade as well

No signature is written twice: a type checker and `inspect` see that of the original.
"""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from aerobee.client.connection.loop_portal import Portal

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
C = TypeVar("C", bound=AbstractAsyncContextManager[Any, Any])
S = TypeVar("S", bound="Facade[Any]")


class Facade(Generic[A]):
    """An asynchronous object, and the portal to the loop that it runs on."""

    def __init__(self, subject: A, portal: Portal) -> None:
        self._subject = subject
        self._portal = portal


class Context(Facade[C]):
    """A facade used with `with`, of an object used with `async with`."""

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
    """A property of the asynchronous object that needs no waiting."""

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
    """A method that does not wait, but must run on the loop's own thread."""

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
    """A method whose result is wrapped in a facade as well."""
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
