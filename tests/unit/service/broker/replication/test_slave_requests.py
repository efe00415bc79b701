"""A slave's refusals."""

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.slave_requests import slave_rows
from aerobee.service.broker.request_table import Lane, Right, row
from aerobee.service.request import OK, Answer, Request


def served(code: RequestCode, master: str) -> Answer | None:
    rows = slave_rows(
        [row(code, NoHeader, lambda request, header: OK, Lane.SEND, Right.PUBLISH)],
        lambda: master,
    )
    request = Request(ChannelId(1), RemotingCommand(code), Now(0, 0), [])
    return rows[0].serve(request)


def test_a_send_is_refused_with_a_code_that_every_client_tries_elsewhere() -> None:
    answer = served(RequestCode.SEND_MESSAGE_V2, "10.0.0.7:10911")
    assert answer is not None
    assert answer.code is ResponseCode.SERVICE_NOT_AVAILABLE
    assert "10.0.0.7:10911" in answer.remark


def test_a_refusal_without_a_known_master_says_so() -> None:
    answer = served(RequestCode.UPDATE_AND_CREATE_TOPIC, "")
    assert answer is not None
    assert "not known" in answer.remark


def test_pulls_and_offsets_are_served() -> None:
    assert served(RequestCode.PULL_MESSAGE, "m") is OK
    assert served(RequestCode.UPDATE_CONSUMER_OFFSET, "m") is OK
