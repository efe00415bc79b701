"""MasterReturn keeps a master that starts isolated until its slaves follow it and the acting master
has told how far it went (RocketMQ's pre-online phase).

    members of its name ─▶ slaves are told (906) ─▶ all are linked ─▶ progress of the one with the
           │                                                          smallest id ─▶ taken over
           └─ no slave lives, or nobody says ─────────────────────────────────────▶ online

Isolated it is not registered and takes nothing from clients; slaves get its log. A slave that is
told stops to act, and has saved its progress when it follows. A slave that does not follow holds
the master back, which is logged again and again: to go online all the same would deliver its
messages a second time. `skipPreOnline=true` does that.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from aerobee.errors import AerobeeError
from aerobee.model.broker_role import MASTER_ID
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects, Rebuild
from aerobee.protocol.headers.replication import ExchangeHaHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.acting.member_group import Members
from aerobee.service.broker.replication.metadata.metadata_round import Progress, copy_progress
from aerobee.service.question import Question

_log = logging.getLogger(__name__)

TIMEOUT_MS = 3_000
SILENCE_MS_MAX = 5_000
"""How long name servers that do not answer are waited for."""
WARN_MS = 10_000

TakeProgress = Callable[[Progress, Now], None]


class _Told(NamedTuple):
    """The ticket of a 906."""


class _Ticket(NamedTuple):
    question: Question[Progress]
    address: str


class MasterReturn:
    def __init__(
        self,
        identity: BrokerIdentity,
        end_offset: int,
        linked: Callable[[], int],
        take: TakeProgress,
        outbox: Effects,
    ) -> None:
        """`linked` returns the number of slaves that follow, `take` takes progress over."""
        self._identity = identity
        self._linked = linked
        self._take = take
        self._outbox = outbox
        self._header = write_header(
            ExchangeHaHeader(identity.ha_address, end_offset, identity.address)
        )
        self._begun_ms: int | None = None
        self._warned_ms: int | None = None
        self._question: Question[Progress] | None = None
        self._is_over = False

    def hear_members(self, members: Members | None, now: Now) -> None:
        """A name server has said which brokers of this name live."""
        if self._is_over:
            return
        if self._begun_ms is None:
            self._begun_ms = now.monotonic_ms
        if members is None:
            if now.monotonic_ms - self._begun_ms >= SILENCE_MS_MAX:
                _log.warning("no name server says which slaves there are: none is asked")
                self._go_online("no name server answers")
            return
        slaves = {number: members[number] for number in sorted(members) if number != MASTER_ID}
        if not slaves:
            self._go_online("no slave lives")
        elif members.get(MASTER_ID, self._identity.address) != self._identity.address:
            self._go_online(f"there is another master at {members[MASTER_ID]}")
        elif self._linked() < len(slaves):
            self._tell(slaves, now)
        elif self._question is None:
            self._question = copy_progress()
            self._ask(next(self._question), slaves[min(slaves)])

    def _tell(self, slaves: Members, now: Now) -> None:
        for address in slaves.values():
            command = RemotingCommand(
                RequestCode.EXCHANGE_BROKER_HA_INFO, ext_fields=dict(self._header)
            )
            self._outbox.append(Dial(address, command, TIMEOUT_MS, _Told()))
        if self._warned_ms is None:
            self._warned_ms = now.monotonic_ms
            _log.info("not online yet: slaves are told to follow: %s", _listed(slaves))
        elif now.monotonic_ms - self._warned_ms >= WARN_MS:
            self._warned_ms = now.monotonic_ms
            _log.warning(
                "not online yet, sends are refused: %d of %d slaves follow (%s): stop those that "
                "do not, or start this broker with skipPreOnline=true",
                self._linked(),
                len(slaves),
                _listed(slaves),
            )

    def _ask(self, command: RemotingCommand, address: str) -> None:
        assert self._question is not None
        ticket = _Ticket(self._question, address)
        self._outbox.append(Dial(address, command, TIMEOUT_MS, ticket))

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle an answer; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket) or ticket.question is not self._question:
            return
        if answer is None:
            self._fail(ticket.address, "it does not answer")
            return
        try:
            self._ask(ticket.question.send(answer), ticket.address)
        except StopIteration as over:
            self._take(over.value, now)
            self._go_online(f"the slave at {ticket.address} has told how far it went")
        except AerobeeError as error:
            self._fail(ticket.address, str(error))

    def _fail(self, address: str, why: str) -> None:
        self._question = None
        _log.warning("not online yet: the slave at %s does not say how far it is: %s", address, why)

    def _go_online(self, reason: str) -> None:
        self._is_over = True
        self._outbox.append(Rebuild(f"it goes online: {reason}"))


def _listed(slaves: Members) -> str:
    return ", ".join(f"{number} at {address}" for number, address in slaves.items())
