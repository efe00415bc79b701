"""Unit tests of request stamps: each is taken once, on one connection, while it is of now."""

import pytest

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.service.access.request_stamps import AGE_MS_MAX, SESSIONS_MAX, RequestStamps

HERE, THERE = ChannelId(1), ChannelId(2)
NOW = Now(1_800_000_000_000, 1_000)


def stamp(count: int = 1, *, code: int = 310, wall_ms: int = NOW.wall_ms, session: int = 9) -> str:
    return f"{code}.{wall_ms}.{session}.{count}"


def test_a_stamp_is_taken_once() -> None:
    stamps = RequestStamps()
    assert stamps.find_fault(stamp(1), 310, HERE, NOW) is None
    fault = stamps.find_fault(stamp(1), 310, HERE, NOW)
    assert fault == "the request stamp was used before"
    assert stamps.find_fault(stamp(3), 310, HERE, NOW) is None
    assert stamps.find_fault(stamp(2), 310, HERE, NOW) is not None
    assert stamps.find_fault(stamp(4), 310, HERE, NOW) is None


def test_a_session_is_of_one_connection() -> None:
    stamps = RequestStamps()
    assert stamps.find_fault(stamp(1), 310, HERE, NOW) is None
    for count in (1, 2):
        fault = stamps.find_fault(stamp(count), 310, THERE, NOW)
        assert fault == "the request stamp was used before"
    assert stamps.find_fault(stamp(1, session=10), 310, THERE, NOW) is None
    assert stamps.find_fault(stamp(2), 310, HERE, NOW) is None


def test_a_stamp_is_of_one_code() -> None:
    fault = RequestStamps().find_fault(stamp(code=11), 215, HERE, NOW)
    assert fault == "the request stamp is of another request"


@pytest.mark.parametrize("ms", [AGE_MS_MAX + 1, -AGE_MS_MAX - 1])
def test_a_stamp_is_of_now(ms: int) -> None:
    fault = RequestStamps().find_fault(stamp(wall_ms=NOW.wall_ms + ms), 310, HERE, NOW)
    assert fault is not None
    assert "clocks" in fault
    within = ms - 1 if ms > 0 else ms + 1
    said = stamp(wall_ms=NOW.wall_ms + within)
    assert RequestStamps().find_fault(said, 310, HERE, NOW) is None


@pytest.mark.parametrize(
    "text", ["", "1.2.3", "1.2.3.4.5", "310.x.9.1", "310.-1.9.1", f"310.1.{'9' * 19}.1", "1.²..1"]
)
def test_what_is_no_stamp_is_refused(text: str) -> None:
    fault = RequestStamps().find_fault(text, 310, HERE, NOW)
    assert fault == "the request stamp cannot be read"


def test_sessions_are_forgotten_when_none_of_their_stamps_is_of_now() -> None:
    stamps = RequestStamps()
    many = SESSIONS_MAX
    for session in range(many):
        assert stamps.find_fault(stamp(session=session), 310, HERE, NOW) is None
    fault = stamps.find_fault(stamp(session=many), 310, HERE, NOW)
    assert fault is not None
    assert "try again later" in fault
    later = Now(NOW.wall_ms + AGE_MS_MAX + 1, NOW.monotonic_ms)
    assert stamps.find_fault(stamp(session=many, wall_ms=later.wall_ms), 310, HERE, later) is None
    # What was forgotten is refused by its time.
    fault = stamps.find_fault(stamp(1, session=5), 310, THERE, later)
    assert fault is not None
    assert "clocks" in fault


def test_the_session_of_a_stamp_is_found() -> None:
    stamps = RequestStamps()
    assert stamps.find_fault(stamp(5), 310, HERE, NOW) is None
    session = stamps.session_of(stamp(5))
    assert session is not None
    assert (session.number, session.count) == (9, 5)
