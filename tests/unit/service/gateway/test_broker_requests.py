from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Dial, Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.gateway.broker_requests import TIMEOUT_MS, BrokerRequests
from aerobee.service.request import Answer, InnerRequest


def request(told: list[Answer], body: bytes = b"") -> InnerRequest:
    command = RemotingCommand(34, body=body)
    return InnerRequest(ChannelId(1), command, Now(0, 0), told.append)


def test_a_request_is_answered_once_with_what_the_broker_says() -> None:
    outbox: Effects = []
    requests, told = BrokerRequests(outbox), list[Answer]()
    requests.send("a:1", request(told), wait_ms=50)
    (dial,) = outbox
    assert isinstance(dial, Dial)
    assert (dial.address, dial.timeout_ms, requests.open) == ("a:1", TIMEOUT_MS + 50, 1)
    requests.on_answer(object(), RemotingCommand(0))
    assert told == []
    requests.on_answer(dial.ticket, RemotingCommand(0, remark="well"))
    assert [one.remark for one in told] == ["well"]
    assert (requests.open, requests.outcomes) == (0, {"SUCCESS": 1})


def test_requests_beyond_the_bytes_that_may_wait_are_refused_until_others_are_answered() -> None:
    outbox: Effects = []
    requests, told = BrokerRequests(outbox, open_bytes_max=5_000), list[Answer]()
    requests.send("a:1", request(told, bytes(3_000)))
    requests.send("a:1", request(told, bytes(3_000)))
    assert [one.code for one in told] == [ResponseCode.SYSTEM_BUSY]
    (dial,) = outbox
    assert isinstance(dial, Dial)
    requests.on_answer(dial.ticket, None)
    requests.send("a:1", request(told, bytes(3_000)))
    assert len(outbox) == 2
