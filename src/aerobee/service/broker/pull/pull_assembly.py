"""Puts the pull room together, and makes appended messages visible.

`settle` dispatches the messages of one turn of the loop to their queues, all at once, and runs the
pulls that wait for these queues.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.headers.pulling import PullHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.cold_reads import ColdReads
from aerobee.service.broker.pull.fast_pull import FastPull
from aerobee.service.broker.pull.held_pulls import HeldPulls, PullPlan
from aerobee.service.broker.pull.pull_checks import PullChecks
from aerobee.service.broker.pull.pull_handlers import PullHandlers, PullOutlets, Suggestion
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Ground, Tables
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.live_config import LiveConfig

REST_MS_MAX = 60_000

Arrival: TypeAlias = Callable[[bytes, int], None]
"""Called with a (topic, queue) that got messages."""
Took: TypeAlias = Callable[[int, int], None]
"""Called with (ms that each pull took, number of pulls)."""


class PullAssembly:
    def __init__(
        self,
        config: LiveConfig[BrokerConfig],
        tables: Tables,
        ground: Ground,
        statistics: Statistics,
        took: Took,
        suggestion: Suggestion,
    ) -> None:
        self._statistics = statistics
        self._took = took
        self._noted = 0  # pulls of the fast path whose times are reported
        self._store = ground.store
        self._held = HeldPulls()
        self._note_arrival: Arrival = lambda topic, queue_id: None
        checks = PullChecks(
            tables.topics, tables.groups, tables.consumers, config, tables.subscription_filters
        )
        self._topics = tables.topics
        self.fast_pull = FastPull(
            *ground.store.fast_path_readers,
            tables.offsets,
            checks.basis,
            lambda: config.current.pull_bytes_max,
            statistics.flow_of,
        )
        self._cold_reads = ColdReads(ground.store, ground.worker)
        self._handlers = PullHandlers(
            ground.store,
            checks,
            tables.offsets,
            self._held,
            self._cold_reads,
            config,
            PullOutlets(self._learn, statistics.count_out, suggestion),
        )

        self.refuse_waiting = self._handlers.refuse_waiting

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer) -> int:
        """See `FastPull.take_all`."""
        return self.fast_pull.take_all(channel, frames, output)

    def recheck(self) -> None:
        """Something was done that may change the decisions about pulls."""
        self.fast_pull.recheck()

    def _learn(self, channel: ChannelId, header: PullHeader, plan: PullPlan) -> None:
        topic = self._topics.find(header.topic)
        # The fast path reads the log, which still has messages that compaction removed. It knows no
        # logical queues.
        is_static = self._topics.mappings.has(header.topic)
        if topic is not None and not topic.is_compacted and not is_static:
            self.fast_pull.learn(channel, header, plan, topic.read_queues)

    def rows(self) -> list[Row]:
        return self._handlers.rows()

    def settle(self) -> None:
        """Dispatch appended messages, as far as the flush mode allows, and run the pulls that wait
        for their queues."""
        touched = self._store.dispatch()
        if touched:
            self._statistics.arrivals.update(touched)
        for queue in touched:
            key = (queue.topic, queue.queue_id)
            if self._held.has(key):
                self._handlers.arrived(key)
            self._note_arrival(*key)

    def end_round(self, took_ms: int) -> None:
        """The reads of this turn are over: report the times of their pulls."""
        answered = self.fast_pull.answered
        if answered != self._noted:
            self._took(took_ms, answered - self._noted)
            self._noted = answered

    def held(self) -> int:
        """The number of pulls that wait for a message."""
        return self._held.count

    def cold_reads(self) -> int:
        """The number of pulls that wait for the disk."""
        return self._cold_reads.count

    def tell_arrivals(self, note: Arrival) -> None:
        """Register a further callback for queues that got messages."""
        self._note_arrival = note

    def on_tick(self, now: Now) -> None:
        self._handlers.expire(now.monotonic_ms)

    def rest_ms(self, now: Now) -> int:
        """The time until the next pull is due."""
        due_ms = self._held.next_due_ms()
        return REST_MS_MAX if due_ms is None else max(0, due_ms - now.monotonic_ms)

    def drop_channel(self, channel: ChannelId) -> None:
        self._held.drop_channel(channel)
        self.fast_pull.drop_channel(channel)
