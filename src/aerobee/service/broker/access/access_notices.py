"""AccessNotices tells name servers the users and rules of this broker, so that they know who may
ask for routes.

    every PROBE_MS, and when the table has changed     is the table of this digest known?
    it is not                                          the table, secrets sealed

Only masters tell, and only if they have the brokers' own user, whose secret seals the table.
"""

import hashlib
import logging
from collections.abc import Sequence
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_store import AccessStore
from aerobee.service.access.table_text import SealedTable
from aerobee.service.broker.config import BrokerIdentity

_log = logging.getLogger(__name__)

PROBE_MS = 2_000
TIMEOUT_MS = 3_000


class _Ticket(NamedTuple):
    address: str
    is_whole: bool
    epoch: int


class _Told:
    """What one name server is known to know."""

    __slots__ = ("due_ms", "epoch", "is_asking", "is_refusing")

    def __init__(self) -> None:
        self.is_asking = False
        self.epoch = -1
        self.due_ms = 0
        self.is_refusing = False


class AccessNotices:
    def __init__(
        self,
        identity: BrokerIdentity,
        store: AccessStore | None,
        addresses: Sequence[str],
        outbox: Effects,
    ) -> None:
        inner = identity.access.inner
        self._identity = identity
        self._outbox = outbox
        self._table: SealedTable | None = None
        self._told: dict[str, _Told] = {}
        if store is not None and inner is not None and identity.is_master:
            self._table = SealedTable(store.accounts, inner)
            self._told = {address: _Told() for address in addresses}
        self._text = b""
        self._text_epoch = -1
        self._digest = ""

    def on_tick(self, now: Now) -> None:
        if not self._told or self._table is None:
            return
        epoch = self._table.epoch
        if epoch != self._text_epoch:
            self._text = self._table.text()
            self._digest = hashlib.sha256(self._text).hexdigest()
            self._text_epoch = epoch
        for address, told in self._told.items():
            is_news = told.epoch != epoch and not told.is_refusing
            if not told.is_asking and (is_news or now.monotonic_ms >= told.due_ms):
                self._ask(address, told, b"", now)

    def rest_ms(self, now: Now) -> int:
        """The time until the next question, unless something changes."""
        dues = [told.due_ms for told in self._told.values() if not told.is_asking]
        return max(0, min(dues) - now.monotonic_ms) if dues else PROBE_MS

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a question; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        told = self._told[ticket.address]
        told.is_asking = False
        if answer is None or answer.code != ResponseCode.SUCCESS:
            if answer is not None and not told.is_refusing:
                _log.warning(
                    "a name server does not take users and rules: %s",
                    answer.remark or f"code {answer.code}",
                    extra={"address": ticket.address},
                )
            told.is_refusing = True
            return
        told.is_refusing = False
        if ticket.is_whole or answer.ext_fields.get("known") == "true":
            told.epoch = ticket.epoch
        elif ticket.epoch == self._text_epoch:
            self._ask(ticket.address, told, self._text, now)

    def _ask(self, address: str, told: _Told, body: bytes, now: Now) -> None:
        told.is_asking = True
        told.due_ms = now.monotonic_ms + PROBE_MS
        fields = {
            "clusterName": self._identity.cluster,
            "brokerName": self._identity.name,
            "digest": self._digest,
        }
        command = RemotingCommand(RequestCode.TELL_ACCESS, ext_fields=fields, body=body)
        ticket = _Ticket(address, bool(body), self._text_epoch)
        self._outbox.append(Dial(address, command, TIMEOUT_MS, ticket))
