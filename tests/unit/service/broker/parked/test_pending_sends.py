"""Unit tests of pending sends: answered when their bytes are safe, in order."""

from aerobee.ports.service import ChannelId
from aerobee.service.broker.parked.pending_sends import PendingSend, PendingSends


def send(end_offset: int, deadline_ms: int = 1000) -> PendingSend:
    return PendingSend(ChannelId(1), end_offset, b"answer", 7, False, deadline_ms)


def test_a_send_is_answered_once_the_log_is_on_the_disk_past_its_end() -> None:
    pending = PendingSends()
    first, second = send(100), send(200)
    pending.add(first)
    pending.add(second)
    assert pending.take_flushed(99) == []
    assert pending.take_flushed(100) == [first]
    assert pending.take_flushed(1000) == [second]
    assert len(pending) == 0


def test_a_send_that_waited_too_long_is_given_back_as_late() -> None:
    pending = PendingSends()
    pending.add(send(100, deadline_ms=50))
    pending.add(send(200, deadline_ms=90))
    assert pending.take_late(49) == []
    assert [late.end_offset for late in pending.take_late(50)] == [100]
    assert pending.take_flushed(100) == []
    assert [done.end_offset for done in pending.take_flushed(200)] == [200]


def test_when_the_disk_has_failed_every_send_comes_back() -> None:
    pending = PendingSends()
    pending.add(send(100))
    pending.add(send(200))
    assert [lost.end_offset for lost in pending.take_all()] == [100, 200]
    assert pending.take_all() == []
