"""AccessCopy: a slave's users and rules are its master's, half a second later. A question that was
refused or not answered is asked again after the same time.

They are not held until the log is there, as other tables are: whoever was refused is refused here,
too, however far behind this slave is.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from aerobee.errors import AerobeeError
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.headers.replicating import NO_CRC
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.access_store import AccessStore
from aerobee.service.access_questions import CopiedAccess, sealed_table
from aerobee.service.question import Question

_log = logging.getLogger(__name__)

LOOK_MS = 500
RETRY_MS = LOOK_MS
TIMEOUT_MS = 5_000


class _Ticket(NamedTuple):
    question: Question[CopiedAccess | None]


class AccessCopy:
    """At most one request is under way."""

    def __init__(
        self, store: AccessStore, key: bytes, master: Callable[[], str], outbox: Effects
    ) -> None:
        """`key` is that of what brokers send each other, `master` the master's address, empty if
        it is not known."""
        self._store = store
        self._key = key
        self._master = master
        self._outbox = outbox
        self._address = ""
        self._question: Question[CopiedAccess | None] | None = None
        self._crc = NO_CRC
        self._due_ms = 0
        self._failure = ""

    def on_tick(self, now: Now) -> None:
        address = self._master()
        if address != self._address:
            self._address, self._question, self._crc = address, None, NO_CRC
            self._due_ms = now.monotonic_ms
        if address and self._question is None and now.monotonic_ms >= self._due_ms:
            self._question = sealed_table(self._key, self._crc)
            self._ask(self._question, next(self._question))

    def rest_ms(self, now: Now) -> int:
        return LOOK_MS if self._question else max(0, self._due_ms - now.monotonic_ms)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        question = self._question
        if not isinstance(ticket, _Ticket) or ticket.question is not question or question is None:
            return
        if answer is None:
            self._fail("it does not answer", now)
            return
        try:
            self._ask(question, question.send(answer))
        except StopIteration as over:
            self._question = None
            self._due_ms = now.monotonic_ms + LOOK_MS
            self._take(over.value)
        except AerobeeError as error:
            self._fail(str(error), now)

    def stop(self) -> None:
        """Drop the question that is under way: nobody waits for its answer any more."""
        self._question = None
        self._due_ms = 1 << 62

    def _take(self, copied: CopiedAccess | None) -> None:
        self._failure = ""
        if copied is None:
            return
        table, crc = copied

        def saved(error: BaseException | None) -> None:
            if error is None:
                self._crc = crc
            else:
                _log.error("the master's users were not saved; they are copied again: %s", error)

        self._store.take_over(table, saved)

    def _ask(self, question: Question[CopiedAccess | None], command: RemotingCommand) -> None:
        self._outbox.append(Dial(self._address, command, TIMEOUT_MS, _Ticket(question)))

    def _fail(self, why: str, now: Now) -> None:
        if self._failure != why:
            self._failure = why
            _log.warning(
                "the master's users cannot be copied now: %s",
                why,
                extra={"address": self._address},
            )
        self._question = None
        self._due_ms = now.monotonic_ms + RETRY_MS
