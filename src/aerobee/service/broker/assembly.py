"""Puts a broker together: its rooms and the request table.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Sequence
from functools import partial

from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.service.broker.access.access_assembly import AccessAssembly
from aerobee.service.broker.admin.admin_assembly import admin_rows
from aerobee.service.broker.admin.topic.topic_cleanup import set_cleanup
from aerobee.service.broker.admin.topic.topic_deletion import delete_messages
from aerobee.service.broker.broker import Broker
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.duties_assembly import duties_of
from aerobee.service.broker.membership.membership_assembly import membership_rows
from aerobee.service.broker.metrics.pending_metrics import PendingMetrics
from aerobee.service.broker.parts import Parts, build_parts
from aerobee.service.broker.request_table import Reception, RequestTable, request_table
from aerobee.service.broker.staging.round_publishing import RoundPublishing
from aerobee.service.broker.staging.staging_handlers import StagingHandlers
from aerobee.service.broker.state.tables import Ground
from aerobee.service.broker.static_topic.static_topic_assembly import StaticTopicAssembly
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store


def build_broker(
    identity: BrokerIdentity,
    config: LiveConfig[BrokerConfig],
    store: Store,
    disk: Disk,
    worker: DiskWorker,
    addresses: Sequence[str],
    now: Now,
) -> Broker:
    """`addresses` are the name servers to register with. CorruptFile: one of its files is
    damaged."""
    ground = Ground(store, disk, worker)
    parts = build_parts(identity, config, ground, addresses, now)
    access = AccessAssembly(identity, store, ground.config_file, worker, addresses, parts.outbox)
    parts.replication.access.share(access.store, parts.replication.side.master, access.audit)
    waiting = (parts.pulls.refuse_waiting, parts.pops.refuse_waiting)
    access.when_revoked(parts.peers.by_channel, waiting)
    tables = parts.tables
    known = tables.deduplication.known
    publishing = RoundPublishing(
        tables.staged_rounds, store, parts.sends.writer, known, parts.sends.once.store
    )
    parts.replication.copy_metadata(
        tables, ground, parts.pops.modes.take_over, partial(set_cleanup, store), now
    )
    timers = parts.timers.timers
    parts.replication.watch(
        parts.delays.safe_offsets, timers.progress, parts.pops.modes, access.store
    )
    if identity.takes_messages:
        # Before requests are served: a round is visible whole or not at all.
        publishing.finish_decided(now)
    pending = PendingMetrics(
        parts.pulls.held,
        lambda: len(parts.transactions.ledger.halves),
        lambda: timers.delivered,
        timers.behind_ms,
        parts.sends.path.waiting,
        parts.pulls.cold_reads,
        parts.transactions.outcomes,
    )
    static_topics = StaticTopicAssembly(identity, tables.topics, parts.cluster.routes, parts.outbox)
    replicas = parts.watching.of_replicas(parts.replication.side.status)
    name_servers = (addresses, parts.cluster.registration.strangers)
    reception = Reception(
        access.gate,
        _table(identity, config, ground, parts, publishing, access, static_topics, now),
        parts.peers.by_channel,
        access.guarded(
            parts.sends.fast_send,
            parts.pulls.fast_pull,
            parts.pops.fast_path.pops,
            parts.pops.fast_path.fast_ack,
        ),
        access.audit,
        config.current.limits,
        parts.watching.statistics.find_flow,
    )
    config.when_changed(lambda before, after: reception.limits.set(after.limits))
    of_limits = reception.limits.metrics
    providers = (pending.metrics, parts.pops.shown.metrics, replicas, of_limits)
    calls = (reception, config.current.body_bytes_max)
    return Broker(
        parts.sends.path,
        parts.pulls,
        parts.replication.only_on_master(parts.pops.fast_path),
        reception,
        parts.peers,
        duties_of(identity, parts, store, publishing, access, static_topics, calls),
        parts.outbox,
        access.guarded_watch(parts.watching.watch(name_servers, providers, now)),
    )


def _table(
    identity: BrokerIdentity,
    config: LiveConfig[BrokerConfig],
    ground: Ground,
    parts: Parts,
    publishing: RoundPublishing,
    access: AccessAssembly,
    static_topics: StaticTopicAssembly,
    now: Now,
) -> RequestTable:
    tables, store = parts.tables, ground.store
    round_completion = tables.deduplication.round_completion
    asked = (parts.calls, parts.watching.statistics, parts.cluster.registration.when_told)
    delete = partial(delete_messages, store, round_completion, parts.pops.forget_topic)
    staging = StagingHandlers(
        tables.topics, parts.sends.writer, publishing, config.current.body_bytes_max
    )
    rows = [
        *parts.sends.rows(parts.calls, parts.transactions.ledger),
        *tables.deduplication.rows(tables.topics.queues_of),
        *staging.rows(),
        *parts.transactions.rows(),
        *parts.pulls.rows(),
        *parts.pops.rows(parts.cluster.routes),
        *membership_rows(tables, store, parts.lifecycle, parts.peers),
        *admin_rows(identity, tables, store, *asked, delete),
        *parts.status.rows(config, parts.delays, is_active=identity.is_master),
        *parts.timers.rows(),
        *access.rows(),
    ]
    rows = static_topics.rows(rows, parts.cluster.registration.when_told)
    return request_table(parts.replication.rows(rows, tables, ground, now))
