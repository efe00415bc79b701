"""Requests as the parts of a client make them: from a code, a declared header and a body.

`ask` returns the answer whatever its code, `ask_well` raises the error of a refusal, `tell` waits
for nothing. `answer_well` answers a request of a broker.
"""

import logging
from collections.abc import Mapping

from aerobee.client.connection.session import Session
from aerobee.errors import ConnectionLost
from aerobee.net.line import Line
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

_log = logging.getLogger(__name__)

Answer = RemotingCommand
Asked = RemotingCommand
"""What a broker asks of us."""


async def ask(
    session: Session,
    address: str,
    code: RequestCode,
    header: object = None,
    *,
    body: bytes = b"",
    seconds: float | None = None,
) -> Answer:
    return await session.ask(address, command_of(code, header, body), seconds)


async def ask_well(
    session: Session,
    address: str,
    code: RequestCode,
    header: object = None,
    *,
    body: bytes = b"",
    seconds: float | None = None,
) -> Answer:
    return checked(await session.ask(address, command_of(code, header, body), seconds))


async def tell(session: Session, address: str, code: RequestCode, header: object) -> None:
    command = command_of(code, header)
    command.flag = ONEWAY_FLAG
    session.check()
    await session.connections.tell(address, command)


def checked(answer: Answer) -> Answer:
    """The same answer; the error of a refusal is raised."""
    error = error_for(answer.code, answer.remark)
    if error is not None:
        raise error
    return answer


def answer_well(line: Line, asked: Asked, body: bytes) -> None:
    try:
        line.tell(reply_to(asked, ResponseCode.SUCCESS, body=body))
    except ConnectionLost:
        _log.debug("%s does not wait for its answer", line.address)


def command_of(code: RequestCode, header: object = None, body: bytes = b"") -> RemotingCommand:
    """A request command. `header`: a declared header, or its fields by name."""
    if header is None:
        fields: dict[str, str] = {}
    else:
        fields = dict(header) if isinstance(header, Mapping) else write_header(header)
    return RemotingCommand(code, ext_fields=fields, body=body)
