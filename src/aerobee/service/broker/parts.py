"""Builds the rooms of a broker, and gives each what it needs of the others.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects
from aerobee.service.broker.admin.broker.broker_status import BrokerStatus
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.clients.peers import Peers
from aerobee.service.broker.cluster.cluster_assembly import ClusterAssembly
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.delay.delay_levels import DelayLevels
from aerobee.service.broker.membership.member_lifecycle import MemberLifecycle
from aerobee.service.broker.metrics.metrics_assembly import MetricsAssembly
from aerobee.service.broker.pop.pop_assembly import PopAssembly
from aerobee.service.broker.pop.pop_fast_path import Outlets
from aerobee.service.broker.pull.pull_assembly import PullAssembly
from aerobee.service.broker.replication.replication_assembly import ReplicationAssembly
from aerobee.service.broker.send.send_assembly import SendAssembly, SendCounts
from aerobee.service.broker.send.send_diversion import SendDiversion
from aerobee.service.broker.state.tables import Ground, Tables, open_tables
from aerobee.service.broker.timer.timer_assembly import TimerAssembly
from aerobee.service.broker.transaction.transaction_assembly import TransactionAssembly
from aerobee.service.live_config import LiveConfig


class Parts(NamedTuple):
    outbox: Effects
    """The list to which all rooms append their effects."""
    tables: Tables
    peers: Peers
    calls: ClientCalls
    watching: MetricsAssembly
    sends: SendAssembly
    pulls: PullAssembly
    delays: DelayLevels
    timers: TimerAssembly
    transactions: TransactionAssembly
    cluster: ClusterAssembly
    pops: PopAssembly
    lifecycle: MemberLifecycle
    status: BrokerStatus
    replication: ReplicationAssembly

    def close_channel(self, channel: ChannelId) -> None:
        """A client's channel is closed."""
        self.lifecycle.on_closed(channel)
        self.pulls.drop_channel(channel)
        self.pops.drop_channel(channel)
        self.calls.drop_channel(channel)


def build_parts(
    identity: BrokerIdentity,
    config: LiveConfig[BrokerConfig],
    ground: Ground,
    addresses: Sequence[str],
    now: Now,
) -> Parts:
    """CorruptFile: one of the broker's files is damaged."""
    store = ground.store
    tables = ReplicationAssembly.open_tables(
        identity, ground, lambda: open_tables(identity, config, ground, now)
    )
    outbox: Effects = []
    told = (tables.topics, addresses, outbox, tables.topics.mappings.infos)
    cluster = ClusterAssembly(identity, config, *told)
    waits = (lambda: config.current.sync_timeout_ms, tables.groups.find)
    replication = ReplicationAssembly(identity, ground, cluster, outbox, *waits, now)
    peers = Peers()
    watching = MetricsAssembly(identity, config, tables, store, now)
    statistics, answers = watching.statistics, replication.answers
    counts = SendCounts(watching.took_send, statistics.count_returned)
    sends = SendAssembly(identity, config, tables, store, peers, outbox, answers, counts)
    writer = sends.writer
    replication.acting.take_puts_of(writer)
    reading = (statistics, watching.took_pull, replication.suggestion)
    pulls = PullAssembly(config, tables, ground, *reading)
    levels_ms = store.config.delay_levels_ms
    delays = DelayLevels(store, writer, tables.delay_offsets, ground.worker, levels_ms, now)
    timers = TimerAssembly(identity, config, tables, ground, writer, peers, now)
    transactions = TransactionAssembly(identity, config, tables, store, writer, outbox, now)
    diversion = SendDiversion(
        len(levels_ms),
        timers.timers.acceptance,
        transactions.ledger.halves,
        transactions.ledger.progress,
        transactions.terms,
    )
    sends.fast_send.divert(diversion, transactions.ends, identity.name)
    counted = (statistics.count_out, statistics.note_fast, watching.times.note)
    outlets = Outlets(outbox, *counted)
    pops = PopAssembly(identity, config, tables, ground, writer, timers.timers, outlets, now)
    replication.acting.revive_by(pops.take_unstored)
    pulls.tell_arrivals(pops.note_arrival)
    lifecycle = MemberLifecycle(
        tables.consumers, tables.producers, tables.locks, tables.groups, config, outbox
    )

    def taken() -> int:
        return sends.messages_in() + transactions.committed()

    status = BrokerStatus(taken, watching.messages_out, watching.times, timers.timers, store, now)
    return Parts(
        outbox,
        tables,
        peers,
        ClientCalls(outbox),
        watching,
        sends,
        pulls,
        delays,
        timers,
        transactions,
        cluster,
        pops,
        lifecycle,
        status,
        replication,
    )
