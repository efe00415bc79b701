"""LeaderRequests sees to it that requests which only a leader can serve are served by it, whichever
member of the group a client has asked.

    this broker leads            served here
    another member leads         forwarded to it, and its answer handed on
    nobody leads, as far as      held for at most HOLD_MS, then SERVICE_NOT_AVAILABLE, which every
    this member knows            client tries again

A leader that refuses has done nothing, so the request is held and tried again. One that does not
answer may have served it: requests that may be repeated are, of the others the client is told that
the outcome is not known (SYSTEM_ERROR, which every client tries again, too).

A member that is to stop forwards reads, too: its clients see what the leader has, and the offsets
that come with pulls are noted by it.

F1. A forwarded request says so (`FORWARDED`), and is not forwarded again. It names the user who
    asked (`ASKED_BY`), because the signature is the brokers'.
F2. Requests that wait are bounded in number and in bytes; what is beyond is refused.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, find_response_code
from aerobee.protocol.text.fields import Fields
from aerobee.replication.departure import Departure
from aerobee.service.access.own_requests import ASKED_BY
from aerobee.service.broker.replication.slave_requests import MASTER_ONLY
from aerobee.service.broker.request_table import Row
from aerobee.service.request import Answer, Request, answer_with

HOLD_MS = 1_000
RETRY_MS = 20
TIMEOUT_MS = 3_000
POLL_TIMEOUT_MS = 35_000
"""Of requests that a leader may hold itself until messages come."""
WAITING_MAX = 10_000
WAITING_BYTES_MAX = 64 << 20
FORWARDED = "aerobeeForwarded"

_CODE = RequestCode
LEADER_ONLY = MASTER_ONLY | {
    _CODE.END_TRANSACTION,
    _CODE.QUERY_CONSUMER_OFFSET,
    _CODE.UPDATE_CONSUMER_OFFSET,
    _CODE.LOCK_BATCH_MQ,
    _CODE.UNLOCK_BATCH_MQ,
    _CODE.NOTIFICATION,
    _CODE.CONTROLLER_ELECT_MASTER,
    _CODE.CONTROLLER_GET_REPLICA_INFO,
    _CODE.CONTROLLER_GET_SYNC_STATE_DATA,
    _CODE.CHANGE_GROUP_MEMBERS,
    _CODE.AUTH_CREATE_USER,
    _CODE.AUTH_UPDATE_USER,
    _CODE.AUTH_DELETE_USER,
    _CODE.AUTH_CREATE_ACL,
    _CODE.AUTH_UPDATE_ACL,
    _CODE.AUTH_DELETE_ACL,
}
READS = frozenset(
    {
        _CODE.PULL_MESSAGE,
        _CODE.LITE_PULL_MESSAGE,
        _CODE.POP_MESSAGE,
        _CODE.PEEK_MESSAGE,
        _CODE.QUERY_MESSAGE,
        _CODE.VIEW_MESSAGE_BY_ID,
        _CODE.QUERY_CONSUMER_OFFSET,
        _CODE.GET_MAX_OFFSET,
        _CODE.GET_MIN_OFFSET,
        _CODE.SEARCH_OFFSET_BY_TIMESTAMP,
    }
)
"""Requests that show what is in the log or what was done with it."""
_REPEATABLE = (READS - {_CODE.POP_MESSAGE}) | frozenset(
    {
        _CODE.UPDATE_CONSUMER_OFFSET,
        _CODE.LOCK_BATCH_MQ,
        _CODE.UNLOCK_BATCH_MQ,
        _CODE.NOTIFICATION,
        _CODE.CONTROLLER_GET_REPLICA_INFO,
        _CODE.CONTROLLER_GET_SYNC_STATE_DATA,
    }
)
_POLLING = frozenset(
    {_CODE.POP_MESSAGE, _CODE.NOTIFICATION, _CODE.PULL_MESSAGE, _CODE.LITE_PULL_MESSAGE}
)


_Handle: TypeAlias = Callable[[Request, object], Answer | None]


class Leadership(Protocol):
    """The group, as this member sees it."""

    @property
    def takes_messages(self) -> bool:
        """Whether this broker leads, and appends."""

    def find_leader(self) -> str:
        """Where another leader answers; empty: there is none that can be reached."""


class WaitingRequest:
    """A request that is not answered yet, with all that its handler needs."""

    __slots__ = ("body", "due_ms", "fields", "request", "row", "tried_ms")

    def __init__(self, row: Row, request: Request) -> None:
        self.row = row
        self.request = request
        self.fields = dict(request.command.ext_fields)
        self.body = request.body
        self.due_ms = request.now.monotonic_ms + HOLD_MS
        self.tried_ms = -RETRY_MS

    def serve(self, now: Now) -> None:
        """Have its handler serve it as if it came now."""
        request = self.request
        request.now = now
        request.body = request.command.body = self.body
        request.command.ext_fields = self.fields
        request.fields = Fields(self.fields)
        answer_with(self.row.serve, request)


class _Ticket(NamedTuple):
    waiting: WaitingRequest


class LeaderRequests:
    def __init__(self, group: Leadership, departure: Departure, outbox: Effects) -> None:
        self._group = group
        self._departure = departure
        self._outbox = outbox
        self._held: deque[WaitingRequest] = deque()
        self._count = 0
        self._bytes = 0

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        """The rows, with those that only a leader serves sent where they belong."""
        return [self._passed(one) for one in rows]

    def _passed(self, row: Row) -> Row:
        if row.code in LEADER_ONLY:
            return row._replace(handle=self._sent(row))
        return row._replace(handle=self._read(row)) if row.code in READS else row

    def _sent(self, row: Row) -> _Handle:
        """Serve a request if this broker leads, and forward it if it does not."""

        def handle(request: Request, header: object) -> Answer | None:
            self._note(request)
            if self._group.takes_messages:
                return row.handle(request, header)
            return self._wait(row, request)

        return handle

    def _read(self, row: Row) -> _Handle:
        """Serve a read, unless this broker is to stop and another one leads."""

        def handle(request: Request, header: object) -> Answer | None:
            self._note(request)
            is_sent = self._departure.is_begun and self._group.find_leader() != ""
            if not is_sent or FORWARDED in request.command.ext_fields:
                return row.handle(request, header)
            return self._wait(row, request)

        return handle

    def _note(self, request: Request) -> None:
        if FORWARDED not in request.command.ext_fields:
            self._departure.heard(request.now.monotonic_ms)

    def _wait(self, row: Row, request: Request) -> Answer | None:
        if FORWARDED in request.command.ext_fields:
            return UNAVAILABLE
        if self._count >= WAITING_MAX or self._bytes >= WAITING_BYTES_MAX:
            return UNAVAILABLE
        waiting = WaitingRequest(row, request)
        self._count += 1
        self._bytes += len(waiting.body)
        self._try(waiting, request.now)
        return None

    def _try(self, waiting: WaitingRequest, now: Now) -> None:
        """Serve it, forward it, or hold it."""
        if self._group.takes_messages:
            self._serve(waiting, now)
            return
        address = self._group.find_leader()
        if not address:
            self._held.append(waiting)
            return
        waiting.tried_ms = now.monotonic_ms
        command, user = waiting.request.command, waiting.request.user
        asked_by = {} if user is None else {ASKED_BY: user.name}
        forwarded = RemotingCommand(
            command.code,
            version=command.version,
            language=command.language,
            ext_fields={**waiting.fields, FORWARDED: "true", **asked_by},
            body=waiting.body,
        )
        timeout_ms = POLL_TIMEOUT_MS if command.code in _POLLING else TIMEOUT_MS
        self._outbox.append(Dial(address, forwarded, timeout_ms, _Ticket(waiting)))

    def _serve(self, waiting: WaitingRequest, now: Now) -> None:
        self._over(waiting)
        waiting.serve(now)

    def _over(self, waiting: WaitingRequest) -> None:
        self._count -= 1
        self._bytes -= len(waiting.body)

    def _answer(self, waiting: WaitingRequest, answer: Answer) -> None:
        self._over(waiting)
        waiting.request.answer(answer)

    # Events.

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Hand on the answer of the leader; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        waiting = ticket.waiting
        if answer is None and waiting.row.code not in _REPEATABLE:
            self._answer(waiting, _UNKNOWN)
            return
        if answer is None or answer.code == ResponseCode.SERVICE_NOT_AVAILABLE:
            if now.monotonic_ms < waiting.due_ms:
                self._held.append(waiting)
            else:
                self._answer(waiting, UNAVAILABLE)
            return
        code = find_response_code(answer.code)
        if code is None:
            remark = f"the leader has answered with code {answer.code}: {answer.remark}"
            self._answer(waiting, Answer(ResponseCode.SYSTEM_ERROR, remark))
            return
        found = Answer(code, answer.remark, answer.ext_fields, bytes(answer.body))
        self._answer(waiting, found)

    def on_tick(self, now: Now) -> None:
        held, self._held = self._held, deque()
        for waiting in held:
            if now.monotonic_ms >= waiting.due_ms:
                self._answer(waiting, UNAVAILABLE)
            elif now.monotonic_ms - waiting.tried_ms < RETRY_MS:
                self._held.append(waiting)
            else:
                self._try(waiting, now)

    def rest_ms(self, now: Now) -> int:
        return RETRY_MS if self._held else HOLD_MS


UNAVAILABLE = Answer(
    ResponseCode.SERVICE_NOT_AVAILABLE,
    "service not available now: the group of this broker has no leader at the moment, try again",
)
_UNKNOWN = Answer(
    ResponseCode.SYSTEM_ERROR,
    "the leader of this broker's group has not answered: it may have done what was asked, or not",
)
