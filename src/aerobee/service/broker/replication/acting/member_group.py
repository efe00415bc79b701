"""MemberGroup knows which brokers of this broker's name live: GET_BROKER_MEMBER_GROUP, of a name
server, at intervals, and at once when NOTIFY_MIN_BROKER_ID_CHANGE comes.

What the notice says is not used: it may be lost or late, and an answer is never older than the
question. A name server that does not answer is left for the next one; what was known before is then
not known any more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from aerobee.errors import ProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.topic_route import decode_member_group
from aerobee.protocol.headers.replication import MemberGroupHeader, MinBrokerIdHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import OK, Answer, Request

TIMEOUT_MS = 1_000

Members: TypeAlias = Mapping[int, str]
"""The addresses of the brokers that live, by id."""
Hear: TypeAlias = Callable[[Members | None, Now], None]
"""Called with every answer; None: the name server that was asked said nothing valid."""


class _Ticket(NamedTuple):
    address: str


class MemberGroup:
    def __init__(
        self, identity: BrokerIdentity, addresses: Sequence[str], outbox: Effects, hear: Hear
    ) -> None:
        """`addresses` of the name servers."""
        self._addresses = addresses
        self._outbox = outbox
        self._hear = hear
        self._interval_ms = identity.replication.members_interval_ms
        self._header = write_header(MemberGroupHeader(identity.cluster, identity.name))
        self._asked = 0
        self._due_ms = 0
        self._is_asking = False

    def rows(self) -> list[Row]:
        code, lane = RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, Lane.ADMIN
        return [row(code, MinBrokerIdHeader, self._notice, lane)]

    def _notice(self, request: Request, header: MinBrokerIdHeader) -> Answer:
        self._due_ms = 0
        self.on_tick(request.now)
        return OK

    def on_tick(self, now: Now) -> None:
        if self._is_asking or now.monotonic_ms < self._due_ms or not self._addresses:
            return
        self._is_asking = True
        self._due_ms = now.monotonic_ms + self._interval_ms
        address = self._addresses[self._asked % len(self._addresses)]
        command = RemotingCommand(RequestCode.GET_BROKER_MEMBER_GROUP, ext_fields=self._header)
        self._outbox.append(Dial(address, command, TIMEOUT_MS, _Ticket(address)))

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed."""
        if self._is_asking or not self._addresses:
            return self._interval_ms
        return max(0, self._due_ms - now.monotonic_ms)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a question; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        self._is_asking = False
        members = _members_in(answer)
        if members is None:
            self._asked += 1
        self._hear(members, now)


def _members_in(answer: RemotingCommand | None) -> Members | None:
    if answer is None or answer.code != 0:
        return None
    try:
        return decode_member_group(bytes(answer.body)).addresses
    except ProtocolError:
        return None
