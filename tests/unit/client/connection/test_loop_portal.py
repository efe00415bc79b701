import asyncio
import gc
import os
import signal
import threading
import warnings
from collections.abc import Iterator

import pytest

from aerobee.client.connection.loop_portal import LoopThread, Portal, new_event_loop
from aerobee.errors import Misuse


class Waiting:
    """A coroutine that never ends, and what becomes of it."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.begun = threading.Event()

    async def for_ever(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


async def number() -> int:
    return 7


@pytest.fixture
def portal() -> Iterator[Portal]:
    thread = LoopThread("test")
    yield thread.start()
    thread.stop()


def test_a_wait_that_is_interrupted_cancels_what_it_waited_for(portal: Portal) -> None:
    waiting = Waiting()
    before = signal.getsignal(signal.SIGUSR1)

    def alarm(number: int, frame: object) -> None:
        raise InterruptedError("enough")

    def ring() -> None:
        waiting.begun.wait(10)
        os.kill(os.getpid(), signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, alarm)
    ringing = threading.Thread(target=ring)
    ringing.start()
    try:
        with pytest.raises(InterruptedError, match="enough"):
            portal.call(waiting.for_ever())
    finally:
        ringing.join()
        signal.signal(signal.SIGUSR1, before)
    assert waiting.cancelled.wait(10)


def test_a_wait_inside_the_loop_would_never_end_and_is_refused(portal: Portal) -> None:
    async def inside() -> None:
        portal.call(number())

    with pytest.raises(Misuse, match="inside the event loop"):
        portal.call(inside())


def test_a_coroutine_called_from_a_thread_gives_its_result(portal: Portal) -> None:
    assert portal.call(number()) == 7


def test_after_the_end_it_is_refused() -> None:
    thread = LoopThread("test")
    portal = thread.start()
    thread.stop()
    with pytest.raises(Misuse, match="closed"):
        portal.call(number())
    thread.stop()


def test_after_a_fork_it_is_refused(portal: Portal) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            portal.call(number())
        except Misuse as error:
            os._exit(7 if "fork" in error.message else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_the_thread_is_named_and_gone_after_the_end() -> None:
    thread = LoopThread("aerobee-here")
    thread.start()
    assert "aerobee-here" in {one.name for one in threading.enumerate()}
    with pytest.raises(Misuse, match="open already"):
        thread.start()
    thread.stop()
    assert "aerobee-here" not in {one.name for one in threading.enumerate()}


def test_the_loop_is_uvloops_where_it_is_installed() -> None:
    loop = new_event_loop()
    try:
        try:
            import uvloop
        except ImportError:
            assert isinstance(loop, asyncio.AbstractEventLoop)
        else:
            assert isinstance(loop, uvloop.Loop)
    finally:
        loop.close()


@pytest.mark.timeout(60, method="thread")  # no signal ends the wait that this is about
def test_a_loop_is_closed_also_while_a_server_is_open() -> None:
    """A failing test leaves it so; the warning must not keep uvloop waiting."""

    async def leave_open() -> None:
        await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)

    with warnings.catch_warnings(record=True) as told:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(leave_open())
        gc.collect()
    assert told
