"""Check-back: asks producers for the state of open transactions, and gives up those without an
answer.

    due ─┬─ asked as often as allowed, or too old ─▶ given up
         ├─ a producer of its group is connected ─▶ the half is stored again, and when that is safe
         │                                          the producer is asked about it
         └─ none is, or all are at their limit ─▶ waits

Laws:

- A check is counted when it is sent to a producer. While none can be asked nothing is written.
- No storms: a tick sends a bounded number of checks, a connection gets a bounded number a second,
  the connections of a group by turns; further ones wait, in their order.
- A half that stays open while thousands behind it have ended is stored again at the end of the
  queue, without a check, so that a start has little to read. At least four times as many as open
  ones have to lie behind it: moving all of them adds at most a third to the writes. So is one in
  the oldest quarter of the log, before a full disk removes it.

Called from the core's thread only.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from aerobee.errors import (
    CorruptRecord,
    MessageIllegal,
    NothingTaken,
    ProtocolError,
    StorageError,
)
from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.real_topic import RealPlace, find_real_place
from aerobee.service.broker.transaction.askable_producers import AskableProducers
from aerobee.service.broker.transaction.check_request import check_request
from aerobee.service.broker.transaction.given_up_topic import GivenUpTopic
from aerobee.service.broker.transaction.half_timing import HalfTiming
from aerobee.service.broker.transaction.ledger import Ledger
from aerobee.service.broker.transaction.open_halves import Half

_log = logging.getLogger(__name__)

CHECKS_A_TICK = 32
BYTES_A_TICK = 1 << 20
LOOKS_A_TICK = 1_000
GROUPS_A_LOOK = 200
LOOK_MS_MAX = 200
RETRY_MS = 100
UNREAD_MAX = 20_000
"""Number of halves that a start may have to read before the oldest is moved."""
_UNSTORABLE_MS = 600_000


class CheckBack:
    def __init__(
        self,
        ledger: Ledger,
        timing: HalfTiming,
        writer: MessageWriter,
        askable: AskableProducers,
        given_up_topic: GivenUpTopic,
        broker_name: str,
        outbox: Effects,
        unread_max: int = UNREAD_MAX,
    ) -> None:
        self._ledger = ledger
        self._timing = timing
        self._writer = writer
        self._askable = askable
        self._given_up_topic = given_up_topic
        self._broker_name = broker_name
        self._outbox = outbox
        self._unread_max = unread_max
        self._look_ms = 0
        self._refusal = ""
        self._count_left = 0
        self._bytes_left = 0
        # Since the start.
        self.asked = 0
        self.given_up = 0

    def on_tick(self, now: Now) -> None:
        if now.monotonic_ms < self._look_ms:
            return
        self._count_left, self._bytes_left = CHECKS_A_TICK, BYTES_A_TICK
        try:
            self._look(now)
        except NothingTaken as error:
            self._look_ms = now.monotonic_ms + RETRY_MS
            self._note_refusal(error)
        else:
            self._refusal = ""
            self._look_ms = now.monotonic_ms + self._wait_ms(now)

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed."""
        return max(0, self._look_ms - now.monotonic_ms)

    def _wait_ms(self, now: Now) -> int:
        if not self._has_left:
            return 0
        due_ms = self._ledger.halves.next_due_ms()
        if due_ms is None:
            return LOOK_MS_MAX
        return max(0, min(LOOK_MS_MAX, due_ms - now.monotonic_ms))

    @property
    def _has_left(self) -> bool:
        """Whether this tick may do more."""
        return self._count_left > 0 and self._bytes_left > 0

    def _look(self, now: Now) -> None:
        halves = self._ledger.halves
        self._askable.look(now)
        # Halves that waited are older.
        for group in halves.waiting_groups(GROUPS_A_LOOK):
            self._ask_waiting(group, now)
        for _ in range(LOOKS_A_TICK):
            half = halves.take_due(now.monotonic_ms) if self._has_left else None
            if half is None:
                break
            self._look_at(half, now)
        self._move_oldest(now)

    def _ask_waiting(self, group: str, now: Now) -> None:
        for half in self._ledger.halves.waiting_in(group, self._count_left):
            channel = self._askable.take(group) if self._has_left else None
            if channel is None:
                break
            self._ask(half, channel, now)

    def _look_at(self, half: Half, now: Now) -> None:
        if half.times >= self._timing.times_max or now.monotonic_ms >= half.expiry_ms:
            self._give_up(half, now)
            return
        channel = self._askable.take(half.group)
        if channel is None:
            self._ledger.halves.let_wait(half)
        else:
            self._ask(half, channel, now)

    # One half.

    def _ask(self, half: Half, channel: ChannelId, now: Now) -> None:
        message = self._read(half, now)
        if message is None:
            return
        place = find_real_place(message.properties)
        if place is None:
            _log.error("a half message does not say where it belongs: queue offset %d", half.offset)
            self._give_up(half, now)
            return
        try:
            self._renew_and_ask(half, message, place, channel, now)
        except (MessageIllegal, ProtocolError) as error:
            # Its properties are too long with the check count added.
            _log.error("a half message cannot be stored again: %s", error)
            self._give_up(half, now)

    def _renew_and_ask(
        self, half: Half, message: StoredMessage, place: RealPlace, channel: ChannelId, now: Now
    ) -> None:
        with self._again_if_refused(half, now):
            copy, end_offset = self._ledger.renew(half, message, half.times + 1, now)
        question = check_request(copy, place, self._broker_name)
        self.asked += 1

        def safe(is_safe: bool) -> None:
            if is_safe:
                self._outbox.append(Reply(channel, question))

        # Not before: the answer names the copy by its offset.
        self._writer.when_safe(end_offset, safe)

    def _give_up(self, half: Half, now: Now) -> None:
        if not self._given_up_topic.is_there(now):
            self._ledger.halves.postpone(half, now.monotonic_ms + RETRY_MS)
            return
        message = self._read(half, now)
        if message is None:
            return
        try:
            with self._again_if_refused(half, now):
                self._ledger.give_up(half, message, now)
        except (MessageIllegal, ProtocolError) as error:
            _log.error("a transaction cannot be given up: queue offset %d: %s", half.offset, error)
            self._ledger.halves.postpone(half, now.monotonic_ms + _UNSTORABLE_MS)
            return
        self.given_up += 1
        _log.warning(
            "a transaction was given up: group %s, id %s, asked %d times",
            half.group,
            message.unique_id,
            half.times,
        )

    def _move_oldest(self, now: Now) -> None:
        """Store the oldest halves again at the end of the queue, so that a start has little to read
        and none is removed with the oldest log files."""
        ledger = self._ledger
        while self._has_left:
            half = ledger.oldest()
            if half is None:
                break
            unread_max = max(self._unread_max, 4 * len(ledger.halves))
            if ledger.unread_from(half) <= unread_max and not ledger.is_old(half):
                break
            message = self._read(half, now)
            if message is None:
                break
            due_ms, is_waiting = half.due_ms, half.is_waiting
            try:
                ledger.renew(half, message, half.times, now)
            except (MessageIllegal, ProtocolError):
                self._give_up(half, now)
                break
            if is_waiting:
                ledger.halves.let_wait(half)
            else:
                ledger.halves.postpone(half, due_ms)

    def _read(self, half: Half, now: Now) -> StoredMessage | None:
        """The message of a half. None: it cannot be read now; the half is postponed or dropped."""
        self._count_left -= 1
        try:
            message = self._ledger.read(half)
        except (CorruptRecord, ProtocolError) as error:
            _log.error("a half message is lost: queue offset %d: %s", half.offset, error)
            self._ledger.drop(half)
            return None
        if message is not None:
            self._bytes_left -= message.store_size
        elif self._ledger.is_gone(half):
            _log.error(
                "a transaction was open when its log file was removed: group %s, queue offset %d: "
                "the log is kept for too short a time, or the disk is full",
                half.group,
                half.offset,
            )
            self._ledger.drop(half)
        else:
            self._ledger.halves.postpone(half, now.monotonic_ms + RETRY_MS)
        return message

    @contextmanager
    def _again_if_refused(self, half: Half, now: Now) -> Iterator[None]:
        """Make the half due again if the store refuses the write."""
        try:
            yield
        except NothingTaken:
            self._ledger.halves.postpone(half, now.monotonic_ms + RETRY_MS)
            raise

    def _note_refusal(self, error: StorageError) -> None:
        if self._refusal != error.message:
            self._refusal = error.message
            _log.warning("producers are asked about their transactions later: %s", error)
