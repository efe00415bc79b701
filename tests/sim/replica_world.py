"""A story of replication: a master and its slaves, whose roles change, and what befalls them.

Beside everything that a `World` checks:

    at every event    a master with too few slaves appends nothing
    at every look     the log of a slave that follows is a byte prefix of its master's; no slave has
                      acknowledged more than it has, or a part of a record; none counts twice; no
                      table of topics or groups is of an earlier term than before
    at every cut      the tail that was cut off is in `diverged/`, byte by byte
    at every change   what consumers were given is in the log of the new master (mode D)
    at the end        all logs and queues are the same
"""

import random
from collections.abc import Callable
from functools import partial

from aerobee.model.topic import DataVersion
from aerobee.service.broker.assembly import build_broker
from aerobee.sim.broker_node import ROOT, BrokerNode, BrokerPlan
from aerobee.sim.disk import SimDisk
from aerobee.sim.node import Node
from aerobee.storage.config import FlushMode, StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.sim.operator import LOOK_MS, Operator
from tests.sim.plan import UNLIMITED, Blow, ReplicaTrouble
from tests.sim.replica import ReplicaNode
from tests.sim.replica_plan import ReplicaPlan
from tests.sim.world import BROKER_PORT, DIRTY_TRIES, World

BROKER = "broker-0"
LOST_AT_WILL_MS = 1 << 40
SILENCE_SLACK_MS = 100
VERSION_LOOKS = 10
NO_COMMON_RECORD = "no record in common"


class ReplicaWorld(World):
    def __init__(
        self,
        plan: ReplicaPlan,
        generator: random.Random,
        *,
        defects: Defects = NO_DEFECTS,
        is_traced: bool = False,
    ) -> None:
        self.replica_plan = plan
        self.replicas: list[ReplicaNode] = []
        super().__init__(plan.story, generator, defects=defects, is_traced=is_traced)
        self.brokers = [self.replicas[0]]
        self.operator = Operator(self)
        for node in self.replicas:
            node.role = self.operator.role_of(node)
        self._tails: dict[int, tuple[int, bytes]] = {}
        self._compared: dict[tuple[int, int, int, int], int] = {}
        # By machine: since when it is down; of a master that has too few slaves, its life and the
        # end of its log; and the versions of its tables.
        self._gone_ms: dict[int, int] = {}
        self._short: dict[int, tuple[int, int]] = {}
        self._versions: dict[tuple[int, str], DataVersion] = {}
        self._cut_count = self._looks = self._compared_bytes = 0

    def _make_broker(
        self, number: int, storage: StorageConfig, nameservers: list[str]
    ) -> BrokerNode:
        host = self.network.host(f"10.0.1.{number + 1}")
        node = ReplicaNode(
            BROKER,
            host,
            BROKER_PORT,
            self,
            self._delay_of(host.name, self.plan.sync_ms[number]),
            BrokerPlan(
                storage,
                self.plan.config,
                nameservers,
                UNLIMITED,
                partial(Store.open, defects=self.defects),
                build_broker,
                self.replica_plan.replication,
            ),
            number=number,
            is_cutting=self._note_cut,
        )
        self.replicas.append(node)
        return node

    def run(self) -> None:
        self._look()
        super().run()

    def _run_until(self, until_ms: int) -> None:
        self.timeline.run(until_ms, self._is_breached)

    def _is_breached(self) -> bool:
        """Called before every event."""
        if self.replica_plan.needed > 1:
            self._compare_appends()
        return bool(self.history.breaches)

    def _look(self) -> None:
        self.operator.look()
        self._compare()
        if self._looks % VERSION_LOOKS == 0:
            self._compare_versions()
        self._replace_strangers()
        self.timeline.after(LOOK_MS, self._look)

    def _replace_strangers(self) -> None:
        """A log that has nothing in common with its master's is moved away by hand."""
        for node in self.replicas:
            if NO_COMMON_RECORD in node.why_not():
                self.say(f"{node.host.name} begins anew: {node.why_not()}")
                self._replace(node)

    # Trouble.

    def _strike(self, blow: Blow) -> None:
        trouble = blow.trouble
        if not isinstance(trouble, ReplicaTrouble):
            super()._strike(blow)
            return
        if self.is_calm:
            return
        self.say(trouble.value)
        draw, master = self.random, self.operator.master
        slave = draw.choice([node for node in self.replicas if node is not master])
        match trouble:
            case ReplicaTrouble.KILL_MASTER:
                self._when_behind(master, slave, DIRTY_TRIES, master.kill)
            case ReplicaTrouble.POWER_CUT_MASTER:
                if draw.random() < 0.5:
                    self._cut_power(master, draw.choice((0, 3, 20)), DIRTY_TRIES)
                else:
                    self._when_behind(master, slave, DIRTY_TRIES, master.cut_power)
            case ReplicaTrouble.KILL_SLAVE:
                slave.kill()
            case ReplicaTrouble.POWER_CUT_SLAVE:
                self._cut_power(slave, draw.choice((0, 3, 20)), DIRTY_TRIES)
            case ReplicaTrouble.KILL_ALL:
                for node in self.replicas:
                    node.kill()
            case ReplicaTrouble.POWER_CUT_ALL:
                for node in self.replicas:
                    node.cut_power()
            case ReplicaTrouble.CUT:
                self._cut_between(master, slave, draw.randint(100, 4_000))
            case ReplicaTrouble.FLAP:
                for n in range(draw.randint(2, 6)):
                    self.timeline.after(
                        400 * n, lambda: self._cut_between(master, slave, draw.randint(50, 350))
                    )
            case ReplicaTrouble.SLOW:
                self._slow_between(master, slave)
            case ReplicaTrouble.LEAVE_BEHIND:
                self._leave_behind(master)
            case ReplicaTrouble.ISOLATE:
                self._isolate(master)
            case ReplicaTrouble.SWITCH:
                self._switch(master)
            case ReplicaTrouble.REPLACE:
                node = draw.choice(self.replicas)
                if node is not master or self.operator.is_safe():
                    self._replace(node)

    def _when_behind(
        self, master: ReplicaNode, slave: ReplicaNode, tries: int, action: Callable[[], None]
    ) -> None:
        """When the slave lacks something, if that comes soon."""
        if self.is_calm or not master.is_master or master is not self.operator.master:
            return
        is_behind = slave.is_serving and slave.safe_offset < master.store.end_offset
        if tries == 0 or is_behind:
            action()
        else:
            self.timeline.after(1, lambda: self._when_behind(master, slave, tries - 1, action))

    def _cut_between(self, one: BrokerNode, other: BrokerNode, ms: int) -> None:
        ways = [(one.host.name, other.host.name), (other.host.name, one.host.name)]
        if self.random.random() < 0.4:
            ways = [self.random.choice(ways)]
        for source, target in ways:
            self.say(f"{source} -x-> {target} for {ms} ms")
            self.network.cut(source, target)
            self.timeline.after(ms, partial(self.network.heal, source, target))

    def _slow_between(self, one: BrokerNode, other: BrokerNode) -> None:
        rate_bytes, ms = self.random.choice((300, 2_000, 20_000)), self.random.randint(300, 4_000)
        for source, target in (
            (one.host.name, other.host.name),
            (other.host.name, one.host.name),
        ):
            self.network.slow(source, target, rate_bytes)
            self.timeline.after(ms, partial(self.network.heal, source, target))

    def _leave_behind(self, master: ReplicaNode) -> None:
        if not master.is_master:
            return
        is_kill, ms = self.random.random() < 0.5, self.random.randint(50, 500)
        for node in self.replicas:
            if node is not master:
                self._cut_between(master, node, ms + 50)

        def end() -> None:
            if not self.is_calm and master.is_master:
                master.kill() if is_kill else master.cut_power()
                self.operator.plan_promotion(self.random.randint(0, 300))

        self.timeline.after(ms, end)

    def _isolate(self, master: ReplicaNode) -> None:
        """It goes on, and clients that know it go on with it."""
        if self.replica_plan.needed == 1 or self.operator.unreachable is not None:
            return  # mode C: two masters at a time are a loss that nobody counts
        if not self.operator.is_safe():
            return  # nobody could take its place, and nothing would happen
        others = [node.host.name for node in (*self.replicas, *self.nameservers)]
        ways = [
            way
            for far in others
            if far != master.host.name
            for way in ((far, master.host.name), (master.host.name, far))
        ]
        for source, target in ways:
            self.network.cut(source, target)
        self.operator.unreachable = master
        self.operator.plan_promotion(self.random.randint(100, 1_500))

        def heal() -> None:
            self.operator.unreachable = None
            for source, target in ways:
                self.network.heal(source, target)

        self.timeline.after(self.random.randint(500, 5_000), heal)

    def _switch(self, master: ReplicaNode) -> None:
        """The master is stopped by hand, and stays down until another is the master."""
        if self.operator.is_safe() or self.replica_plan.needed == 1:
            self.operator.plan_promotion(0)
            master.stop()

    def _replace(self, node: ReplicaNode) -> None:
        """Its disk is gone, and another is put in."""
        if node is self.operator.master:
            self.operator.plan_promotion(0)
        node.kill()
        node.disk = SimDisk()
        self._versions = {key: one for key, one in self._versions.items() if key[0] != node.number}
        self.operator.ended(node, has_lost=True)
        self._tails.pop(node.number, None)

    def _calm(self) -> None:
        self.operator.calm()
        super()._calm()

    # Fate.

    def opened(self, node: Node) -> None:
        if not isinstance(node, ReplicaNode):
            return
        self.operator.opened(node)
        self._check_tail_saved(node)
        if node is self.operator.master and node.lives_as.role.is_master:
            # What is done at most once in each life may be done again.
            self.ends.setdefault(node.name, []).append((self.timeline.now_ms, "opened as master"))
            super().opened(node)

    def _broker_ended(self, node: BrokerNode, how: str) -> None:
        assert isinstance(node, ReplicaNode)
        is_async = node.plan.storage.flush_mode is FlushMode.ASYNC
        has_lost = (is_async and how == "without power") or node.has_lost
        node.has_failing_disk = False
        self._tails.pop(node.number, None)
        if node is self.operator.master:
            self.views.pop(node.name, None)
            if has_lost and self.replica_plan.needed == 1:
                self.note_loss(node.name)
            if not self.is_calm and self.random.random() < 0.5:
                self.operator.plan_promotion(self.random.randint(0, 1_000))
        self.operator.ended(node, has_lost=has_lost)
        if not self.is_calm and self.random.random() < 0.1:
            self._arm(node)

    def masters_changed(self, master: ReplicaNode, *, may_lose: bool) -> None:
        """Somebody else is the master from now on."""
        self.brokers = [master]
        self.views.pop(master.name, None)
        if may_lose:
            self.note_loss(master.name)

    def loss_ms_max(self, node: BrokerNode) -> int:
        """What a slave lacks may be old: it was cut off, or slow."""
        return LOST_AT_WILL_MS

    # Copies.

    def follows(self, node: ReplicaNode, master: ReplicaNode) -> bool:
        """Whether a broker follows the process that a master has now."""
        followed = node.followed()
        return (
            followed is not None
            and master.is_master
            and followed[0] == master.ha_address
            and node.host.clock.now().monotonic_ms - followed[1]
            <= self.timeline.now_ms - master.opened_ms
        )

    def _compare(self) -> None:
        self._looks += 1
        for master in self.replicas:
            if not master.is_master:
                continue
            for node in self.replicas:
                if self.follows(node, master):
                    self._compare_logs(node, master)
            self._compare_counts(master)

    def _compare_logs(self, node: ReplicaNode, master: ReplicaNode) -> None:
        self._compare_acknowledged(node, master)
        lives = (node.number, node.opened_ms, master.number, master.opened_ms)
        start = self._compared.get(lives, max(node.store.min_offset, master.store.min_offset))
        end = node.store.end_offset
        ours, theirs = node.log_bytes(start, end), master.log_bytes(start, end)
        if ours != theirs:
            self.history.breach(
                "other bytes",
                f"{node.host.name} has [{start}, {end}) and {master.host.name} has other bytes"
                f" there, or ends at {master.store.end_offset}",
            )
        self._compared_bytes += end - start
        self._compared[lives] = end

    def _compare_acknowledged(self, node: ReplicaNode, master: ReplicaNode) -> None:
        for copy in master.copies():
            if copy.peer.host != node.host.name or not copy.has_reported:
                continue
            if copy.ack_offset > node.safe_offset:
                self.history.breach(
                    "false acknowledgement",
                    f"{node.host.name} has {node.safe_offset}, {copy.ack_offset} is acknowledged",
                )
            elif not node.is_record_end(copy.ack_offset):
                self.history.breach(
                    "half a record acknowledged", f"{node.host.name} to {copy.ack_offset}"
                )

    def _compare_counts(self, master: ReplicaNode) -> None:
        """Of the copies that count, and of the appends that they allow."""
        counted = [copy.peer.host for copy in master.copies() if copy.counts]
        if len(set(counted)) < len(counted):
            self.history.breach("counted twice", f"{master.host.name} counts {counted}")
        replication, now_ms = self.replica_plan.replication, self.timeline.now_ms
        for node in self.replicas:
            if node.is_up:
                self._gone_ms.pop(node.number, None)
            gone_ms = now_ms - self._gone_ms.setdefault(node.number, now_ms)
            if gone_ms > replication.silence_ms_max + SILENCE_SLACK_MS and (
                node.host.name in counted
            ):
                self.history.breach(
                    "counted although gone", f"{node.host.name}, {gone_ms} ms after its end"
                )

    def _compare_appends(self) -> None:
        for master in self.replicas:
            before = self._short.pop(master.number, None)
            if not master.is_master or master.counted + 1 >= self.replica_plan.needed:
                continue
            end = master.store.end_offset
            self._short[master.number] = (master.opened_ms, end)
            if before is not None and before[0] == master.opened_ms and end > before[1]:
                self.history.breach(
                    "appended for nobody", f"{master.host.name} from {before[1]} to {end}"
                )

    def _compare_versions(self) -> None:
        for node in self.replicas:
            if not node.is_serving:
                continue
            for name, version in node.versions().items():
                before = self._versions.get((node.number, name), version)
                self._versions[node.number, name] = version
                # Within a term a slave may have made a group of its own, and given it up again.
                if version.state_version < before.state_version:
                    self.history.breach(
                        "older table",
                        f"{node.host.name} has {name} of {tuple(version)} after {tuple(before)}",
                    )

    # Cuts.

    def _note_cut(self, node: ReplicaNode, cut_at: int) -> None:
        end = node.store.end_offset
        self._tails[node.number] = (cut_at, node.log_bytes(cut_at, end))
        self._cut_count += 1
        self.say(f"{node.host.name} is cut at {cut_at} of {end}")

    def _check_tail_saved(self, node: ReplicaNode) -> None:
        if node.number not in self._tails:
            return
        start, tail = self._tails.pop(node.number)
        path = f"{ROOT}/diverged/{start:020d}-{start + len(tail):020d}"
        if node.store.end_offset != start or node.disk.read(path) != tail:
            self.history.breach("tail not saved", f"{node.host.name}: {path}")

    def figures(self) -> dict[str, int]:
        """What happened, for the figures."""
        return {
            "promotions": self.operator.promotions,
            "of what was left": self.operator.disasters,
            "cuts": self._cut_count,
            "looks": self._looks,
            "bytes compared": self._compared_bytes,
        }

    # The end.

    def what_is_left(self) -> str:
        master = self.operator.master
        for node in self.replicas:
            if not node.is_serving or node.lives_as != self.operator.role_of(node):
                return f"{node.host.name} is not what it is to be"
        for node in self.replicas:
            if node is not master:
                if not self.follows(node, master):
                    return f"{node.host.name} does not follow: {node.why_not()}"
                if node.safe_offset < master.store.end_offset:
                    return f"{node.host.name} has {node.safe_offset} of {master.store.end_offset}"
        return super().what_is_left()
