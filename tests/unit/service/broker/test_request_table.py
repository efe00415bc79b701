from dataclasses import dataclass

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.declared_header import Int32
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.request_table import Lane, request_table, row
from aerobee.service.request import Answer, Request


@dataclass(frozen=True, slots=True)
class Header:
    queue_id: Int32


def echo(request: Request, header: Header) -> Answer:
    return Answer(remark=f"{header.queue_id} of {request.command.opaque}")


ROW = row(RequestCode.GET_MAX_OFFSET, Header, echo, Lane.CLIENT)


def ask(fields: dict[str, str]) -> Answer | None:
    command = RemotingCommand(30, opaque=7, ext_fields=fields)
    return request_table([ROW])[30].serve(Request(ChannelId(1), command, Now(0, 0), []))


def test_a_handler_gets_its_header_read() -> None:
    assert ask({"queueId": "4"}) == Answer(remark="4 of 7")


def test_a_header_that_cannot_be_read_never_reaches_its_handler() -> None:
    with pytest.raises(RemoteProtocolError, match="queueId"):
        ask({})


def test_a_request_whose_header_is_too_large_is_refused_unless_its_handler_does_that() -> None:
    command = RemotingCommand(30, ext_fields={"queueId": "4"})
    command.excess = "more than 128 fields"
    request = Request(ChannelId(1), command, Now(0, 0), [])
    answer = ROW.serve(request)
    assert answer is not None
    assert (answer.code, "more than 128 fields" in answer.remark) == (29, True)
    able = row(RequestCode.GET_MAX_OFFSET, Header, echo, Lane.CLIENT, takes_excess=True)
    assert able.serve(request) == Answer(remark="4 of 0")


def test_a_code_is_served_once() -> None:
    with pytest.raises(AssertionError):
        request_table([ROW, ROW])
