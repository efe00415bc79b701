"""Opens everything that POP keeps over one store: offsets, order info, checkpoints, revive queues.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Callable
from typing import Protocol

from aerobee.model.message import unpack_host
from aerobee.model.names import TIMER_TOPIC, revive_topic
from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.membership.request_modes import RequestModes
from aerobee.service.broker.pop.ack.ack_writer import AckWriter
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.offset_catch_up import catch_up
from aerobee.service.broker.pop.revive.retry_copy import Origin
from aerobee.service.broker.pop.revive.retry_writer import RetryTables, RetryWriter
from aerobee.service.broker.pop.revive.revive_queue import Over, ReviveQueue, UnstoredRecord
from aerobee.service.broker.pop.revive.revive_queues import ReviveQueues
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from aerobee.service.broker.pop.take.handout import Handout
from aerobee.service.broker.pop.take.order_info_table import OrderInfoTable
from aerobee.service.broker.pop.take.pop_offsets import PopOffsets
from aerobee.service.broker.pop.take.pop_walk import PopWalk
from aerobee.service.broker.state.tables import Ground, Tables

REVIVE_QUEUES = 8


class Clockwork(Protocol):
    """The part of the timer that POP uses."""

    @property
    def is_enabled(self) -> bool: ...

    @property
    def precision_ms(self) -> int: ...

    def behind_ms(self, now: Now) -> int: ...


class PopParts:
    def __init__(
        self,
        identity: BrokerIdentity,
        tables: Tables,
        ground: Ground,
        writer: MessageWriter,
        timers: Clockwork,
        current: Callable[[], BrokerConfig],
        now: Now,
    ) -> None:
        """`current`: the settings of the moment. CorruptFile: one of its files is damaged."""
        config = current()
        store, worker = ground.store, ground.worker
        topic = revive_topic(identity.cluster)
        catch_up(store, tables.offsets, frozenset({TIMER_TOPIC.encode(), topic.encode()}))
        found = tables.topics.find(topic)
        self.revive_queue_count = found.write_queues if found is not None else REVIVE_QUEUES
        self.queues = QueueFacts(store)
        self.in_flight = InFlight()
        self.offsets = PopOffsets(tables.offsets, self.queues)
        self.log = ReviveWriter(writer, topic, store.config.store_host)
        self.ack_writer = AckWriter(self.log, writer, self.in_flight)
        self.modes = RequestModes(ground.config_file("messageRequestMode.json"), worker)
        self.orders = OrderInfoTable(
            ground.config_file("consumerOrderInfo.json"),
            worker,
            config.offsets_interval_ms,
            lambda group, topic, queue_id: _is_known(tables, group, topic, queue_id),
            now,
        )
        self.orders.forget_gone(self.queues.stored_ms)
        self.pop_walk = PopWalk(
            store,
            self.queues,
            Handout(self.offsets, self.orders, self.log, self.in_flight, identity.name),
            self.revive_queue_count,
            config.pull_bytes_max,
        )
        host = unpack_host(store.config.store_host)
        retry_writer = self.retry_writer = RetryWriter(
            store,
            worker,
            writer,
            RetryTables(
                tables.topics, tables.groups, tables.offsets, lambda: current().separates_retries
            ),
            Origin(host, ":" in host.address),
        )
        self.reviving = [
            ReviveQueue(
                store, tables.offsets, topic.encode(), queue_id, self.in_flight, retry_writer
            )
            for queue_id in range(self.revive_queue_count)
        ]
        self.revive_queues = ReviveQueues(
            store,
            self.reviving,
            lambda now: now.wall_ms - timers.behind_ms(now) - timers.precision_ms,
        )

    def take_unstored(self, queue_id: int, tag: str, body: bytes, over: Over) -> None:
        """An acting master's timer delivered a record for a revive queue."""
        queue = self.reviving[queue_id % len(self.reviving)]
        queue.take_unstored(UnstoredRecord(tag, body, over))


def _is_known(tables: Tables, group: str, topic: str, queue_id: int) -> bool:
    config = tables.topics.find(topic)
    return (
        config is not None
        and queue_id < config.read_queues
        and tables.groups.find(group) is not None
    )
