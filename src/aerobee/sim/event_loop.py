"""An asyncio loop on virtual time: what the net layer and coroutines run on, in the simulator.

It has just what `aerobee.net` and a coroutine ask of a loop. Each process has a loop of its own
over the one timeline, so that a process can end in the middle of everything: what it had yet to do
is never done, and nobody is told.

Whatever comes out of a callback or a task goes to `failed`: here nothing is logged and forgotten.
"""

import asyncio
import contextvars
import inspect
import math
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar, cast

from aerobee.sim.timeline import Event, Timeline

T = TypeVar("T")
Factory = Callable[[], asyncio.BaseProtocol]


class Listening(Protocol):
    """A place where connections are accepted, until it is closed."""

    def close(self) -> None: ...


class Connections(Protocol):
    """What a loop needs of the network."""

    def listen(self, factory: Factory, port: int) -> Listening: ...

    async def connect(
        self, factory: Factory, host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]: ...


class SimSocket:
    """A port that is ours: what stands for a bound socket."""

    def __init__(self, port: int) -> None:
        self.port = port

    def close(self) -> None:
        """The port is free again."""


class Handle:
    """A callback to come, as asyncio hands it out."""

    __slots__ = ("_args", "_callback", "_context", "_event", "_loop")

    def __init__(
        self,
        loop: "SimLoop",
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: contextvars.Context | None,
    ) -> None:
        self._loop = loop
        self._callback = callback
        self._args = args
        self._context = context if context is not None else contextvars.copy_context()
        self._event: Event | None = None

    def begin(self, timeline: Timeline, ms: int) -> "Handle":
        self._event = timeline.after(ms, self._run)
        return self

    def cancel(self) -> None:
        if self._event is not None:
            self._event.cancel()

    def cancelled(self) -> bool:
        return self._event is None or self._event.is_cancelled

    def when(self) -> float:
        assert self._event is not None
        return self._event.at_ms / 1000

    def _run(self) -> None:
        self._loop.run(lambda: self._context.run(self._callback, *self._args))


class SimLoop:
    """The loop of one process. L1. Once it is over, nothing of it happens any more."""

    def __init__(
        self,
        timeline: Timeline,
        connections: Connections,
        failed: Callable[[BaseException], None],
    ) -> None:
        self._timeline = timeline
        self._connections = connections
        self._failed = failed
        self._begun: dict[Coroutine[Any, Any, Any], Coroutine[Any, Any, Any]] = {}
        self.is_over = False

    @property
    def as_loop(self) -> asyncio.AbstractEventLoop:
        """Itself, to those who know only the class."""
        return cast(asyncio.AbstractEventLoop, self)

    def run(self, action: Callable[[], object]) -> None:
        """Do something as this process, now."""
        if self.is_over:
            return
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self.as_loop)
        try:
            action()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self._failed(error)
        finally:
            asyncio._set_running_loop(before)

    def end(self) -> None:
        """The process is gone. What had not begun never will, and nobody is to miss it."""
        self.is_over = True
        for whole, work in self._begun.items():
            for one in (whole, work):
                if inspect.getcoroutinestate(one) == inspect.CORO_CREATED:
                    one.close()
        self._begun.clear()

    # Callbacks and time.

    def time(self) -> float:
        return self._timeline.now_ms / 1000

    def call_soon(
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> Handle:
        return Handle(self, callback, args, context).begin(self._timeline, 0)

    call_soon_threadsafe = call_soon

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> Handle:
        return Handle(self, callback, args, context).begin(self._timeline, _whole_ms(delay))

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> Handle:
        return self.call_later(when - self.time(), callback, *args, context=context)

    # Futures and tasks.

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self.as_loop)

    def create_task(self, work: Coroutine[Any, Any, T], **_: object) -> "asyncio.Task[T | None]":
        whole = self._watched(work)
        self._begun[whole] = work
        task = asyncio.Task(whole, loop=self.as_loop)
        task.add_done_callback(lambda _: self._begun.pop(whole, None))
        return task

    async def _watched(self, work: Coroutine[Any, Any, T]) -> T | None:
        """A task whose error is heard of at once, and not when somebody asks for it."""
        try:
            return await work
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:
            self._failed(error)
            return None

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return not self.is_over

    def is_closed(self) -> bool:
        return self.is_over

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self.is_over:
            return  # a task that was killed with its process, and that nobody waited for
        error = context.get("exception")
        self._failed(error if isinstance(error, BaseException) else RuntimeError(str(context)))

    # Connections.

    async def create_server(
        self, factory: Factory, *, sock: SimSocket, backlog: int = 0
    ) -> Listening:
        return self._connections.listen(factory, sock.port)

    async def create_connection(
        self, factory: Factory, host: str, port: int, *, ssl: object = None
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        assert ssl is None, "nothing is encrypted here"
        return await self._connections.connect(lambda: self._made(factory), host, port)

    def _made(self, factory: Factory) -> asyncio.BaseProtocol:
        """A protocol, made as asyncio does it: inside the loop that it belongs to."""
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self.as_loop)
        try:
            return factory()
        finally:
            asyncio._set_running_loop(before)


def _whole_ms(seconds: float) -> int:
    """Never early; a sum of floats is not to cost a millisecond, though."""
    return max(0, math.ceil(seconds * 1000 - 1e-6))
