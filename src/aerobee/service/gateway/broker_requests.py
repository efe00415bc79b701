"""BrokerRequests sends requests to brokers, and has each answered once.

Bounded by the bytes of requests that are not answered: a broker that hangs must not fill the memory
of the process.
"""

from collections import Counter
from typing import NamedTuple

from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.gateway.broker_answers import answer_in
from aerobee.service.request import Answer, InnerRequest

TIMEOUT_MS = 3_000
OPEN_BYTES_MAX = 256 << 20
_BESIDE_BODY_BYTES = 1_024


class _Ticket(NamedTuple):
    request: InnerRequest
    address: str
    code: int
    size: int


class BrokerRequests:
    def __init__(self, outbox: Effects, open_bytes_max: int = OPEN_BYTES_MAX) -> None:
        self._outbox = outbox
        self._open_bytes_max = open_bytes_max
        self._open_bytes = 0
        self.open = 0
        """Requests that are not answered."""
        self.outcomes: Counter[str] = Counter()
        """Answers since the start, by the name of their code."""

    def send(self, address: str, request: InnerRequest, wait_ms: int = 0) -> None:
        """Send a request, which the broker may hold for `wait_ms`."""
        command = request.command
        size = len(command.body) + _BESIDE_BODY_BYTES
        if self._open_bytes + size > self._open_bytes_max:
            remark = "too many requests wait for brokers: try again in a moment"
            request.answer(Answer(ResponseCode.SYSTEM_BUSY, remark))
            return
        self._open_bytes += size
        self.open += 1
        ticket = _Ticket(request, address, command.code, size)
        self._outbox.append(Dial(address, command, wait_ms + TIMEOUT_MS, ticket))

    def on_answer(self, ticket: object, command: RemotingCommand | None) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        self._open_bytes -= ticket.size
        self.open -= 1
        answer = answer_in(ticket.code, ticket.address, command)
        self.outcomes[answer.code.name] += 1
        ticket.request.answer(answer)
