"""The person who runs a group of copies: decides who is the master, and promotes with care.

A promotion is safe if no acknowledged message is missing in the promoted log: with k copies needed,
all slaves but k - 2 of them are up, have followed the last process of the master, and have at least
what that had when it started. The longest of them has everything that was acknowledged. The person
waits until it is so.

With asynchronous flush a master that lost power is not to go on as one: a slave may have more. Only
if too many machines lost power, the longest log is taken as it is, and may lack what was new.
"""

from typing import TYPE_CHECKING

from aerobee.model.broker_role import MASTER_ID, BrokerRole, RoleChange
from tests.sim.replica import ReplicaNode

if TYPE_CHECKING:
    from tests.sim.replica_world import ReplicaWorld

LOOK_MS = 25


class Operator:
    def __init__(self, world: "ReplicaWorld") -> None:
        self._world = world
        self.master = world.replicas[0]
        self.unreachable: ReplicaNode | None = None
        """A machine that nobody can be told anything on."""
        self._promote_ms: int | None = None
        # Of the master's last process: the end of its log at its start, those that followed it,
        # and those of them that may have lost something since.
        self._begin_offset = 0
        self._followers: set[int] = set()
        self._losers: set[int] = set()
        self._is_master_lost = False
        self.promotions = 0
        self.disasters = 0

    # Roles.

    def role_of(self, node: ReplicaNode) -> RoleChange:
        replication = self._world.replica_plan.replication
        if node is self.master and not self._is_master_lost:
            return RoleChange(replication.role, MASTER_ID)
        is_told = self._world.replica_plan.is_pinned and node is not self.master
        address = self.master.ha_address if is_told else ""
        return RoleChange(BrokerRole.SLAVE, node.number + 1, address)

    def plan_promotion(self, ms: int) -> None:
        """Make another the master, if this one is not back by then."""
        if self._promote_ms is None:
            self._promote_ms = self._world.timeline.now_ms + ms

    def calm(self) -> None:
        """No trouble is to come: the master stays, if it can."""
        self.unreachable = self._promote_ms = None

    def look(self) -> None:
        for node in self._world.replicas:
            if node is not self.unreachable and node.lives_as != self.role_of(node):
                node.become(self.role_of(node))
        self._note_followers()
        is_due = self._promote_ms is not None and self._world.timeline.now_ms >= self._promote_ms
        if is_due or self._is_master_lost:
            self._try_to_promote()

    # News.

    def opened(self, node: ReplicaNode) -> None:
        if node is self.master and node.lives_as.role.is_master:
            self._begin_offset = node.store.end_offset
            self._followers.clear()
            self._losers.clear()

    def ended(self, node: ReplicaNode, *, has_lost: bool) -> None:
        if has_lost and node is self.master and self._world.replica_plan.needed > 1:
            self._is_master_lost = True
        if has_lost and node.number in self._followers:
            self._followers.discard(node.number)
            self._losers.add(node.number)
        node.become(self.role_of(node))

    def _note_followers(self) -> None:
        master = self.master
        if not master.is_master:
            return
        for node in self._world.replicas:
            if self._world.follows(node, master) and node.store.end_offset >= self._begin_offset:
                if node.number not in self._losers:
                    self._followers.add(node.number)
                elif node.store.end_offset == master.store.end_offset:
                    self._losers.discard(node.number)
                    self._followers.add(node.number)

    # Promotions.

    def is_safe(self) -> bool:
        """Whether one of the slaves surely has everything that was acknowledged."""
        slaves = [node for node in self._world.replicas if node is not self.master]
        missing = len(slaves) - len(self._candidates())
        return bool(self._candidates()) and missing <= max(0, self._world.replica_plan.needed - 2)

    def _candidates(self) -> list[ReplicaNode]:
        return [
            node
            for node in self._world.replicas
            if node is not self.master and node.is_serving and node.number in self._followers
        ]

    def _try_to_promote(self) -> None:
        world = self._world
        candidates = self._candidates()
        if world.replica_plan.needed == 1:
            if candidates:
                self._promote(candidates, may_lose=True)
        elif self.is_safe():
            if self._is_master_lost and self.master.is_serving:
                candidates.append(self.master)  # it may be the longest
            self._promote(candidates, may_lose=False)
        elif self._is_master_lost and all(node.is_serving for node in world.replicas):
            known = self._followers | self._losers | {self.master.number}
            self.disasters += 1
            self._promote([world.replicas[number] for number in sorted(known)], may_lose=True)

    def _promote(self, candidates: list[ReplicaNode], *, may_lose: bool) -> None:
        world, old = self._world, self.master
        self.master = max(candidates, key=lambda node: node.store.end_offset)
        self._promote_ms, self._is_master_lost = None, False
        self.promotions += 1
        world.say(f"{self.master.host.name} replaces {old.host.name} as master")
        world.masters_changed(self.master, may_lose=may_lose)
        for node in world.replicas:
            if node is not self.unreachable:
                node.become(self.role_of(node))
