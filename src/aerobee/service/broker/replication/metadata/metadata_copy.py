"""MetadataCopy copies the master's tables and state files to this slave, again and again.

    at the start of following, every 3 s,
    or when topics or groups have moved                     once the log is there
        round of questions ─▶ snapshot, held ───────────────────────▶ applied

Whether topics or groups have moved is asked ten times a second; not of an Apache master, which has
no request for it.

A snapshot says where the master's log ended behind it. It is held until this slave's log is on the
disk and dispatched to there, and not replaced meanwhile: a slave that is always behind applies
every snapshot late, but applies it. Only if the master was started again (it may have lost the
records that are waited for) a newer one takes its place; that is looked at once a minute.

If the master does not answer, or not validly, the round is dropped, which is logged once, and
another is tried. Large tables are copied less often, so that copying takes a small part of the
master's time.

Called from the core's thread only. Requests go to the outbox, one at a time.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple, Protocol

from aerobee.errors import AerobeeError
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.broker_state import BrokerVersions
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.metadata.metadata_round import (
    Known,
    Look,
    MetadataSnapshot,
    copy_all,
    look_again,
)
from aerobee.service.question import Question

_log = logging.getLogger(__name__)

LOOK_MS = 100
COPY_MS = 3_000
COPY_MS_MAX = 60_000
BYTES_A_MS = 100
"""Of answers: a table of 1 MB is copied every 10 s. It takes the master some 20 ms."""
HELD_MS_MAX = 60_000
TIMEOUT_MS = 5_000


class Log(Protocol):
    """The log of this slave."""

    @property
    def flushed_offset(self) -> int: ...

    @property
    def dispatched_offset(self) -> int: ...


class Applying(Protocol):
    """See `SnapshotApplying`."""

    @property
    def is_busy(self) -> bool: ...

    def known(self) -> Known: ...

    def apply(self, snapshot: MetadataSnapshot, address: str) -> None: ...

    def forget_master(self) -> None: ...


class _Round:
    """A look at a master that is under way."""

    __slots__ = ("address", "answered_bytes", "question")

    def __init__(self, address: str, question: Question[Look]) -> None:
        self.address = address
        self.question = question
        self.answered_bytes = 0


class _Ticket(NamedTuple):
    round: _Round


class _Held(NamedTuple):
    """A snapshot that waits for the log."""

    snapshot: MetadataSnapshot
    address: str
    looked_ms: int
    """When the master was looked at last because of it."""


class MetadataCopy:
    """M1. At most one request is under way, that of `_round`. M2. `_address` is the master that
    `_round` and `_held` are of."""

    def __init__(
        self,
        log: Log,
        applying: Applying,
        master_address: Callable[[], str],
        own_address: str,
        outbox: Effects,
    ) -> None:
        """`master_address` returns the master's remoting address, empty if it is not known."""
        self._log = log
        self._applying = applying
        self._master_address = master_address
        self._own_address = own_address
        self._outbox = outbox
        self._round: _Round | None = None
        self._held: _Held | None = None
        self._address = ""
        # The versions of the last look; None: not known, or the master does not tell them.
        self._seen: BrokerVersions | None = None
        self._asks_state = True
        self._look_ms = 0
        self._copy_ms = 0
        self._failure = ""
        self._is_stopped = False
        self.copied_ms: int | None = None
        """Monotonic time at which a snapshot was applied last; None: none was."""

    def on_tick(self, now: Now) -> None:
        if self._is_stopped:
            return
        address = self._master_address()
        if address not in ("", self._own_address, self._address):
            self._begin_with(address)
        self._apply_held(now)
        if self._round is not None or self._applying.is_busy or now.monotonic_ms < self._look_ms:
            return
        held = self._held
        if held is not None and now.monotonic_ms - held.looked_ms < HELD_MS_MAX:
            return
        if address in ("", self._own_address):
            self._look_ms = now.monotonic_ms + LOOK_MS
            return
        known, seen = self._applying.known(), self._seen
        if seen is None or held is not None or now.monotonic_ms >= self._copy_ms:
            question = copy_all(known, asks_state=self._asks_state)
        else:
            question = look_again(seen, known)
        self._round = _Round(address, question)
        self._ask(next(question))

    def copy_soon(self) -> None:
        """Copy at the next tick, also if the last try failed a moment ago."""
        self._seen = None
        self._look_ms = 0

    def stop(self) -> None:
        """Ask nothing more and apply nothing more, also not what is under way or held."""
        self._round = self._held = None
        self._is_stopped = True

    def go_on(self) -> None:
        """Copy again after a stop."""
        self._is_stopped = False
        self.copy_soon()

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        round_ = self._round
        if not isinstance(ticket, _Ticket) or ticket.round is not round_ or round_ is None:
            return
        if answer is None:
            self._fail("it does not answer", now)
            return
        round_.answered_bytes += len(answer.body)
        try:
            command = round_.question.send(answer)
        except StopIteration as over:
            self._looked(over.value, round_, now)
        except AerobeeError as error:
            self._fail(str(error), now)
        else:
            self._ask(command)

    def rest_ms(self, now: Now) -> int:
        """The time until something is due, unless an answer comes or the log grows."""
        return max(0, self._look_ms - now.monotonic_ms) if self._round is None else LOOK_MS

    def _begin_with(self, address: str) -> None:
        """The master is another one: what was asked of the last, or is held of it, is dropped."""
        self._address = address
        self._round = None
        self._held = None
        self._seen = None
        self._look_ms = 0
        self._asks_state = True
        self._applying.forget_master()

    def _ask(self, command: RemotingCommand) -> None:
        assert self._round is not None
        self._outbox.append(Dial(self._round.address, command, TIMEOUT_MS, _Ticket(self._round)))

    def _looked(self, found: Look, round_: _Round, now: Now) -> None:
        self._round = None
        if self._failure:
            _log.info("the master answers again", extra={"address": round_.address})
            self._failure = ""
        self._seen = found.versions
        self._asks_state = found.versions is not None
        pause_ms = max(COPY_MS, min(COPY_MS_MAX, round_.answered_bytes // BYTES_A_MS))
        # Of a small table every change is copied at once.
        look_ms = max(LOOK_MS, min(COPY_MS, round_.answered_bytes // BYTES_A_MS))
        self._look_ms = now.monotonic_ms + (look_ms if self._asks_state else pause_ms)
        if found.snapshot is not None:
            self._copy_ms = now.monotonic_ms + pause_ms
            self._hold(found.snapshot, round_.address, now)
            self._apply_held(now)

    def _hold(self, snapshot: MetadataSnapshot, address: str, now: Now) -> None:
        held = self._held
        if held is not None and held.snapshot.started_ms == snapshot.started_ms:
            self._held = held._replace(looked_ms=now.monotonic_ms)
            return
        self._held = _Held(snapshot, address, now.monotonic_ms)

    def _apply_held(self, now: Now) -> None:
        held = self._held
        if held is None or self._applying.is_busy:
            return
        log_end = held.snapshot.log_end
        if self._log.flushed_offset >= log_end and self._log.dispatched_offset >= log_end:
            self._held = None
            self._applying.apply(held.snapshot, held.address)
            self.copied_ms = now.monotonic_ms

    def _fail(self, why: str, now: Now) -> None:
        assert self._round is not None
        if self._failure != why:
            self._failure = why
            _log.warning(
                "the master's tables and state files cannot be copied now: %s",
                why,
                extra={"address": self._round.address},
            )
        self._round = None
        self._seen = None
        self._asks_state = True
        self._look_ms = now.monotonic_ms + COPY_MS
