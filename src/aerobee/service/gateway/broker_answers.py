"""Answers of remote brokers, read with distrust: what the messaging service is given can be read.

A broker that does not answer, or whose answer lacks what its request is for, has failed: the call
gets an error, and nothing else happens.
"""

from collections.abc import Callable, Mapping

from aerobee.errors import ProtocolError
from aerobee.model.message_id import parse_offset_message_id
from aerobee.protocol.headers.popping import InvisibleTimeAnswerHeader, PopAnswerHeader
from aerobee.protocol.headers.sending import SentHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer

REMARK_CHARS_MAX = 500
_KNOWN = {int(code): code for code in ResponseCode}


def _check_sent(fields: dict[str, str]) -> None:
    parse_offset_message_id(read_header(SentHeader, fields).message_ids)


_CHECKS: Mapping[int, Callable[[dict[str, str]], object]] = {
    RequestCode.SEND_MESSAGE_V2: _check_sent,
    RequestCode.POP_MESSAGE: lambda fields: read_header(PopAnswerHeader, fields),
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME: lambda fields: read_header(
        InvisibleTimeAnswerHeader, fields
    ),
}


def answer_in(code: int, address: str, command: RemotingCommand | None) -> Answer:
    """The answer of the broker at an address to a request of this code; None: there was none."""
    if command is None:
        return Answer(ResponseCode.RPC_TIME_OUT, f"the broker {address} did not answer in time")
    fields = dict(command.ext_fields)
    remark = command.remark[:REMARK_CHARS_MAX]
    said = _KNOWN.get(command.code)
    if said is None:
        return Answer(
            ResponseCode.SYSTEM_ERROR, f"the broker {address} answered {command.code}: {remark}"
        )
    check = _CHECKS.get(code)
    if said is ResponseCode.SUCCESS and check is not None:
        try:
            check(fields)
        except (ProtocolError, ValueError) as error:
            return Answer(
                ResponseCode.SYSTEM_ERROR, f"the broker {address} gave no sound answer: {error}"
            )
    return Answer(said, remark, fields, bytes(command.body))
