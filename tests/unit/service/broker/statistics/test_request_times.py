from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.statistics.request_times import RequestTimes
from aerobee.service.request import Answer, Request

OK = ResponseCode.SUCCESS


def answered(
    times: RequestTimes,
    code: int,
    response: ResponseCode = OK,
    since_ms: int = 0,
    *,
    is_held: bool = False,
) -> None:
    """A request that came then is answered."""
    request = Request(ChannelId(1), RemotingCommand(code), Now(0, since_ms), [], times.heard)
    request.is_held = is_held
    request.answer(Answer(response))


def shown(times: RequestTimes) -> dict[tuple[str, str, bool], tuple[int, float]]:
    """Count and sum, by request, response and whether it was held."""
    return {
        (outcome.request_name, outcome.response.name, outcome.is_held): (found.count, found.sum)
        for outcome, found in times
    }


def test_a_request_took_from_when_it_came_until_the_turn_was_over() -> None:
    times = RequestTimes()
    answered(times, RequestCode.HEART_BEAT, since_ms=1_000)
    assert shown(times) == {}
    times.measure(1_007)
    assert shown(times) == {("heart_beat", "SUCCESS", False): (1, 7)}
    times.measure(1_100)
    assert shown(times) == {("heart_beat", "SUCCESS", False): (1, 7)}


def test_requests_of_the_short_way_are_counted_together() -> None:
    times = RequestTimes()
    sends = times.of_successes(RequestCode.SEND_MESSAGE_V2)
    sends.add(2, 64)
    sends.add(5)
    assert shown(times) == {("send_message_v2", "SUCCESS", False): (65, 133)}


def test_requests_that_came_together_took_as_long_as_the_turn() -> None:
    times = RequestTimes()
    times.note(RequestCode.ACK_MESSAGE, OK, 1_000, 32)
    times.note(RequestCode.ACK_MESSAGE, ResponseCode.SYSTEM_BUSY, 1_000, 2)
    assert shown(times) == {}
    times.measure(1_003)
    assert shown(times) == {
        ("ack_message", "SUCCESS", False): (32, 96),
        ("ack_message", "SYSTEM_BUSY", False): (2, 6),
    }


def test_answers_are_told_apart_by_their_code_and_by_having_been_held() -> None:
    times = RequestTimes()
    pull = RequestCode.PULL_MESSAGE
    answered(times, pull, is_held=True)
    answered(times, pull)
    answered(times, pull, ResponseCode.PULL_NOT_FOUND, is_held=True)
    times.measure(10)
    assert set(shown(times)) == {
        ("pull_message", "SUCCESS", True),
        ("pull_message", "SUCCESS", False),
        ("pull_message", "PULL_NOT_FOUND", True),
    }


def test_codes_that_nobody_knows_are_one() -> None:
    times = RequestTimes()
    for code in range(7_000_000, 7_001_000):
        answered(times, code, ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
    times.measure(0)
    assert shown(times) == {("unknown", "REQUEST_CODE_NOT_SUPPORTED", False): (1000, 0)}


def test_a_clock_that_stands_makes_no_time_below_zero() -> None:
    times = RequestTimes()
    answered(times, RequestCode.HEART_BEAT, since_ms=1_000)
    times.measure(999)
    assert shown(times) == {("heart_beat", "SUCCESS", False): (1, 0)}
