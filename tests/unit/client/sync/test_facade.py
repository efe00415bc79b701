import inspect
from collections.abc import AsyncIterator, Iterator

import pytest

from aerobee.client.connection.loop_portal import LoopThread, Portal
from aerobee.client.sync.facade import Facade, part, stream, verb
from aerobee.errors import Misuse


class Subject:
    def __init__(self) -> None:
        self.closed = False

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


class Waited(Facade[Subject]):
    double = verb(Subject.double)
    fail = verb(Subject.fail)
    numbers = stream(Subject.numbers)


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
