"""Requests that name a message by its place in a broker's log: the message says of which topic it
is, and so which right its caller needs, whatever the request says.
"""

from collections.abc import Callable

from aerobee.errors import ProtocolError
from aerobee.protocol.headers.queries import ViewMessageHeader
from aerobee.protocol.message.stored_message import decode_record
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.request import Answer, InnerRequest


def view_first(
    requests: BrokerRequests,
    address: str,
    log_offset: int,
    request: InnerRequest,
    send: Callable[[str | None], None],
) -> None:
    """Look at a message, then `send` the request, with the message's topic, None if there is none.
    What `send` refuses is answered."""

    def viewed(answer: Answer) -> None:
        try:
            send(_topic_in(answer))
        except CallRefused as refusal:
            request.answer(Answer(ResponseCode.NO_PERMISSION, refusal.status.message))

    fields = write_header(ViewMessageHeader(log_offset))
    view = RemotingCommand(RequestCode.VIEW_MESSAGE_BY_ID, ext_fields=fields)
    requests.send(address, InnerRequest(request.channel, view, request.now, viewed))


def _topic_in(answer: Answer) -> str | None:
    try:
        return decode_record(answer.body).topic if answer.code is ResponseCode.SUCCESS else None
    except ProtocolError:
        return None
