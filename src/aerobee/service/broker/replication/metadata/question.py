"""Questions to a master: generators that yield a request and are sent the answer.

`metadata_copy` carries requests and answers. RemoteProtocolError ends a question: the master
refused, or its answer is not valid.
"""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

T = TypeVar("T")
Question: TypeAlias = Generator[RemotingCommand, RemotingCommand, T]

_NO_HEADER = NoHeader()


def ask(code: RequestCode, header: object = _NO_HEADER) -> Question[RemotingCommand]:
    """The answer, whatever its code is."""
    answer = yield RemotingCommand(code, ext_fields=write_header(header))
    return answer


def require(code: RequestCode, header: object = _NO_HEADER) -> Question[RemotingCommand]:
    """The answer, which must be a success."""
    answer = yield from ask(code, header)
    if answer.code != ResponseCode.SUCCESS:
        raise RemoteProtocolError(
            f"it refused {code.name}: {answer.remark or f'code {answer.code}'}"[:500]
        )
    return answer
