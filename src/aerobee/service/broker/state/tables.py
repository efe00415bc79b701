"""Opens the tables of a broker from its files: `config/*.json` in its store.

    topics.json               topics
    topicQueueMapping.json    queues of static topics
    subscriptionGroup.json    groups
    consumerOffset.json       committed offsets
    delayOffset.json          offsets of the delay levels
    progressMarks.json        how far the broker's own features were in a shorter log
    producerEpochs.json       epochs of producers
    stagedRounds.json         rounds of staged batches that were decided
    producerSequences.json    stored sequences of producers
    consumerFilter.json       SQL filters, for an Apache broker that gets the store

Tables of connected clients are in memory only.

Imports more than 15 modules because every table is opened here.
"""

import logging
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.clients.queue_locks import QueueLocks
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.deduplication.deduplication_assembly import (
    DeduplicationAssembly,
    open_deduplication,
)
from aerobee.service.broker.state.consumer_filter_file import ConsumerFilterFile
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.consumer_offsets_file import ConsumerOffsetsFile
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.progress_marks import ProgressMarks
from aerobee.service.broker.state.staged_rounds import StagedRounds
from aerobee.service.broker.state.subscription_filter import SubscriptionFilters
from aerobee.service.broker.state.topics import Topics, open_topics
from aerobee.service.live_config import LiveConfig
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)


class Ground(NamedTuple):
    """The store, the disk and the disk worker of a broker."""

    store: Store
    disk: Disk
    worker: DiskWorker

    def config_file(self, name: str) -> ConfigFile:
        return ConfigFile(self.disk, f"{self.store.root}/config/{name}")


class Tables(NamedTuple):
    topics: Topics
    groups: Groups
    offsets: ConsumerOffsets
    offsets_file: ConsumerOffsetsFile
    delay_offsets: DelayOffsets
    progress_marks: ProgressMarks
    consumers: Consumers
    producers: Producers
    locks: QueueLocks
    subscription_filters: SubscriptionFilters
    consumer_filters: ConsumerFilterFile
    deduplication: DeduplicationAssembly
    staged_rounds: StagedRounds


def open_tables(
    identity: BrokerIdentity, config: LiveConfig[BrokerConfig], ground: Ground, now: Now
) -> Tables:
    """CorruptFile: one of the files is damaged, and so is its backup."""
    worker = ground.worker
    topics = open_topics(ground.config_file, worker, identity, config, now.wall_ms)
    groups = Groups(ground.config_file("subscriptionGroup.json"), worker, config, now.wall_ms)
    offsets = ConsumerOffsets()
    offsets_file = ConsumerOffsetsFile(
        ground.config_file("consumerOffset.json"),
        worker,
        offsets,
        config.current.offsets_interval_ms,
        now.monotonic_ms,
        lambda: ground.store.end_offset,
    )
    offsets_file.load(
        lambda topic, queue_id: _end_of(ground.store, topic, queue_id),
        lambda topic: ground.store.born_at(topic.encode()),
    )
    for fault in (topics.fault, topics.mappings.fault, groups.fault, offsets_file.fault):
        if fault:
            _log.warning("a backup had to do: %s", fault)
    # Order before speed: a client that lost its connection may still process its messages.
    locks = QueueLocks(gone_ms=30_000)
    consumers = Consumers()
    filters = SubscriptionFilters(consumers, lambda: config.current.allows_sql)
    delays = DelayOffsets(ground.config_file("delayOffset.json"), worker)
    return Tables(
        topics,
        groups,
        offsets,
        offsets_file,
        delays,
        ProgressMarks(
            ground.config_file("progressMarks.json"),
            ground.disk,
            worker,
            ground.store,
            delays,
            offsets,
            offsets_file,
            now,
        ),
        consumers,
        Producers(),
        locks,
        filters,
        ConsumerFilterFile(
            ground.config_file("consumerFilter.json"),
            worker,
            consumers,
            filters.cache,
            now.monotonic_ms,
        ),
        open_deduplication(
            ground.config_file("producerEpochs.json"),
            ground.config_file("producerSequences.json"),
            worker,
            ground.store,
            now,
        ),
        StagedRounds(ground.config_file("stagedRounds.json"), worker),
    )


def _end_of(store: Store, topic: str, queue_id: int) -> int:
    queue = store.queue(topic.encode(), queue_id)
    return queue.max_offset if queue is not None else 0
