"""`App` runs message handlers: functions, each declared for a topic and a group.

    app = aerobee.App("localhost:9876")

    @app.consumer("orders", group="billing")
    async def on_order(order: Order, message: aerobee.Message) -> None: ...

    $ aerobee run billing:app --workers 4

It is run by `aerobee run`, by `await app.run()`, or beside other code with `async with app:`, such
as in the lifespan of a web application. A message whose handler raises is retried later.
"""

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar, Unpack

from aerobee.client.api.consumer_options import ConsumerKeywords, Topics, consumer_options
from aerobee.client.application.bound_handler import Function, bound_handler, check_handler
from aerobee.client.client import Client, connect
from aerobee.client.core.target import Target
from aerobee.errors import Misuse

F = TypeVar("F", bound=Function)
H = TypeVar("H", bound=Callable[..., Any])


class Declared(NamedTuple):
    """A declared handler with its topics, group and options."""

    topics: Topics
    options: ConsumerKeywords
    function: Function


class App:
    """A1. Declaring opens no connection. A2. A handler that cannot work is Misuse when it is
    declared.
    """

    def __init__(self, target: str | Target | Client = "localhost:9876") -> None:
        """`target`: addresses of name servers, or a client with options of its own that is not open
        yet.
        """
        self.client = target if isinstance(target, Client) else connect(target)
        """To send with, while the application runs."""
        self._declared: list[Declared] = []
        self._starting: list[Callable[..., Any]] = []
        self._stopping: list[Callable[..., Any]] = []
        self._undo = contextlib.AsyncExitStack()
        self._running: list[asyncio.Task[None]] = []

    # Declaring.

    def consumer(self, topics: Topics, **options: Unpack[ConsumerKeywords]) -> Callable[[F], F]:
        """Declare a function as the handler of these topics for a group; the options are those of
        `client.consumer`.
        """
        consumer_options(topics, **options)

        def declare(function: F) -> F:
            check_handler(function)
            groups = [one.options["group"] for one in self._declared]
            if options["group"] in groups:
                raise Misuse(
                    f"the group {options['group']} has a handler already",
                    hint="all members of a group want the same: give each handler its own group",
                )
            self._declared.append(Declared(topics, options, function))
            return function

        return declare

    def on_start(self, hook: H) -> H:
        """Call this before the first message is handled, with the client if it takes one."""
        self._starting.append(hook)
        return hook

    def on_stop(self, hook: H) -> H:
        """Call this function after the last message was handled, while the client is still open."""
        self._stopping.append(hook)
        return hook

    @property
    def groups(self) -> list[str]:
        """The groups of all declared handlers."""
        return [one.options["group"] for one in self._declared]

    # Running.

    async def run(self, *, ready: Callable[["App"], None] | None = None) -> None:
        """Handle messages until this is cancelled or a consumer fails. `ready` is called once all
        groups have been joined.
        """
        if not self._declared:
            raise Misuse("the application handles nothing", hint="declare with @app.consumer")
        async with self:
            if ready is not None:
                ready(self)
            await asyncio.gather(*self._running)

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as undo:
            await undo.enter_async_context(self.client)
            for hook in self._starting:
                await self._call(hook)
            for hook in reversed(self._stopping):
                undo.push_async_callback(self._call, hook)
            undo.push_async_callback(self._end)
            for one in self._declared:
                consumer = self.client.consumer(one.topics, **one.options)
                await undo.enter_async_context(consumer)
                handler = bound_handler(one.function, self.client)
                work = consumer.run(handler, retry=one.options.get("retry"))
                self._running.append(asyncio.ensure_future(work))
            self._undo = undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._undo.__aexit__(kind, error, trace)

    async def _end(self) -> None:
        """Called after every consumer was closed: the running tasks have nothing more to do."""
        running, self._running = self._running, []
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _call(self, hook: Callable[..., Any]) -> None:
        said = hook(self.client) if inspect.signature(hook).parameters else hook()
        if isinstance(said, Awaitable):
            await said
