"""A story: a cluster and its clients on one timeline, and what befalls them.

    0 ─────────── trouble ───────────▶ trouble_ms ──── all healed ────▶ everything consumed, or late

Two parts, as a safety and a liveness check: while there is trouble nothing may be lost or shown
that must not be; when it is over, everything must get where it belongs.
"""

import logging
import random
from collections.abc import Callable
from functools import partial

from aerobee.ports.disk_worker import Lane
from aerobee.service.nameserver.config import NameServerConfig
from aerobee.sim.broker_node import BrokerNode, BrokerPlan
from aerobee.sim.crash_choice import CrashChoice
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import SimFaults
from aerobee.sim.nameserver_node import NameServerNode
from aerobee.sim.network import Network
from aerobee.sim.node import Fate, Node
from aerobee.sim.timeline import Timeline
from aerobee.storage.config import FlushMode, StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.sim.client import Client
from tests.sim.consumer import Consumer, Taste
from tests.sim.grpc_popper import PORT as GRPC_PORT
from tests.sim.grpc_popper import GrpcPopper
from tests.sim.history import History, Place
from tests.sim.plan import UNLIMITED, Blow, Plan, Trouble
from tests.sim.popper import Popper
from tests.sim.producer import Producer
from tests.sim.stored import StoredView
from tests.sim.timekeeper import Timekeeper
from tests.sim.trader import Trader

NAMESERVER_PORT = 9876
BROKER_PORT = 10911
CALM_MS_MAX = 90_000  # until everything must have got where it belongs
LOOK_MS = 500
DIRTY_TRIES = 600  # milliseconds


class World(Fate):
    def __init__(
        self,
        plan: Plan,
        generator: random.Random,
        *,
        defects: Defects = NO_DEFECTS,
        is_traced: bool = False,
    ) -> None:
        self.plan = plan
        self.random = generator
        self.timeline = Timeline()
        self.network = Network(self.timeline, generator, plan.buffer_bytes)
        self.history = History(lambda: self.timeline.now_ms)
        self.history.may_lose_after = lambda broker, at_ms: any(
            at_ms <= lost_ms for lost_ms in self.losses(broker)
        )
        self.history.early_ms_max = self._early_ms_max
        self.trace: list[str] | None = [] if is_traced else None
        self.is_calm = False
        self.calm_ms = 0
        self.stall_until_ms: dict[str, int] = {}
        self.set_back: set[str] = set()
        """Brokers whose clock was set back."""
        self._jumped_ms: dict[str, int] = {}
        self._forgotten_jumps_ms: dict[str, int] = {}
        self.ends: dict[str, list[tuple[int, str]]] = {}
        """By broker, when its processes ended, and how."""
        self.may_lose: set[str] = set()
        """Brokers that lost, or may have lost, what was never promised to be kept."""
        self._losses: dict[str, list[int]] = {}
        self.views: dict[str, StoredView] = {}
        addresses = [f"10.0.0.{n + 1}:{NAMESERVER_PORT}" for n in range(plan.nameservers)]
        self.nameservers = [
            NameServerNode(
                f"names-{n}",
                self.network.host(address.split(":")[0]),
                NAMESERVER_PORT,
                self,
                self._delay_of(address.split(":")[0], 3),
                NameServerConfig(scan_interval_ms=1_000),
            )
            for n, address in enumerate(addresses)
        ]
        self.defects = defects
        self.machines = [
            self._make_broker(n, storage, addresses) for n, storage in enumerate(plan.storages)
        ]
        """All processes of brokers."""
        self.brokers = list(self.machines)
        """Those that clients send to."""
        self._addresses = addresses
        self.producers: list[Producer] = []
        self.consumers: list[Consumer | Popper] = []
        self._members = 0
        self._has_clients = True

    def _make_broker(
        self, number: int, storage: StorageConfig, nameservers: list[str]
    ) -> BrokerNode:
        host = self.network.host(f"10.0.1.{number + 1}")
        return BrokerNode(
            f"broker-{number}",
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
                grpc_port=GRPC_PORT if any(taste.is_mixed for taste in self.plan.tastes) else 0,
            ),
        )

    # The story.

    def run(self) -> None:
        """Up to the first breach, or to the end."""
        for node in (*self.nameservers, *self.machines):
            node.start()
        self._start_clients()
        for blow in self.plan.blows:
            self.timeline.after(blow.at_ms, lambda blow=blow: self._strike(blow))  # type: ignore[misc]
        self._run_until(self.plan.trouble_ms)
        self._calm()
        deadline_ms = self.timeline.now_ms + CALM_MS_MAX
        while not self.history.breaches:
            if self.is_drained():
                return
            if self.timeline.now_ms >= deadline_ms:
                self.history.breach("late", f"not everything is consumed: {self.what_is_left()}")
                return
            self._run_until(self.timeline.now_ms + LOOK_MS)

    def pass_time(self, ms: int) -> None:
        self._run_until(self.timeline.now_ms + ms)

    def _run_until(self, until_ms: int) -> None:
        self.timeline.run(until_ms, lambda: bool(self.history.breaches))

    def _start_clients(self) -> None:
        for number, load in enumerate(self.plan.loads):
            host = self.network.host(f"10.0.2.{number + 1}")
            self.producers.append(
                Producer(f"p{number}", host, self._addresses, self.random, self.history, load=load)
            )
        for number, load in enumerate(self.plan.trades):
            host = self.network.host(f"10.0.4.{number + 1}")
            self.producers.append(
                Trader(f"t{number}", host, self._addresses, self.random, self.history, load=load)
            )
        for number, load in enumerate(self.plan.alarms):
            host = self.network.host(f"10.0.5.{number + 1}")
            self.producers.append(
                Timekeeper(
                    f"k{number}", host, self._addresses, self.random, self.history, load=load
                )
            )
        for number in range(len(self.plan.tastes) * self.plan.members):
            self._start_consumer(number % len(self.plan.tastes))

    def end_clients(self) -> None:
        """Nobody asks for anything any more."""
        self._has_clients = False
        for client in (*self.producers, *self.consumers):
            client.process.kill()

    def _start_consumer(self, group: int) -> None:
        if not self._has_clients:
            return
        self._members += 1
        host = self.network.host(f"10.0.3.{self._members}")
        taste = self.plan.tastes[group]
        kind = _kind_of(taste, sum(one.taste is taste for one in self.consumers))
        self.consumers.append(
            kind(
                f"c{self._members}",
                host,
                self._addresses,
                self.random,
                self.history,
                taste=taste,
            )
        )

    def say(self, text: str) -> None:
        if self.trace is not None:
            self.trace.append(f"{self.timeline.now_ms:>7} {text}")

    def _calm(self) -> None:
        """All trouble is over, but for what it left."""
        self.say("calm")
        self.is_calm = True
        self.calm_ms = self.timeline.now_ms
        self.network.heal_all()
        self.stall_until_ms.clear()
        for consumer in self.consumers:
            for line in consumer.lines():
                line.go_on_reading()
        for broker in self.machines:
            broker.disk.capacity_bytes = UNLIMITED
            broker.disk.faults = SimFaults()
        for node in (*self.nameservers, *self.machines):
            if not node.is_up:
                self._restart_in(node, self.random.randint(0, 500))

    # Trouble.

    def _strike(self, blow: Blow) -> None:
        if self.is_calm:
            return
        broker = self.random.choice(self.machines)
        self.say(f"{blow.trouble.value} ({broker.name})")
        match blow.trouble:
            case Trouble.KILL:
                broker.kill()
            case Trouble.POWER_CUT:
                dirty_ms = self.random.randint(0, self.random.choice((5, 20, 300)))
                self._cut_power(broker, dirty_ms, DIRTY_TRIES)
            case Trouble.CRASH_IN_CALL:
                self._arm(broker)
            case Trouble.RESTART:
                broker.stop()
            case Trouble.NAMESERVER:
                node = self.random.choice(self.nameservers)
                node.kill() if self.random.random() < 0.5 else node.cut_power()
            case Trouble.CUT_LINK:
                self._cut_link(broker)
            case Trouble.RESET:
                for side in self.network.sides():
                    if self.random.random() < 0.3:
                        side.reset()
            case Trouble.DISK_FULL:
                self._fill(broker)
            case Trouble.SYNC_FAILS:
                self._fail_sync(broker)
            case Trouble.SLOW_DISK:
                until_ms = self.timeline.now_ms + self.random.randint(100, 2_000)
                self.stall_until_ms[broker.host.name] = until_ms
            case Trouble.CLOCK:
                ms = self.random.randint(-5_000, 5_000)
                if ms < 0:
                    self.set_back.add(broker.name)
                known = self._jumped_ms if broker.is_up else self._forgotten_jumps_ms
                known[broker.name] = known.get(broker.name, 0) + max(0, ms)
                broker.host.clock.jump_wall(ms)
            case Trouble.CONSUMER_CRASH:
                self._crash_consumer()
            case Trouble.SLOW_READER:
                self._slow_reader()

    def _cut_power(self, broker: BrokerNode, dirty_ms: int, tries: int) -> None:
        """When something has been on its way to the disk for a moment, if that comes soon."""
        if self.is_calm or not broker.is_serving:
            return
        is_dirty = broker.store.flushed_offset < broker.store.end_offset
        if tries == 0 or (is_dirty and dirty_ms <= 0):
            broker.cut_power()
        else:
            self.timeline.after(1, lambda: self._cut_power(broker, dirty_ms - is_dirty, tries - 1))

    def _arm(self, broker: BrokerNode) -> None:
        """One of the next disk calls is the last."""
        broker.is_kill_planned = self.random.random() < 0.4
        broker.disk.faults.power_cut_at(self.random.randint(1, 60))

    def _cut_link(self, broker: BrokerNode) -> None:
        others: list[Node | Client] = [*self.nameservers, *self.producers, *self.consumers]
        other = self.random.choice(others)
        far = other.host.name if isinstance(other, Node) else other.process.host.name
        ways = [(broker.host.name, far), (far, broker.host.name)]
        if isinstance(other, Client) and self.random.random() < 0.2:
            names = self.random.choice(self.nameservers).host.name
            ways = [(names, far), (far, names)]
        if self.random.random() < 0.3:
            ways = [self.random.choice(ways)]
        ms = self.random.randint(100, 4_000)
        for source, target in ways:
            self.say(f"{source} -x-> {target} for {ms} ms")
            self.network.cut(source, target)

            def heal(source: str = source, target: str = target) -> None:
                self.network.heal(source, target)

            self.timeline.after(ms, heal)

    def _fill(self, broker: BrokerNode) -> None:
        disk = broker.disk
        disk.capacity_bytes = disk.used_bytes() + self.random.choice((0, 3_000, 30_000))

        def empty() -> None:
            broker.disk.capacity_bytes = UNLIMITED

        self.timeline.after(self.random.randint(200, 2_500), empty)

    def _fail_sync(self, broker: BrokerNode) -> None:
        broker.has_failing_disk = True
        pattern = self.random.choice(("*commitlog*", "*consumequeue*", "*"))
        broker.disk.faults.fail_sync(pattern, self.random.randint(1, 5))

    def _crash_consumer(self) -> None:
        consumer = self.random.choice(self.consumers)
        if consumer.process.is_over:
            return
        if self.random.random() < 0.5:
            consumer.process.kill()
        else:
            consumer.process.host.cut_power()
        self.say(f"{consumer.name} is gone")
        group = list(self.plan.tastes).index(consumer.taste)
        self.timeline.after(self.random.randint(100, 2_000), lambda: self._start_consumer(group))

    def _slow_reader(self) -> None:
        for line in self.random.choice(self.consumers).lines():
            line.stop_reading()
            self.timeline.after(self.random.randint(100, 1_500), line.go_on_reading)

    # Fate.

    def _delay_of(self, host: str, mostly_ms: int) -> Callable[[Lane], int]:
        """How long disk work takes."""
        generator = self.random

        def delay_ms(lane: Lane) -> int:
            stall_ms = self.stall_until_ms.get(host, 0) - self.timeline.now_ms
            if stall_ms > 0:
                return generator.randint(stall_ms // 2, stall_ms)
            dice = generator.random()
            if dice < 0.3:
                return 0
            return generator.randint(0, mostly_ms if dice < 0.95 else 2 * mostly_ms + 50)

        return delay_ms

    def surviving(self, disk: SimDisk) -> CrashChoice:
        writes, names = disk.unsynced()
        draw = self.random
        kind = draw.choice(("nothing", "nothing", "everything", "beginning", "some", "some"))
        is_short = draw.random() < 0.5
        if kind == "nothing":
            return CrashChoice(kind, frozenset(), frozenset(), is_short)
        if kind == "everything":
            return CrashChoice(kind, frozenset(writes), frozenset(names), is_short)
        if kind == "beginning":
            moment = draw.choice([*writes, *names, 0])
            return CrashChoice(
                kind,
                frozenset(m for m in writes if m < moment),
                frozenset(m for m in names if m < moment),
                is_short,
            )
        return CrashChoice(
            kind,
            frozenset(m for m in writes if draw.random() < 0.5),
            frozenset(m for m in names if draw.random() < 0.7),
            is_short,
        )

    def started(self, node: Node) -> None:
        self.say(f"{node.name} serves")

    def opened(self, node: Node) -> None:
        if isinstance(node, BrokerNode):
            self.views[node.name] = StoredView(node.store)
            store = node.store

            def end_of(place: Place) -> int:
                queue = store.queue(place.topic.encode(), place.queue_id)
                return queue.max_offset if queue is not None else 0

            may_lose = node.name in self.may_lose
            self.may_lose.discard(node.name)
            self.history.restart(node.name, end_of, may_lose=may_lose)
            if may_lose:
                self.views[node.name].excuse(node, self)

    def ended(self, node: Node, how: str) -> None:
        self.say(f"{node.name} is {how} ({node.disk.origin})")
        self.ends.setdefault(node.name, []).append((self.timeline.now_ms, how))
        if how == "hung":
            self.history.breach("hung", f"{node.name} did not stop")
        if isinstance(node, BrokerNode):
            self._broker_ended(node, how)
        self._restart_in(node, self.random.randint(50, 1_500))

    def _broker_ended(self, node: BrokerNode, how: str) -> None:
        jumped_ms = self._jumped_ms.pop(node.name, 0)
        forgotten_ms = self._forgotten_jumps_ms.get(node.name, 0)
        self._forgotten_jumps_ms[node.name] = forgotten_ms + jumped_ms
        self.views.pop(node.name, None)
        is_async = node.plan.storage.flush_mode is FlushMode.ASYNC
        if is_async and (how == "without power" or node.has_failing_disk):
            self.note_loss(node.name)
        node.has_failing_disk = False
        if not self.is_calm and self.random.random() < 0.1:
            self._arm(node)  # in the middle of its recovery

    def note_loss(self, broker: str) -> None:
        """It may have lost now what was never promised to be kept."""
        self.may_lose.add(broker)
        self._losses.setdefault(broker, []).append(self.timeline.now_ms)

    def loss_ms_max(self, node: BrokerNode) -> int:
        """Of how long a time a loss may be."""
        return node.plan.storage.flush_lag_ms_max

    def _restart_in(self, node: Node, ms: int) -> None:
        def start() -> None:
            if not node.is_up:
                node.start()

        self.timeline.after(ms, start)

    def failed(self, node: Node, error: BaseException) -> None:
        self.history.breach("error", f"{node.name}: {error!r}")
        raise error

    def _early_ms_max(self, broker: str) -> int:
        """Only a process that ran when its clock was set knows what not to believe."""
        return self._forgotten_jumps_ms.get(broker, 0)

    def losses(self, broker: str) -> list[int]:
        """When it may have lost what was never promised to be kept."""
        return self._losses.get(broker, [])

    # The end.

    def is_drained(self) -> bool:
        return not self.what_is_left()

    def what_is_left(self) -> str:
        """The first thing that is not where it belongs yet; empty if nothing is."""
        for producer in self.producers:
            if not producer.is_done:
                return f"{producer.name} is not done"
        for broker in self.brokers:
            if not broker.is_serving or broker.name not in self.views:
                return f"{broker.name} is down"
        for broker in self.brokers:
            left = self.views[broker.name].what_is_left(broker, self)
            if left:
                return left
        return ""


def _kind_of(taste: Taste, number: int) -> type[Consumer | Popper]:
    """Of the next member of a group that has had so many."""
    if not taste.is_popping:
        return Consumer
    return GrpcPopper if taste.is_mixed and number % 2 == 0 else Popper


class LogCapture(logging.Handler):
    """Errors that the product logs: a mistake of ours comes with its traceback."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.DEBUG if world.trace is not None else logging.WARNING)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        self._world.say(f"log {record.levelname} {record.getMessage()}")
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            if record.getMessage() == "a tick failed":
                return  # the node is told, and knows whether it may
            self._world.history.breach("logged error", f"{record.getMessage()}: {error!r}")
