"""A broker put together: tables, handlers and duties over one store.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Sequence

from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.ports.service import ChannelId, Effects
from aerobee.protocol.remoting_command import RemotingCommand
from aerobee.service.broker.admin_rows import admin_rows
from aerobee.service.broker.broker import Broker, Duties
from aerobee.service.broker.broker_status import BrokerStatus
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.consumer_rows import consumer_rows
from aerobee.service.broker.delay.levels import DelayLevels
from aerobee.service.broker.membership import Membership
from aerobee.service.broker.parked.client_calls import ClientCalls
from aerobee.service.broker.peers import Peers
from aerobee.service.broker.pop_ways import PopWays
from aerobee.service.broker.pull_ways import PullWays
from aerobee.service.broker.registration import Registration
from aerobee.service.broker.request_table import request_table
from aerobee.service.broker.send_ways import SendWays
from aerobee.service.broker.tables import Ground, open_tables
from aerobee.service.broker.timer_ways import TimerWays
from aerobee.service.broker.topic_routes import TopicRoutes
from aerobee.service.broker.transaction_ways import TransactionWays
from aerobee.service.broker.watching import Pending, Watching
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store

REST_MS_MAX = 500  # calls of clients, members, saves and rates are looked at so often


def build_broker(
    identity: BrokerIdentity,
    config: LiveConfig[BrokerConfig],
    store: Store,
    disk: Disk,
    worker: DiskWorker,
    addresses: Sequence[str],
    now: Now,
) -> Broker:
    """`addresses` are the name servers that are told. CorruptFile: one of its files cannot be
    believed."""
    ground = Ground(store, disk, worker)
    tables = open_tables(identity, config, ground, now)
    outbox: Effects = []
    peers = Peers()
    calls = ClientCalls(outbox)
    watching = Watching(identity, config, tables, store, now)
    statistics, times = watching.statistics, watching.times
    took_send, count_returned = watching.took_send, statistics.count_returned
    sends = SendWays(identity, config, tables, store, peers, outbox, took_send, count_returned)
    pulls = PullWays(config, tables, ground, statistics, watching.took_pull)
    delays = DelayLevels(
        store,
        sends.intake,
        tables.delay_offsets,
        worker,
        store.config.delay_levels_ms,
        now,
    )
    waiting = TimerWays(identity, config, tables, ground, sends.intake, peers, now)
    timers = waiting.timers
    transactions = TransactionWays(identity, config, tables, store, sends.intake, outbox, now)
    routes = TopicRoutes(addresses, outbox)
    pops = PopWays(identity, config, tables, ground, sends.intake, timers, routes, now)
    pulls.tell_arrivals(pops.note_arrival)
    pops.tell_handed_out(statistics.count_out)
    membership = Membership(
        tables.consumers, tables.producers, tables.locks, tables.groups, config, outbox
    )
    status = BrokerStatus(sends.messages_in, watching.messages_out, times, timers, store, now)
    table = request_table(
        [
            *sends.rows(calls, transactions.ledger),
            *transactions.rows(),
            *pulls.rows(),
            *pops.rows(),
            *consumer_rows(tables, store, membership, peers),
            *admin_rows(identity, tables, store, calls, statistics),
            *status.rows(config, delays),
            *waiting.rows(),
        ]
    )
    registration = Registration(identity, config, tables.topics, addresses, outbox)

    def closed(channel: ChannelId, now: Now) -> None:
        membership.on_closed(channel)
        pulls.drop_channel(channel)
        pops.drop_channel(channel)
        calls.drop_channel(channel)

    def answered(ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        routes.on_answer(ticket, answer, now)
        registration.on_answer(ticket, answer, now)

    def say_goodbye(now: Now) -> None:
        outbox.extend(registration.unregister())

    duties = Duties(
        on_tick=(
            pulls.on_tick,
            membership.on_tick,
            calls.take_late,
            delays.on_tick,
            timers.on_tick,
            pops.on_tick,
            transactions.on_tick,
            tables.offsets_file.on_tick,
            tables.consumer_filters.on_tick,
            status.on_tick,
            watching.on_tick,
            registration.on_tick,
        ),
        on_closed=(closed,),
        on_response=calls.on_response,
        on_answer=answered,
        on_stop=(
            say_goodbye,
            delays.stop,
            transactions.stop,
            timers.stop,
            pops.stop,
            tables.offsets_file.close,
            tables.consumer_filters.close,
        ),
        rest_ms=(
            pulls.rest_ms,
            delays.rest_ms,
            timers.rest_ms,
            pops.rest_ms,
            transactions.rest_ms,
            registration.rest_ms,
            lambda now: REST_MS_MAX,
        ),
        is_settled=registration.is_settled,
        on_round=(pops.on_round,),
        heard=times.heard,
        on_sent=times.measure,
        on_visible=(pops.on_visible,),
    )
    pending = Pending(
        pulls.held,
        lambda: len(transactions.ledger.halves),
        lambda: timers.delivered,
        timers.behind_ms,
    )
    watch = watching.watch((addresses, registration.strangers), pending, now)
    return Broker(sends.short, pulls, table, peers, duties, outbox, watch)
