"""Takes sends from a connection, steps the store, and sends answers out when the mode allows.

Answers go out with the read that brought their sends, unless the mode promises more: then they wait
until the disk (SYNC_FLUSH), enough slaves (SYNC_MASTER), or both have their messages. A sync begins
as soon as a read is over, and sends that arrive meanwhile share the next one.
"""

from collections.abc import Callable
from typing import TypeAlias, cast

from aerobee.errors import DiskFailed
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, CloseChannel, Effects, Write
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.send.fast_send import FastSend
from aerobee.service.broker.send.pending_answers import AnswersInWait, PendingAnswers
from aerobee.storage.store import Store

ANSWERS_BYTES_MAX = 64 * 1024 * 1024  # of answers that wait; beyond, sends take the general path

Took: TypeAlias = Callable[[int, int], None]
"""Called with (ms that each request took, number of requests)."""


class SendPath:
    def __init__(
        self,
        plain: FastSend,
        store: Store,
        answers: SafeAnswers,
        outbox: Effects,
        took: Took,
    ) -> None:
        self._plain = plain
        self._store = store
        self._safe_answers = answers
        # Fixed for the life of a broker: who does not wait need not ask.
        self._is_later = answers.are_later
        self._outbox = outbox
        self._answers = ReplyBuffer()
        self._in_wait = AnswersInWait()
        self._took = took
        # The part of `answered` whose times are reported, or will be when the disk has them.
        self._noted = 0

    def take(
        self,
        channel: ChannelId,
        born_host: bytes,
        frames: FrameReader,
        output: ReplyBuffer,
        now: Now,
    ) -> bool:
        """See `FastService.take`."""
        if not self._is_later:
            return self._plain.take_all(frames, output, born_host, now)
        if self._in_wait.size > ANSWERS_BYTES_MAX:
            return True
        try:
            return self._plain.take_all(frames, self._answers, born_host, now)
        finally:
            # Also when a frame breaks the protocol: answers to frames before it are sent.
            self._hold_back(channel, now)

    def _hold_back(self, channel: ChannelId, now: Now) -> None:
        if self._answers.position:
            self._in_wait.add(
                PendingAnswers(
                    channel,
                    self._store.end_offset,
                    self._answers.take(),
                    self._safe_answers.deadline_ms(now),
                    self._take_count(),
                    now.monotonic_ms,
                )
            )

    def _take_count(self) -> int:
        """The number of requests answered since the last call."""
        answered = self._plain.answered
        count, self._noted = answered - self._noted, answered
        return count

    def end_round(self, now: Now, took_ms: int) -> None:
        """Reads are over for this turn of the loop. If answers wait, begin a sync; else they are
        out: report their times."""
        if self._is_later:
            self._store.flush_soon(now)
        elif self._plain.answered != self._noted:
            self._took(took_ms, self._take_count())

    def step(self, now: Now) -> DiskFailed | None:
        """Step the store and send the answers that waited for it. Returns the disk failure that
        ends the store, if there is one."""
        result = self._store.step(now)
        self._tell(result.safe, True)
        self.release(now)
        self._tell(result.failed, False)
        for pending in self._in_wait.take_late(now.monotonic_ms):
            code = self._safe_answers.late_code(pending.end_offset)
            self._outbox.append(Write(pending.channel, pending.as_unsafe(code)))
        self._safe_answers.on_tick(now)
        failure = self._store.failure
        if failure is not None:
            self._give_up()
        return failure

    def release(self, now: Now) -> None:
        """Send the answers whose messages are confirmed by now."""
        self._tell(self._store.confirmation.take_released(), True)
        for pending in self._in_wait.take_confirmed(self._store.confirmation.confirmed_offset):
            self._outbox.append(Write(pending.channel, pending.answers))
            self._took(now.monotonic_ms - pending.since_ms, pending.requests)

    def _tell(self, tickets: list[object], is_safe: bool) -> None:
        for ticket in tickets:
            cast(Callable[[bool], None], ticket)(is_safe)

    def _give_up(self) -> None:
        """Close the connections of sends that still wait: they must not be answered with
        success."""
        while self._in_wait:
            for pending in self._in_wait.take_late(1 << 62):
                self._outbox.append(CloseChannel(pending.channel, "the disk failed"))

    def waiting(self) -> int:
        """The number of sends that wait for the disk."""
        return self._in_wait.requests()

    def is_busy(self) -> bool:
        """Whether part of the log is not synced yet."""
        return self._store.flushed_offset < self._store.end_offset
