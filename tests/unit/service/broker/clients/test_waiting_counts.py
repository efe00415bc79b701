from aerobee.model.access import User
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.request_limits import WaitingLimits
from aerobee.service.broker.clients.waiting_counts import WaitingCounts
from aerobee.service.request import Request
from aerobee.sim.clock import SimClock
from tests.broker_kit import CLIENT


def request_of(user: str, host: str) -> Request:
    request = Request(CLIENT, RemotingCommand(11), SimClock().now(), [])
    request.host = host
    request.user = User(user) if user else None
    return request


def refusals(counts: WaitingCounts, limits: WaitingLimits) -> list[bool]:
    """Whether one more is refused: of the same group, of the same user, from the same address."""
    return [
        counts.refuse(request_of(user, host), group, limits) is not None
        for group, user, host in (("g", "x", "1"), ("h", "alice", "2"), ("i", "y", "10.0.0.7"))
    ]


def test_each_owner_has_a_limit_of_its_own() -> None:
    counts = WaitingCounts()
    for _ in range(2):
        counts.add(request_of("alice", "10.0.0.7"), "g")
    assert refusals(counts, WaitingLimits()) == [False, False, False]
    assert refusals(counts, WaitingLimits(3, 3, 3)) == [False, False, False]
    assert refusals(counts, WaitingLimits(group=2)) == [True, False, False]
    assert refusals(counts, WaitingLimits(user=2)) == [False, True, False]
    assert refusals(counts, WaitingLimits(address=2)) == [False, False, True]


def test_one_that_waits_no_more_makes_room() -> None:
    counts = WaitingCounts()
    request = request_of("alice", "10.0.0.7")
    counts.add(request, "g")
    counts.remove(request, "g")
    assert refusals(counts, WaitingLimits(1, 1, 1)) == [False, False, False]


def test_those_of_no_user_are_not_counted_as_one_of_them() -> None:
    counts = WaitingCounts()
    counts.add(request_of("", "10.0.0.7"), "g")
    assert counts.refuse(request_of("", "10.0.0.8"), "h", WaitingLimits(user=1)) is None


def test_a_refusal_says_of_whom_too_many_wait_and_how_long_to_wait() -> None:
    counts = WaitingCounts()
    counts.add(request_of("alice", "10.0.0.7"), "g")
    answer = counts.refuse(request_of("alice", "10.0.0.8"), "h", WaitingLimits(user=1))
    assert answer is not None
    assert answer.code is ResponseCode.FLOW_CONTROL
    assert "of the user alice wait" in answer.remark
    assert answer.fields == {"retryAfterMs": "1000"}
