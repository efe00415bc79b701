"""Puts a broker together: its rooms, the request table, and the duties of the rooms.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.admin.admin_assembly import admin_rows
from aerobee.service.broker.admin.topic.topic_deletion import delete_messages
from aerobee.service.broker.broker import Broker, Duties
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.membership.membership_assembly import membership_rows
from aerobee.service.broker.metrics.pending_metrics import PendingMetrics
from aerobee.service.broker.parts import Parts, build_parts
from aerobee.service.broker.replication.metadata.metadata_assembly import state_rows
from aerobee.service.broker.request_table import RequestTable, request_table
from aerobee.service.broker.staging.round_publishing import RoundPublishing
from aerobee.service.broker.staging.staging_handlers import StagingHandlers
from aerobee.service.broker.state.tables import Ground
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store

REST_MS_MAX = 500  # the longest time between two looks at client calls, members, saves, rates
COMPACTION_REST_MS = 5  # between two steps of compaction: some 200,000 messages a second


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
    tables = parts.tables
    known = tables.deduplication.known
    publishing = RoundPublishing(
        tables.staged_rounds, store, parts.sends.writer, known, parts.sends.once.store
    )
    masters = _MasterDuties()
    if identity.is_master:
        # Before requests are served: a round is visible whole or not at all.
        publishing.finish_decided(now)
        masters = _master_duties(parts, publishing)
    timers = parts.timers.timers
    pending = PendingMetrics(
        parts.pulls.held,
        lambda: len(parts.transactions.ledger.halves),
        lambda: timers.delivered,
        timers.behind_ms,
        parts.sends.path.waiting,
        parts.pulls.cold_reads,
        parts.transactions.outcomes,
    )
    providers = (pending.metrics, parts.pops.shown.metrics)
    name_servers = (addresses, parts.cluster.registration.strangers)
    return Broker(
        parts.sends.path,
        parts.pulls,
        parts.replication.only_on_master(parts.pops.fast_path),
        _table(identity, config, ground, parts, publishing, now),
        parts.peers,
        _duties(parts, store, masters),
        parts.outbox,
        parts.watching.watch(name_servers, providers, now),
    )


def _table(
    identity: BrokerIdentity,
    config: LiveConfig[BrokerConfig],
    ground: Ground,
    parts: Parts,
    publishing: RoundPublishing,
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
        *parts.status.rows(config, parts.delays),
        *parts.timers.rows(),
        *state_rows(tables, ground, now),
    ]
    return request_table(parts.replication.rows(rows))


class _MasterDuties(NamedTuple):
    """Duties of rooms that write to the log: a slave's rest until it is a master."""

    on_tick: Sequence[Callable[[Now], None]] = ()
    on_stop: Sequence[Callable[[Now], None]] = ()
    rest_ms: Sequence[Callable[[Now], int]] = ()
    on_round: Sequence[Callable[[Now], None]] = ()
    on_visible: Sequence[Callable[[Now], None]] = ()


def _master_duties(parts: Parts, publishing: RoundPublishing) -> _MasterDuties:
    timers, sequences = parts.timers.timers, parts.tables.deduplication.sequences
    return _MasterDuties(
        on_tick=(
            parts.delays.on_tick,
            timers.on_tick,
            parts.pops.on_tick,
            parts.transactions.on_tick,
            sequences.on_tick,
            publishing.on_tick,
        ),
        on_stop=(
            parts.delays.stop,
            parts.transactions.stop,
            timers.stop,
            parts.pops.stop,
            sequences.stop,
        ),
        rest_ms=(
            parts.delays.rest_ms,
            timers.rest_ms,
            parts.pops.rest_ms,
            parts.transactions.rest_ms,
            publishing.rest_ms,
        ),
        on_round=(parts.pops.on_round, parts.transactions.on_round),
        on_visible=(parts.pops.on_visible,),
    )


def _duties(parts: Parts, store: Store, masters: _MasterDuties) -> Duties:
    """The duties, in the order in which they are called."""
    tables, registration, side = parts.tables, parts.cluster.registration, parts.replication.side

    def closed(channel: ChannelId, now: Now) -> None:
        parts.lifecycle.on_closed(channel)
        parts.pulls.drop_channel(channel)
        parts.pops.drop_channel(channel)
        parts.calls.drop_channel(channel)

    def answered(ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        parts.cluster.routes.on_answer(ticket, answer, now)
        registration.on_answer(ticket, answer, now)
        side.on_answer(ticket, answer, now)

    def say_goodbye(now: Now) -> None:
        parts.outbox.extend(registration.unregister())
        side.stop(now)

    return Duties(
        on_tick=(
            parts.pulls.on_tick,
            parts.lifecycle.on_tick,
            parts.calls.take_late,
            *masters.on_tick,
            tables.offsets_file.saving.on_tick,
            tables.consumer_filters.saving.on_tick,
            parts.status.on_tick,
            parts.watching.on_tick,
            registration.on_tick,
            side.on_tick,
        ),
        on_closed=(closed,),
        on_response=parts.calls.on_response,
        on_answer=answered,
        on_stop=(
            say_goodbye,
            *masters.on_stop,
            tables.offsets_file.saving.close,
            tables.consumer_filters.saving.close,
        ),
        rest_ms=(
            parts.pulls.rest_ms,
            *masters.rest_ms,
            registration.rest_ms,
            side.rest_ms,
            lambda now: COMPACTION_REST_MS if store.compaction.is_running else REST_MS_MAX,
        ),
        links=side,
        on_round=(*masters.on_round, side.on_round),
        heard=parts.watching.times.heard,
        on_sent=parts.watching.times.measure,
        on_visible=masters.on_visible,
    )
