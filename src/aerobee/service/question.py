"""Questions to a broker: generators that yield a request and are sent the answer.

Whoever asks carries requests and answers. RemoteProtocolError ends a question: the broker refused
(QuestionRefused), or its answer is not valid.
"""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

T = TypeVar("T")


class QuestionRefused(RemoteProtocolError):
    """The broker does not tell."""

    def __init__(self, request: RequestCode, code: int, remark: str) -> None:
        super().__init__(f"it refused {request.name}: {remark or f'code {code}'}"[:500])
        self.code = code


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
        raise QuestionRefused(code, answer.code, answer.remark)
    return answer
