"""OffsetHandBack gives a master the offsets that consumers committed at this slave.

    owed by the last copy ─▶ QUERY_CONSUMER_OFFSET ─▶ still lower? ─▶ UPDATE_CONSUMER_OFFSET

The master is asked first, because its consumers may have gone on since the copy, and an update
would set them back. A few are under way at a time. The next copy shows whether the master has a
commit; until then it is owed again. A commit that the master refuses is given up. Both are requests
of consumers: an Apache broker takes them, too.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from aerobee.errors import ProtocolError
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    OffsetAnswerHeader,
    QueryOffsetHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.metadata.copied_offsets import OwedCommit

_log = logging.getLogger(__name__)

FLIGHT_MAX = 32
TIMEOUT_MS = 3_000
_REFUSALS = frozenset(
    {
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        ResponseCode.INVALID_PARAMETER,
    }
)


class _Ticket(NamedTuple):
    hand_back: "OffsetHandBack"
    address: str
    commit: OwedCommit
    is_update: bool


class OffsetHandBack:
    """H1. At most FLIGHT_MAX requests are under way."""

    def __init__(self, outbox: Effects, give_up: Callable[[OwedCommit], None]) -> None:
        """`give_up` is called for a commit that the master refuses."""
        self._outbox = outbox
        self._give_up = give_up
        self._address = ""
        self._waiting: deque[OwedCommit] = deque()
        self._flying = 0

    @property
    def has_more(self) -> bool:
        """Whether there is more to ask now."""
        return bool(self._waiting) and self._flying < FLIGHT_MAX

    def owe(self, address: str, commits: Iterable[OwedCommit]) -> None:
        """The commits that a master at this address does not have, by the last copy."""
        self._address = address
        self._waiting = deque(commits)

    def on_tick(self) -> None:
        while self.has_more:
            self._flying += 1
            self._query(_Ticket(self, self._address, self._waiting.popleft(), is_update=False))

    def on_answer(self, ticket: object, answer: RemotingCommand | None) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket) or ticket.hand_back is not self:
            return
        if answer is None:
            self._flying -= 1
            self._waiting.clear()
        elif ticket.is_update:
            self._flying -= 1
            self._updated(ticket.commit, answer)
        elif self._is_lower(answer, ticket.commit):
            self._update(ticket._replace(is_update=True))
        else:
            self._flying -= 1

    def _is_lower(self, answer: RemotingCommand, commit: OwedCommit) -> bool:
        """Whether the master's offset is lower, or none is known."""
        if answer.code != ResponseCode.SUCCESS:
            return True
        try:
            return read_header(OffsetAnswerHeader, answer.ext_fields).offset < commit.offset
        except ProtocolError:
            return True

    def _updated(self, commit: OwedCommit, answer: RemotingCommand) -> None:
        if answer.code in _REFUSALS:
            self._give_up(commit)
            _log.warning(
                "the master does not take offset %d of group %s in queue %d of topic %s: %s",
                commit.offset,
                commit.group,
                commit.queue_id,
                commit.topic,
                answer.remark or f"code {answer.code}",
            )

    def _query(self, ticket: _Ticket) -> None:
        commit = ticket.commit
        header = QueryOffsetHeader(commit.group, commit.topic, commit.queue_id, False)
        self._dial(RequestCode.QUERY_CONSUMER_OFFSET, header, ticket)

    def _update(self, ticket: _Ticket) -> None:
        commit = ticket.commit
        header = CommitOffsetHeader(commit.group, commit.topic, commit.queue_id, commit.offset)
        self._dial(RequestCode.UPDATE_CONSUMER_OFFSET, header, ticket)

    def _dial(self, code: RequestCode, header: object, ticket: _Ticket) -> None:
        command = RemotingCommand(code, ext_fields=write_header(header))
        self._outbox.append(Dial(ticket.address, command, TIMEOUT_MS, ticket))
