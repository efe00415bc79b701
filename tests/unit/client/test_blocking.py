import asyncio
import inspect
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from aerobee.client.blocking import Facade, LoopThread, Portal, part, stream, verb
from aerobee.errors import Misuse


class Subject:
    def __init__(self) -> None:
        self.closed = False
        self.cancelled = threading.Event()
        self.waits = threading.Event()

    async def double(self, number: int, *, times: int = 2) -> int:
        """Many times a number."""
        return number * times

    async def fail(self) -> None:
        raise Misuse("no")

    async def numbers(self, count: int) -> AsyncIterator[int]:
        try:
            for number in range(count):
                yield number
        finally:
            self.closed = True

    def itself(self) -> "Subject":
        return self

    async def wait_for_ever(self) -> None:
        self.waits.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class Waited(Facade[Subject]):
    double = verb(Subject.double)
    fail = verb(Subject.fail)
    numbers = stream(Subject.numbers)
    wait_for_ever = verb(Subject.wait_for_ever)


class Outer(Facade[Subject]):
    itself = part(Subject.itself, Waited)


@pytest.fixture
def portal() -> Iterator[Portal]:
    thread = LoopThread("test")
    yield thread.start()
    thread.stop()


def test_a_verb_gives_what_its_original_gives_and_raises_what_it_raises(portal: Portal) -> None:
    waited = Outer(Subject(), portal).itself()
    assert waited.double(3) == 6
    assert waited.double(3, times=5) == 15
    with pytest.raises(Misuse, match="no"):
        waited.fail()


def test_a_verb_has_the_signature_and_the_words_of_its_original() -> None:
    assert inspect.signature(Waited.double) == inspect.signature(Subject.double)
    assert Waited.double.__doc__ == "Many times a number."


def test_a_stream_is_an_iterator_that_is_closed_when_it_is_left(portal: Portal) -> None:
    subject = Subject()
    waited = Waited(subject, portal)
    assert list(waited.numbers(3)) == [0, 1, 2]
    subject.closed = False
    for number in waited.numbers(10):
        if number == 2:
            break
    assert subject.closed


def test_a_wait_that_is_interrupted_cancels_what_it_waited_for(portal: Portal) -> None:
    subject = Subject()
    before = signal.getsignal(signal.SIGUSR1)

    def alarm(number: int, frame: object) -> None:
        raise InterruptedError("enough")

    def ring() -> None:
        subject.waits.wait(10)
        os.kill(os.getpid(), signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, alarm)
    ringing = threading.Thread(target=ring)
    ringing.start()
    try:
        with pytest.raises(InterruptedError, match="enough"):
            Waited(subject, portal).wait_for_ever()
    finally:
        ringing.join()
        signal.signal(signal.SIGUSR1, before)
    assert subject.cancelled.wait(10)


def test_a_wait_inside_the_loop_would_never_end_and_is_refused(portal: Portal) -> None:
    waited = Waited(Subject(), portal)

    async def inside() -> None:
        waited.double(1)

    with pytest.raises(Misuse, match="inside the event loop"):
        portal.call(inside())


def test_after_the_end_it_is_refused() -> None:
    thread = LoopThread("test")
    portal = thread.start()
    thread.stop()
    with pytest.raises(Misuse, match="closed"):
        Waited(Subject(), portal).double(1)
    thread.stop()


def test_after_a_fork_it_is_refused(portal: Portal) -> None:
    waited = Waited(Subject(), portal)
    pid = os.fork()
    if pid == 0:
        try:
            waited.double(1)
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
