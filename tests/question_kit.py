"""Questions of a slave, answered one by one.

run_question(question, answer)      its result; `answer` maps a request to its answer
"""

from collections.abc import Callable
from typing import TypeVar

from aerobee.protocol.remoting.command_header import RESPONSE_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.question import Question

T = TypeVar("T")


def run_question(question: Question[T], answer: Callable[[RemotingCommand], RemotingCommand]) -> T:
    try:
        command = next(question)
        while True:
            command = question.send(answer(command))
    except StopIteration as over:
        result: T = over.value
        return result


def answered(code: int = 0, body: bytes = b"", remark: str = "", **fields: str) -> RemotingCommand:
    return RemotingCommand(code, flag=RESPONSE_FLAG, remark=remark, ext_fields=fields, body=body)
