"""Translations: generators that yield requests about physical queues and are sent their answers.

The first argument of each is the `LogicalQueue` that a request names, the second the request's
header; the value that it returns is the answer. Whether a physical queue is on this broker or on
another is decided by who runs the translation (`logical_rows`).
"""

from collections.abc import Generator
from typing import NamedTuple, TypeAlias

from aerobee.model.queue_mapping import Chain
from aerobee.protocol.headers.offsets import OffsetAnswerHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer


class LogicalQueue(NamedTuple):
    """A logical queue that this broker leads."""

    topic: str
    number: int
    chain: Chain


class Ask(NamedTuple):
    """A request about a physical queue of a broker."""

    broker: str
    code: RequestCode
    header: object


Translation: TypeAlias = Generator[Ask, Answer, Answer]
AskedOffset: TypeAlias = Generator[Ask, Answer, int | Answer]


def ask_offset(ask: Ask) -> AskedOffset:
    """The offset in the answer; the answer itself, if it is a refusal."""
    answer = yield ask
    if answer.code is not ResponseCode.SUCCESS:
        return answer
    return read_header(OffsetAnswerHeader, answer.fields or {}).offset


def undecided(queue: LogicalQueue) -> Answer:
    """The answer about a queue of which no part can be read yet."""
    return Answer(
        ResponseCode.SYSTEM_ERROR,
        f"{queue.topic}-{queue.number} has no logic offset yet: its remapping is under way",
    )
