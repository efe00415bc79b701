"""Chooses the side of replication that a broker of a role and stage is on.

A master that returns is on the master's side, with a ban on appends; an acting master on its own; a
member of a Raft group on its own, too, whether it leads or not.
"""

from typing import TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.replication.raft_state import check_single
from aerobee.service.broker.cluster.registration import Registration
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.safe_answers import Copies
from aerobee.service.broker.replication.acting.acting_side import ActingSide
from aerobee.service.broker.replication.acting.escaped_puts import EscapedPuts
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.service.broker.replication.raft.member_status import Majority
from aerobee.service.broker.replication.raft.raft_side import RaftSide
from aerobee.service.broker.replication.slave_requests import returning
from aerobee.service.broker.replication.slave_side import SlaveSide
from aerobee.service.broker.state.tables import Ground

Side: TypeAlias = MasterSide | SlaveSide | ActingSide | RaftSide


def side_of(
    identity: BrokerIdentity,
    ground: Ground,
    registration: Registration,
    puts: EscapedPuts | None,
    outbox: Effects,
    now: Now,
) -> Side:
    """The side, told of the master where it has one. `puts` are those of an acting master.
    StorageError: the store is a member's and the broker is none, or the reverse."""
    store = ground.store
    if identity.raft is not None:
        return RaftSide(identity, ground, outbox, now)
    check_single(ground.disk, store.root)
    if identity.is_master:
        ban = None if identity.takes_messages else returning()
        return MasterSide(store, identity.replication, outbox, ban)
    side: SlaveSide | ActingSide
    if identity.is_acting:
        side = ActingSide(store, identity.broker_id, puts, outbox)
    else:
        side = SlaveSide(store, identity.replication, outbox, registration.look_for_master)
    registration.tell_of_master(side.hear_of_master)
    return side


def copies_of(side: Side, identity: BrokerIdentity) -> Copies | None:
    """The brokers that answers wait for; None: they wait for none."""
    if isinstance(side, RaftSide):
        return Majority(identity.replication.slave_timeout_ms) if side.leads else None
    return side if isinstance(side, MasterSide) and side.waits else None
