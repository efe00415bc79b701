"""A broker put together: tables, handlers and duties over one store.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Sequence

from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.ports.service import ChannelId, Effects
from aerobee.service.broker.admin_rows import admin_rows
from aerobee.service.broker.broker import Broker, Duties
from aerobee.service.broker.broker_status import BrokerStatus
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.consumer_rows import consumer_rows
from aerobee.service.broker.delay.levels import DelayLevels
from aerobee.service.broker.membership import Membership
from aerobee.service.broker.parked.client_calls import ClientCalls
from aerobee.service.broker.peers import Peers
from aerobee.service.broker.pull_ways import PullWays
from aerobee.service.broker.registration import Registration
from aerobee.service.broker.request_table import request_table
from aerobee.service.broker.send_ways import SendWays
from aerobee.service.broker.tables import Ground, open_tables
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
    sends = SendWays(identity, config, tables, store, peers, outbox)
    pulls = PullWays(config, tables, ground)
    delays = DelayLevels(
        store,
        sends.intake,
        tables.delay_offsets,
        worker,
        store.config.delay_levels_ms,
        now,
    )
    membership = Membership(
        tables.consumers, tables.producers, tables.locks, tables.groups, config, outbox
    )
    status = BrokerStatus(sends.messages_in, pulls.messages_out, now)
    table = request_table(
        [
            *sends.rows(calls),
            *pulls.rows(),
            *consumer_rows(tables, store, membership, peers),
            *admin_rows(identity, tables, store, calls),
            *status.rows(config, store, delays),
        ]
    )
    registration = Registration(identity, config, tables.topics, addresses, outbox)

    def closed(channel: ChannelId, now: Now) -> None:
        membership.on_closed(channel)
        pulls.drop_channel(channel)
        calls.drop_channel(channel)

    def say_goodbye(now: Now) -> None:
        outbox.extend(registration.unregister())

    duties = Duties(
        on_tick=(
            pulls.on_tick,
            membership.on_tick,
            calls.take_late,
            delays.on_tick,
            tables.offsets_file.on_tick,
            status.on_tick,
            registration.on_tick,
        ),
        on_closed=(closed,),
        on_response=calls.on_response,
        on_answer=registration.on_answer,
        on_stop=(say_goodbye, delays.stop, tables.offsets_file.close),
        rest_ms=(pulls.rest_ms, delays.rest_ms, registration.rest_ms, lambda now: REST_MS_MAX),
        is_settled=registration.is_settled,
    )
    return Broker(sends.short, pulls, table, peers, duties, outbox)
