"""The checker of `aerobee chaos`, on histories in which something was made wrong on purpose."""

import time

import pytest

from aerobee.app.chaos.history import ChaosHistory
from aerobee.app.chaos.log_check import Found, Queue

QUEUE: Queue = (b"chaos", 0)
COUNT = 20


def history_of(count: int = COUNT) -> tuple[ChaosHistory, list[Found]]:
    """A sender whose messages are all there."""
    history = ChaosHistory()
    found = []
    for number in range(count):
        name = b"0-%d" % number
        history.on_answer(name, QUEUE, name, time.monotonic_ns(), is_safe=True)
        history.on_read(QUEUE, number, name)
        found.append(Found(name, number, name))
    return history, found


def shifted(found: list[Found]) -> list[Found]:
    """The same messages at offsets that follow one another."""
    return [one._replace(offset=offset) for offset, one in enumerate(found)]


def test_a_sound_history_is_sound() -> None:
    history, found = history_of()
    verdict = history.judge({QUEUE: found})
    assert verdict.counts.is_sound
    assert verdict.counts[:3] == (COUNT, 0, COUNT)
    assert not verdict.anomalies


def test_a_lost_message_is_found() -> None:
    history, found = history_of()
    history.reads.clear()
    verdict = history.judge({QUEUE: shifted(found[:7] + found[8:])})
    assert verdict.counts.lost == 1
    assert not verdict.counts.is_sound
    assert [one.name for one in verdict.anomalies] == [b"0-7"]


def test_two_messages_that_changed_places_are_found() -> None:
    history, found = history_of()
    history.reads.clear()
    found[4], found[9] = found[9], found[4]
    verdict = history.judge({QUEUE: shifted(found)})
    assert verdict.counts.out_of_order > 0
    assert verdict.counts.lost == 0
    assert not verdict.counts.is_sound


def test_a_duplicate_is_counted_and_is_no_fault() -> None:
    history, found = history_of()
    verdict = history.judge({QUEUE: shifted([*found, found[3]])})
    assert verdict.counts.twice == 1
    assert verdict.counts.is_sound


def test_a_read_that_was_taken_back_is_found() -> None:
    history, found = history_of()
    history.on_read(QUEUE, COUNT, b"0-99")
    verdict = history.judge({QUEUE: found})
    assert verdict.counts.wrong == 1
    assert not verdict.counts.is_sound


def test_another_message_at_an_offset_that_was_read_before_is_found() -> None:
    history, found = history_of()
    history.on_read(QUEUE, 3, b"0-4")
    assert history.judge({QUEUE: found}).counts.wrong == 1


@pytest.mark.parametrize("is_there", [False, True])
def test_a_send_that_failed_may_be_there_or_not(is_there: bool) -> None:
    history, found = history_of()
    history.on_answer(b"0-99", QUEUE, b"0-99", time.monotonic_ns(), is_safe=False)
    if is_there:
        found.append(Found(b"0-99", COUNT, b"0-99"))
    verdict = history.judge({QUEUE: found})
    assert verdict.counts.is_sound
    assert verdict.counts.unknown == 1


def test_a_message_that_nobody_sent_is_found() -> None:
    history, found = history_of()
    found.append(Found(b"0-55", COUNT, b"0-55"))
    assert history.judge({QUEUE: found}).counts.wrong == 1
