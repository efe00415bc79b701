import pytest

from aerobee.client.core.send.send_tries import SendTries
from aerobee.errors import AerobeeError, ConnectionLost, RequestTimeout, Stored, Unreachable
from aerobee.protocol.response_codes import ResponseCode, error_for


def answered(code: int) -> AerobeeError:
    error = error_for(code, "so it is")
    assert error is not None
    return error


def tries(retries: int = 2) -> SendTries:
    return SendTries("t", retries=retries, deadline=10.0)


LOST = ConnectionLost("lost", address="b:1")
NEVER_THERE = Unreachable("no connection", address="a:1", hint="set brokerIP1")


@pytest.mark.parametrize("code", [1, 2, 14, 16, 17, 204, 205, 1500])
def test_the_codes_that_java_tries_again_are_tried_again(code: int) -> None:
    assert tries().note("a", answered(code), 1.0)


def test_a_queue_that_has_moved_to_another_broker_is_tried_there() -> None:
    assert tries().note("a", answered(501), 1.0)


@pytest.mark.parametrize("code", [13, 15, 26, 29, 215, 4711])
def test_any_other_code_ends_the_send(code: int) -> None:
    assert not tries().note("a", answered(code), 1.0)


@pytest.mark.parametrize(
    "error", [LOST, NEVER_THERE, RequestTimeout("late", address="a:1")], ids=lambda e: type(e)
)
def test_a_broker_that_says_nothing_is_left_for_another(error: AerobeeError) -> None:
    assert tries().note("a", error, 1.0)


def test_there_are_as_many_tries_as_allowed_and_none_after_the_deadline() -> None:
    allowed = tries(retries=2)
    assert [allowed.note("a", NEVER_THERE, 1.0) for _ in range(3)] == [True, True, False]
    assert not tries().note("a", NEVER_THERE, 10.0)
    assert tries().seconds_left(7.5) == 2.5


def test_a_master_with_replicas_is_tried_until_the_deadline_unless_there_is_one_try() -> None:
    waiting = tries(retries=2)
    assert all(waiting.note("a", NEVER_THERE, 1.0, has_replicas=True) for _ in range(9))
    assert waiting.note("a", LOST, 1.0, has_replicas=True)
    assert waiting.note("a", LOST, 1.0, has_replicas=True)
    assert not waiting.note("a", LOST, 1.0, has_replicas=True)
    assert not tries().note("a", NEVER_THERE, 10.0, has_replicas=True)
    assert not tries(retries=0).note("a", NEVER_THERE, 1.0, has_replicas=True)


def test_the_broker_to_avoid_is_the_one_that_failed_last() -> None:
    made = tries()
    assert made.failed_broker == ""
    made.note("a", LOST, 1.0)
    made.note("b", LOST, 1.0)
    assert made.failed_broker == "b"


def test_another_broker_is_tried_at_once_and_the_same_after_a_growing_pause() -> None:
    made = tries()
    assert made.pause("a", 0.0) == 0.0
    made.note("a", NEVER_THERE, 0.0)
    assert made.pause("b", 0.0) == 0.0
    first = made.pause("a", 0.0)
    made.note("a", NEVER_THERE, 0.0)
    assert 0.0 < first < made.pause("a", 0.0)
    assert made.pause("a", 9.99) <= 0.005 + 1e-9


def test_a_message_is_not_stored_when_every_try_says_so() -> None:
    made = tries()
    made.note("a", NEVER_THERE, 1.0)
    made.note("b", answered(ResponseCode.SYSTEM_BUSY), 1.0)
    failure = made.failure()
    assert failure.stored is Stored.NO
    assert len(failure.attempts) == 2
    assert "a: no connection" in failure.attempts[0]
    assert "SYSTEM_BUSY (2): so it is" in failure.message
    assert "behind" in failure.hint


@pytest.mark.parametrize("error", [LOST, RequestTimeout("late", address="a"), answered(1)])
def test_one_try_of_unknown_outcome_makes_the_send_unknown(error: AerobeeError) -> None:
    made = tries()
    made.note("a", error, 1.0)
    made.note("b", NEVER_THERE, 1.0)
    failure = made.failure()
    assert failure.stored is Stored.UNKNOWN
    assert "may not be stored" in failure.message
    assert "second" in failure.hint
    assert failure.__cause__ is NEVER_THERE


def test_the_hint_of_an_address_that_cannot_be_reached_is_handed_on() -> None:
    made = tries(retries=0)
    made.note("a", NEVER_THERE, 1.0)
    assert made.failure().hint == "set brokerIP1"


def test_tries_that_came_to_the_same_are_said_once_and_their_hint_once() -> None:
    tried = tries()
    for _ in range(3):
        tried.note("", NEVER_THERE, 1.0)
    failure = tried.failure()
    assert str(failure) == (
        "a message for t was not stored, after 3 tries: no connection (set brokerIP1)"
    )
    assert failure.attempts == ("no connection",) * 3
