"""ClientRelay passes an administrator's request on to a client, and the client's answer back.

    tool ── request ──▶ broker ── request of its own ──▶ client
    tool ◀── answer ─── broker ◀── answer, or nothing in time

A client that does not answer in time, or whose connection closes, is a timeout.
"""

from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode, find_response_code
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.request import Answer, Request

RELAY_MS = 10_000


class ClientRelay:
    def __init__(self, consumers: Consumers, calls: ClientCalls) -> None:
        self._consumers = consumers
        self._calls = calls

    def ask(
        self, request: Request, group: str, client_id: str, question: RemotingCommand
    ) -> Answer | None:
        """Send `question` to a client, to any of its group if none is named, and answer the request
        with the client's answer; returns an answer only if it cannot be asked."""
        channel = self._channel(group, client_id)
        who = f"<{group[:255]}> <{client_id[:255]}>"
        if channel is None:
            return Answer(ResponseCode.SYSTEM_ERROR, f"The Consumer {who} not online")
        self._calls.call(
            channel,
            question,
            request.now.monotonic_ms + RELAY_MS,
            lambda said: request.answer(passed_on(said, f"consumer {who}")),
        )
        return None

    def _channel(self, group: str, client_id: str) -> ChannelId | None:
        if client_id:
            return self._consumers.client_channel(group, client_id)
        found = self._consumers.find(group)
        return next(iter(found.members)) if found is not None else None


def passed_on(said: RemotingCommand | None, who: str) -> Answer:
    """A client's answer as the broker's own."""
    if said is None:
        return Answer(ResponseCode.CONSUME_MSG_TIMEOUT, f"{who} did not answer in time")
    code = find_response_code(said.code)
    if code is None:
        return Answer(ResponseCode.SYSTEM_ERROR, f"{who} answered {said.code}: {said.remark}")
    return Answer(code, said.remark, said.ext_fields, bytes(said.body))
