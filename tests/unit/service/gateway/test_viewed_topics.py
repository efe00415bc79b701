import pytest

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Dial, Effects
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.viewed_topics import view_first
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.request import Answer, InnerRequest


@pytest.mark.parametrize("answer", [None, RemotingCommand(1), RemotingCommand(0, body=b"nonsense")])
def test_where_no_message_is_seen_it_is_of_no_topic_and_a_refusal_is_the_answer(
    answer: RemotingCommand | None,
) -> None:
    outbox: Effects = []
    requests, told = BrokerRequests(outbox), list[Answer]()
    request = InnerRequest(ChannelId(1), RemotingCommand(36), Now(0, 0), told.append)

    def send(topic: str | None) -> None:
        assert topic is None
        raise CallRefused(GrpcCode.UNAUTHORIZED, "no right")

    view_first(requests, "a:1", 77, request, send)
    (dial,) = outbox
    assert isinstance(dial, Dial)
    assert dial.command.ext_fields["offset"] == "77"
    requests.on_answer(dial.ticket, answer)
    assert [(one.code, one.remark) for one in told] == [(ResponseCode.NO_PERMISSION, "no right")]
