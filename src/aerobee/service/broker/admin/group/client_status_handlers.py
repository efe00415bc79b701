"""GET_CONSUMER_RUNNING_INFO and INVOKE_BROKER_TO_GET_CONSUMER_STATUS: state asked from clients.

The state of one consumer is passed on unchanged; offsets are gathered from all members of a group,
and those of a client that does not answer are left out.
"""

import contextlib
from collections.abc import Callable

from aerobee.errors import ProtocolError
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.group_offsets import decode_client_status, encode_consumer_status
from aerobee.protocol.headers.group_status import (
    ConsumerStatusHeader,
    GroupTopicHeader,
    RunningInfoHeader,
)
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.admin.group.client_relay import ClientRelay, passed_on
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.clients.consumers import Consumers, Member
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request

STATUS_MS = 5_000
CLIENTS_MAX = 100
"""Limit of the clients that one request is passed on to."""


class ClientStatusHandlers:
    def __init__(self, consumers: Consumers, calls: ClientCalls, relay: ClientRelay) -> None:
        self._consumers = consumers
        self._calls = calls
        self._relay = relay

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.GET_CONSUMER_RUNNING_INFO, RunningInfoHeader, self._info, lane),
            row(
                code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
                ConsumerStatusHeader,
                self._status,
                lane,
            ),
        ]

    def _info(self, request: Request, header: RunningInfoHeader) -> Answer | None:
        question = RemotingCommand(
            RequestCode.GET_CONSUMER_RUNNING_INFO, ext_fields=write_header(header)
        )
        return self._relay.ask(request, header.consumer_group, header.client_id, question)

    def _status(self, request: Request, header: ConsumerStatusHeader) -> Answer | None:
        group = self._consumers.find(header.group)
        members = list(group.members.values()) if group is not None else []
        asked = [one for one in members if header.client_addr in ("", one.client_id)]
        if not asked:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"No Any Consumer online in the consumer group: [{header.group[:255]}]",
            )
        del asked[CLIENTS_MAX:]
        gathering = _Gathering(request, len(asked))
        for member in asked:
            question = RemotingCommand(
                RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
                ext_fields=write_header(GroupTopicHeader(header.group, header.topic)),
            )
            deadline_ms = request.now.monotonic_ms + STATUS_MS
            self._calls.call(member.channel, question, deadline_ms, gathering.taker(member))
        return None


class _Gathering:
    """Collects the answers of several clients, until each has answered or timed out."""

    def __init__(self, request: Request, count: int) -> None:
        self._request = request
        self._left = count
        self._said: dict[str, dict[MessageQueue, int]] = {}

    def taker(self, member: Member) -> Callable[[RemotingCommand | None], None]:
        def take(said: RemotingCommand | None) -> None:
            self._left -= 1
            if said is not None and said.code == ResponseCode.SUCCESS:
                with contextlib.suppress(ProtocolError):  # as good as no answer
                    self._said[member.client_id] = decode_client_status(bytes(said.body))
            if self._left == 0:
                self._finish()

        return take

    def _finish(self) -> None:
        if self._said:
            self._request.answer(Answer(body=encode_consumer_status(self._said)))
        else:
            self._request.answer(passed_on(None, "every client that was asked"))
