"""RaftSide is the side of replication of a member of a Raft group: it joins the node, the links to
the other members and the store.

    leader     sends what was appended to its followers after every round of reads; what is
               committed is confirmed
    follower   appends what the leader sends, and shows what is committed

A node that is elected, or deposed, or must cut its log, asks for another life (`Rebuild`). Until
that begins nothing is appended: what comes after the end of a term would belong to no term.

Imports more than 15 modules because it puts the others together.
"""

import logging
from collections.abc import Callable

from aerobee.errors import (
    AerobeeError,
    DiskFailed,
    NothingTaken,
    RemoteProtocolError,
)
from aerobee.model.broker_role import Stage
from aerobee.model.replica_status import GroupMembers, ReplicaStatus
from aerobee.ports.clock import Now
from aerobee.ports.service import CloseLink, Effects, LinkId, LinkWrite, Peer, Rebuild
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.raft.frames import Hello
from aerobee.raft.membership import NOBODY
from aerobee.raft.messages import Message
from aerobee.raft.node import Node
from aerobee.raft.saved_state import SavedState
from aerobee.replication.raft_links import LinkRules, RaftLinks
from aerobee.replication.raft_log import RaftLog
from aerobee.replication.raft_member import RaftMember
from aerobee.replication.raft_state import RaftState
from aerobee.service.access.link_proof import LinkGuard
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.raft.member_status import (
    follower_status,
    group_members,
    leader_status,
)
from aerobee.service.broker.replication.raft.preferred_leader import (
    PreferredLeader,
    Relief,
    find_successor,
)
from aerobee.service.broker.state.tables import Ground

_log = logging.getLogger(__name__)

REST_MS_MAX = 1_000


class NotLeader(NothingTaken):
    """This broker does not lead its group: nothing was appended."""


class RaftSide:
    """A `LinkService`; also the `Copies` that answers wait for."""

    def __init__(self, identity: BrokerIdentity, ground: Ground, outbox: Effects, now: Now) -> None:
        """CorruptFile, StorageError: this store is not that of a member."""
        seat = identity.raft
        assert seat is not None
        self.leads = identity.is_master
        """Whether this life is that of the leader."""
        self.prove: Callable[[Now], bytes] = lambda now: b""
        """Returns what another member is told first on a link (`link_proof`)."""
        self.find_guard: Callable[[], LinkGuard | None] = lambda: None
        """Returns what asks members for a proof; None: whoever connects is one."""
        self._identity = identity
        self._store = ground.store
        self._outbox = outbox
        self._seat = seat
        self._state = RaftState(ground.disk, ground.worker, ground.store.root)
        self._failure: AerobeeError | None = None
        self._is_over = False
        self._commit_seen = -1
        self._now = now
        self._refused: bool | None = None
        log = RaftLog(ground.store, ground.store.confirmed_at_start)
        saved = self._state.load(seat.config, log.bounds()) if seat.is_new else None
        seat.begin_life(log, saved, now.monotonic_ms)
        config = seat.config
        hello = Hello(config.node, seat.group, identity.address)
        rules = LinkRules(hello, 2 * config.election_timeout_ms)
        self._links = RaftLinks(rules, log.slices, self._received, self._ended, outbox)
        self._member = RaftMember(seat, log, self.leads, self._save, self._deliver)
        self._preference = PreferredLeader(config.preferred, now.monotonic_ms)
        self._relief = Relief(now.monotonic_ms)
        self._set_peers()
        seat.hand_over = self._hand_over
        self._guarded(self._member.begin)

    @property
    def node(self) -> Node:
        return self._seat.node

    @property
    def is_switching(self) -> bool:
        """Whether another life of this broker follows at once: name servers need no goodbye."""
        return self._member.next_life is not None

    @property
    def takes_messages(self) -> bool:
        """Whether this broker leads, and appends."""
        return self._failure is None and not self._is_over and self._member.takes_records

    # For other rooms.

    def master(self) -> str:
        """Where the leader answers requests; empty: there is none, or it is this broker."""
        leader = self.node.leader
        return "" if leader in (None, self.node.node) else self._links.brokers.get(leader or 0, "")

    def find_leader(self) -> str:
        """Where another leader answers; empty: there is none that can be reached."""
        leader = self.node.leader
        return self.master() if leader is not None and self._links.is_linked(leader) else ""

    def has_slave(self) -> bool:
        """Whether a follower is linked."""
        return any(map(self._links.is_linked, self.node.members.nodes))

    def status(self, now: Now) -> ReplicaStatus:
        """What tools and monitoring are told."""
        if self.leads:
            return leader_status(self.node, self._store.end_offset, self._links, now.monotonic_ms)
        return follower_status(self.node, self._store, self.master(), self._member.shortage)

    def follow(self, address: str, ha_address: str, now: Now) -> None:
        """Nothing: who leads is decided by votes."""

    def _broker_of(self, node: int) -> str:
        """Where the broker of a member answers clients; empty: it has not said."""
        own = node == self.node.node
        return self._identity.address if own else self._links.brokers.get(node, "")

    def group_members(self, now: Now) -> GroupMembers:
        """Who belongs to the group."""
        told = (self.node, self._seat.group, self._broker_of, self._links)
        return group_members(*told, now.monotonic_ms)

    def order(self, command: Callable[[Node], str], now: Now) -> str:
        """Give the node a command of a person; the reason why it is not followed, or nothing."""
        refusal = self._member.order(command, now)
        self._settle()
        return refusal

    # Links.

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> None:
        guard = self.find_guard()
        if is_dialed:
            proof = self.prove(now)
            if proof:
                self._outbox.append(LinkWrite(link, [proof]))
        elif guard is not None:
            guard.opened(link, peer.host)
        self._links.on_link_open(link, peer, is_dialed, now.monotonic_ms)

    def on_link_failed(self, address: str, reason: str, now: Now) -> None:
        self._links.on_link_failed(address, reason, now)

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> None:
        guard = self.find_guard()
        if guard is not None:
            try:
                data = guard.passed(link, data, now)
            except RemoteProtocolError as error:
                _log.warning("a member of the group is refused: %s", error.message)
                self._outbox.append(CloseLink(link, error.message))
                return
        self._guarded(lambda at: self._links.on_link_bytes(link, data, at), now)
        if not self.leads:
            self._store.flush_soon(now)

    def on_link_ready(self, link: LinkId, now: Now) -> None:
        """Nothing: what is not on a follower's disk is bounded by the window of its leader."""

    def on_link_closed(self, link: LinkId, now: Now) -> None:
        guard = self.find_guard()
        if guard is not None:
            guard.closed(link)
        self._links.on_link_closed(link)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Nothing: members speak on links."""

    # Time.

    def on_round(self, now: Now) -> None:
        """Something may have been appended: send it."""
        if self.leads:
            self._guarded(self._member.pump, now)

    def on_tick(self, now: Now) -> None:
        """Raises what makes this member useless: its process must end."""
        if self._failure is not None:
            raise self._failure
        self._state.try_again(now.monotonic_ms)
        self._guarded(self._member.pump, now)
        self._prefer(now)
        self._leave_if_full(now)
        self._links.on_tick(now.monotonic_ms)
        if not self.leads:
            self._store.flush_soon(now)

    def rest_ms(self, now: Now) -> int:
        if self._failure is not None or self._commit_seen != self.node.log.commit:
            # Answers that wait for what was committed by now go out with the next tick.
            self._commit_seen = self.node.log.commit
            return -1
        rest_ms = min(self._member.rest_ms(now), self._links.rest_ms(now.monotonic_ms))
        return min(REST_MS_MAX, rest_ms)

    def stop(self, now: Now) -> None:
        self._is_over = True
        self._store.refuse_appends(NotLeader("service not available now: this broker stops"))

    # The member.

    def _guarded(self, work: Callable[[Now], None], now: Now | None = None) -> None:
        """Do something with the node; an error ends the member, and its process with the next tick:
        the node may count records that are not there."""
        if self._failure is not None or self._is_over:
            return
        self._now = now or self._now
        try:
            work(self._now)
            self._settle()
        except AerobeeError as error:
            _log.critical("this member of the group stops: %s", error)
            self._failure = error
            self._store.refuse_appends(NotLeader(f"service not available now: {error.message}"))

    def _settle(self) -> None:
        """After every event: what may be appended, who is a member, which life is next."""
        self._set_peers()
        self._refuse_or_take()
        wanted = self._member.next_life
        if wanted is not None and not self._is_over:
            self._is_over = True
            stage = Stage.LEADING if wanted.leads else Stage.FOLLOWING
            self._outbox.append(
                Rebuild(
                    wanted.reason,
                    cut_at=wanted.cut_at,
                    stage=stage,
                    is_emptied=wanted.is_emptied,
                )
            )

    def _refuse_or_take(self) -> None:
        is_refused = not self._member.takes_records
        if is_refused != self._refused:
            self._refused = is_refused
            self._store.refuse_appends(_not_leader(self.node) if is_refused else None)

    def _prefer(self, now: Now) -> None:
        """Hand over to a member that is preferred, if it can lead."""
        if not self.leads or not self._preference.is_due(now.monotonic_ms):
            return
        target = self._preference.find_target(self.node, now.monotonic_ms)
        if target is not None:
            _log.info("leadership is handed to node %d, which is preferred", target)
            self.order(lambda node: node.transfer(target, now.monotonic_ms), now)

    def _leave_if_full(self, now: Now) -> None:
        """A leader whose disk is full has another member lead, which may have room."""
        refusal = self._store.appender.refusal
        if not self.leads or not self._relief.is_due(refusal, now.monotonic_ms):
            return
        target = find_successor(self.node, now.monotonic_ms)
        if target is not None:
            _log.error("leadership is handed to node %d: %s", target, refusal)
            self.order(lambda node: node.transfer(target, now.monotonic_ms), now)

    def _hand_over(self) -> bool:
        """The process stops: have another member lead; whether one is going to."""
        now = self._now
        target = find_successor(self.node, now.monotonic_ms)
        if not self.takes_messages or target is None:
            return False
        _log.info("leadership is handed to node %d, because this broker stops", target)
        return self.order(lambda node: node.transfer(target, now.monotonic_ms), now) == ""

    def _set_peers(self) -> None:
        node = self.node
        members = node.members
        if members == NOBODY:
            peers = {one.node: one.address for one in self._seat.config.peers}
        else:
            peers = {one.node: one.address for one in members.listed}
        peers.pop(node.node, None)
        self._links.set_peers(peers)

    def _received(self, sender: int, message: Message, body: bytes, now: Now) -> None:
        self._member.step(sender, message, body, now)

    def _ended(self, node: int, now: Now) -> None:
        self._guarded(lambda at: self._member.leader_ended(node, at), now)

    def _deliver(self, to: int, message: Message) -> None:
        self._links.send(to, message, self._now.monotonic_ms)

    def _save(self, state: SavedState) -> None:
        self._state.save(state, self._saved)

    def _saved(self, error: BaseException | None) -> None:
        if error is not None:
            self._failure = DiskFailed(f"the state of this member cannot be saved: {error}")
        else:
            self._member.state_saved()


def _not_leader(node: Node) -> NotLeader:
    return NotLeader(
        f"service not available now: node {node.node} does not lead its group",
        hint="another member leads, or will in a moment: try again",
    )
