"""Puts the room of acting masters together: what a broker of this role and stage has of it.

slave                 ActingWatch, if enableSlaveActingMaster
acting master         ActingSide, EscapedPuts if enableRemoteEscape
master that returns   MasterReturn
master                nothing

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Callable

from aerobee.model.broker_role import Stage
from aerobee.model.names import revive_topic
from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.cluster.cluster_assembly import ClusterAssembly
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.replication.acting.acting_side import ActingSide
from aerobee.service.broker.replication.acting.acting_watch import ActingWatch
from aerobee.service.broker.replication.acting.escaped_puts import EscapedPuts, Revive
from aerobee.service.broker.replication.acting.master_return import MasterReturn
from aerobee.service.broker.replication.acting.member_group import Hear, MemberGroup, Members
from aerobee.service.broker.replication.acting.returned_progress import take_progress
from aerobee.service.broker.replication.acting.side_choice import side_of
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.service.broker.replication.slave_side import SlaveSide
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Ground, Tables
from aerobee.storage.store import Store


def _escaped_puts(
    identity: BrokerIdentity, store: Store, cluster: ClusterAssembly, outbox: Effects
) -> EscapedPuts | None:
    """The log of an acting master's puts; None: they are refused by its own log, and wait."""
    if not identity.is_acting or not identity.replication.escapes_remotely:
        return None
    return EscapedPuts(
        identity.name,
        identity.cluster,
        revive_topic(identity.cluster),
        cluster.routes,
        store.appender,
        outbox,
    )


class ActingAssembly:
    def __init__(
        self,
        identity: BrokerIdentity,
        ground: Ground,
        cluster: ClusterAssembly,
        outbox: Effects,
        now: Now,
    ) -> None:
        self._identity = identity
        self._outbox = outbox
        self._puts = _escaped_puts(identity, ground.store, cluster, outbox)
        side = side_of(identity, ground, cluster.registration, self._puts, outbox, now)
        self.side = side
        """The side of replication that the broker is on."""
        self._watch: ActingWatch | None = None
        self._return: MasterReturn | None = None
        hear: Hear | None = None
        if isinstance(side, ActingSide):
            hear = side.hear_members
        elif isinstance(side, SlaveSide) and identity.replication.acts_as_master:
            self._watch = ActingWatch(identity.broker_id, side.is_linked, outbox)
            hear = self._watch.hear_members
        elif identity.stage is Stage.RETURNING:
            hear = self._hear_returning
        self._members = MemberGroup(
            identity, cluster.addresses if hear is not None else (), outbox, hear or _nobody
        )

    def rows(self) -> list[Row]:
        return self._members.rows()

    def take_puts_of(self, writer: MessageWriter) -> None:
        """Of an acting master: messages of this writer go to other masters."""
        if self._puts is not None:
            writer.put_into(self._puts)

    def revive_by(self, revive: Revive) -> None:
        """Of an acting master: records of pops go here."""
        if self._puts is not None:
            self._puts.revive = revive

    def return_to(self, tables: Tables, ground: Ground) -> None:
        """Of a master that returns: these get the progress of the acting master."""
        side = self.side
        if self._identity.stage is Stage.RETURNING and isinstance(side, MasterSide):
            self._return = MasterReturn(
                self._identity,
                ground.store.end_offset,
                side.in_sync.connected,
                lambda progress, now: take_progress(progress, tables, ground, now),
                self._outbox,
            )

    def known_term(self) -> int:
        """Of a slave: the newest term of a master that it has heard of; otherwise 0."""
        return self.side.known_term() if isinstance(self.side, SlaveSide) else 0

    def when_following(self, told: Callable[[], None]) -> None:
        """Of a slave: call back when it begins to follow."""
        if isinstance(self.side, SlaveSide):
            self.side.when_following = told

    def _hear_returning(self, members: Members | None, now: Now) -> None:
        if self._return is not None:
            self._return.hear_members(members, now)

    def follow(self, address: str, ha_address: str, now: Now) -> None:
        """A broker has said that it is the master."""
        if self._watch is not None:
            self._watch.hear_of_master()
        self.side.follow(address, ha_address, now)

    # Duties.

    def on_tick(self, now: Now) -> None:
        self._members.on_tick(now)
        if self._puts is not None:
            self._puts.on_tick(now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        self._members.on_answer(ticket, answer, now)
        if self._puts is not None:
            self._puts.on_answer(ticket, answer, now)
        if self._return is not None:
            self._return.on_answer(ticket, answer, now)

    def rest_ms(self, now: Now) -> int:
        rest_ms = self._members.rest_ms(now)
        return rest_ms if self._puts is None else min(rest_ms, self._puts.rest_ms(now))


def _nobody(members: Members | None, now: Now) -> None:
    """Nobody asks who lives."""
