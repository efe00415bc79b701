"""Takes sends from a connection, steps the store, and sends answers out when the flush mode allows.

ASYNC_FLUSH: answers go out with the read that brought their sends. SYNC_FLUSH: they wait until the
disk has their messages; a sync begins as soon as a read is over, and sends that arrive meanwhile
share the next one.
"""

from collections.abc import Callable
from typing import TypeAlias, cast

from aerobee.errors import DiskFailed
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, CloseChannel, Effects, Write
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.send.fast_send import FastSend
from aerobee.service.broker.send.pending_answers import AnswersInWait, PendingAnswers
from aerobee.service.live_config import LiveConfig
from aerobee.storage.config import FlushMode
from aerobee.storage.store import Store

ANSWERS_BYTES_MAX = 64 * 1024 * 1024  # of answers that wait; beyond, sends take the general path

Took: TypeAlias = Callable[[int, int], None]
"""Called with (ms that each request took, number of requests)."""


class SendPath:
    def __init__(
        self,
        plain: FastSend,
        store: Store,
        flush_mode: FlushMode,
        config: LiveConfig[BrokerConfig],
        outbox: Effects,
        took: Took,
    ) -> None:
        self._plain = plain
        self._store = store
        self._is_sync = flush_mode is FlushMode.SYNC
        self._config = config
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
        if not self._is_sync:
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
            deadline_ms = now.monotonic_ms + self._config.current.sync_timeout_ms
            self._in_wait.add(
                PendingAnswers(
                    channel,
                    self._store.end_offset,
                    self._answers.take(),
                    deadline_ms,
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
        """Reads are over for this turn of the loop. SYNC_FLUSH: begin a sync. ASYNC_FLUSH: the
        answers are out, report their times."""
        if self._is_sync:
            self._store.flush_soon(now)
        elif self._plain.answered != self._noted:
            self._took(took_ms, self._take_count())

    def step(self, now: Now) -> DiskFailed | None:
        """Step the store and send the answers that waited for it. Returns the disk failure that
        ends the store, if there is one."""
        result = self._store.step(now)
        for pending in self._in_wait.take_flushed(self._store.flushed_offset):
            self._outbox.append(Write(pending.channel, pending.answers))
            self._took(now.monotonic_ms - pending.since_ms, pending.requests)
        for ticket in result.durable:
            cast(Callable[[bool], None], ticket)(True)
        for ticket in result.failed:
            cast(Callable[[bool], None], ticket)(False)
        for pending in self._in_wait.take_late(now.monotonic_ms):
            self._outbox.append(Write(pending.channel, pending.as_unsafe()))
        failure = self._store.failure
        if failure is not None:
            self._give_up()
        return failure

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
