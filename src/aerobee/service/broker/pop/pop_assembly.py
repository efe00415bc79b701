"""Puts POP together: handlers, held pops, acknowledgements, and the work done on ticks.

Imports more than 15 modules because it puts the others together.
"""

from collections import deque

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.headers.popping import ANY_QUEUE
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.log_access.cold_reads import ColdReads
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.membership.assignment_handlers import AssignmentHandlers
from aerobee.service.broker.membership.request_mode_handlers import RequestModeHandlers
from aerobee.service.broker.pop.ack.ack_handlers import AckHandlers
from aerobee.service.broker.pop.ack.invisible_time_handlers import InvisibleTimeHandlers
from aerobee.service.broker.pop.pop_fast_path import Outlets, PopFastPath
from aerobee.service.broker.pop.pop_metrics import PopMetrics
from aerobee.service.broker.pop.pop_parts import Clockwork, PopParts
from aerobee.service.broker.pop.take.held_pops import HeldPops
from aerobee.service.broker.pop.take.pop_checks import PopChecks
from aerobee.service.broker.pop.take.pop_handlers import PopHandlers
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Ground, Tables
from aerobee.service.live_config import LiveConfig
from aerobee.service.topic_routes import TopicRoutes

REST_MS_MAX = 200


class PopAssembly:
    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        tables: Tables,
        ground: Ground,
        writer: MessageWriter,
        timers: Clockwork,
        outlets: Outlets,
        now: Now,
    ) -> None:
        """CorruptFile: one of its files is damaged."""
        parts = PopParts(identity, tables, ground, writer, timers, lambda: config.current, now)
        self._identity = identity
        self._tables = tables
        self._store = ground.store
        self._parts = parts
        self.shown = PopMetrics(parts.log, parts.reviving, parts.retry_writer, parts.in_flight)
        self._held = HeldPops()
        self.withdraw = self._held.drop
        self._checks = PopChecks(
            tables.topics,
            tables.groups,
            parts.queues,
            config,
            tables.subscription_filters,
            lambda: timers.is_enabled,
            parts.revive_queue_count,
        )
        self.fast_path = PopFastPath(
            parts, ground.store, tables.topics, self._checks, writer, outlets
        )
        parts.pop_walk.count_out = outlets.count_out
        self._pops = PopHandlers(
            self._checks,
            parts.pop_walk,
            self._held,
            ColdReads(ground.store, ground.worker),
            self.fast_path.learn_pop,
        )
        self._acks = AckHandlers(
            self._checks,
            parts.ack_writer,
            parts.offsets,
            parts.orders,
            self._pops.wake,
            self.fast_path.fast_ack.learn,
        )
        self.checks = self._checks
        self.ack_writer = parts.ack_writer
        self.refuse_waiting = self._pops.refuse_waiting
        self._arrived: deque[tuple[bytes, int]] = deque()
        self.take_unstored = parts.take_unstored
        self.modes = parts.modes
        """Whether groups pull or pop, by topic."""

    def rows(self, routes: TopicRoutes) -> list[Row]:
        parts, tables = self._parts, self._tables
        times = InvisibleTimeHandlers(
            self._checks, parts.ack_writer, parts.orders, parts.log, parts.in_flight
        )
        modes = RequestModeHandlers(parts.modes, tables.topics, tables.groups)
        assignments = AssignmentHandlers(
            self._identity.name, tables.topics, tables.consumers, parts.modes, routes
        )
        return [
            *self._pops.rows(),
            *self._acks.rows(),
            *times.rows(),
            *modes.rows(),
            *assignments.rows(),
        ]

    def forget_topic(self, topic: str) -> None:
        """A topic was deleted: forget positions, orders and checkpoints of pops in it, because a
        new topic of the same name has other messages."""
        self._parts.offsets.forget_topic(topic)
        self._parts.orders.forget_topic(topic)
        self._parts.in_flight.forget_topic(topic)

    # A turn of the loop.

    def on_round(self, now: Now) -> None:
        """The reads of this turn are over: their acknowledgements go into the log together."""
        self._parts.ack_writer.settle(now)

    def note_arrival(self, topic: bytes, queue_id: int) -> None:
        """A queue got messages."""
        if self._held.has_topic(topic):
            self._arrived.append((topic, queue_id))

    def on_visible(self, now: Now) -> None:
        """Appended messages can be read: run the pops that wait for them."""
        while self._arrived:
            self._pops.arrived(*self._arrived.popleft(), now)

    def on_tick(self, now: Now) -> None:
        parts = self._parts
        parts.ack_writer.settle(now)
        parts.offsets.commit_safe(self._store.confirmation.lasting_offset)
        parts.revive_queues.on_tick(now)
        for group, topic, queue_id in parts.orders.take_free(now.wall_ms):
            for waiting in (queue_id, ANY_QUEUE):
                self._pops.wake((topic, group, waiting), now)
        self._pops.expire(now)
        parts.orders.saving.on_tick(now)

    def rest_ms(self, now: Now) -> int:
        """The time until something is due."""
        due_ms = self._held.next_due_ms()
        free_ms = self._parts.orders.ms_to_free(now.wall_ms)
        return min(
            REST_MS_MAX,
            self._parts.revive_queues.rest_ms(now),
            REST_MS_MAX if due_ms is None else max(0, due_ms - now.monotonic_ms),
            REST_MS_MAX if free_ms is None else free_ms,
        )

    def drop_channel(self, channel: ChannelId) -> None:
        self._held.drop_channel(channel)
        self.fast_path.drop_channel(channel)

    def stop(self, now: Now) -> None:
        """Commit offsets that are safe, and save the order info. Blocks on the disk."""
        self._parts.ack_writer.settle(now)
        self._parts.offsets.commit_safe(self._store.confirmation.lasting_offset)
        self._parts.revive_queues.stop(now)
        self._parts.orders.saving.close(now)
