"""A master and slaves that copy its log over the simulated network, and the faults between them.

The nodes have what replication needs and nothing else: a log in memory that outlives its process,
a primary or a replica, and a driver with HA links. The comparison of logs looks at the master's log
directly; where the two part, the slave's log is cut and its process started again, as the product
does.

Checked all the time: every slave's log is a byte prefix of the master's, and as many brokers as
`inSyncReplicas` says have what the master calls copied. At the end, with everything healed: every
slave follows and has all of it.
"""

import random
from collections.abc import Callable

from aerobee.model.broker_role import BrokerRole
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Peer, Service
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.in_sync import InSync
from aerobee.replication.primary import WINDOW_BYTES, Primary
from aerobee.replication.replica import CutAt, Follow, Refuse, Replica, ReplicaState, Verdict
from aerobee.sim.crash_choice import CrashChoice
from aerobee.sim.disk import SimDisk
from aerobee.sim.network import Network
from aerobee.sim.node import Fate, Node
from aerobee.sim.timed_worker import TimedDiskWorker
from aerobee.sim.timeline import Timeline
from tests.replication_kit import MemoryLog

PORT, HA_PORT = 10911, 10912
MASTER_HOST = "10.0.0.1"
FILE_BYTES = 20_000
BEAT_MS, SILENCE_MS = 1_000, 4_000
CHECK_MS = 20
TICK_MS = 20
FLUSH_MS = 60


class LogService:
    """A service whose only business is its log."""

    def __init__(self, links: Primary | Replica, tick: Callable[[Now], Effects]) -> None:
        self.links = links
        self._tick = tick

    def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects:
        return []

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        return []

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> Effects:
        return []

    def on_closed(self, channel: ChannelId, now: Now) -> Effects:
        return []

    def on_tick(self, now: Now) -> Effects:
        return self._tick(now)

    def rest_ms(self, now: Now) -> int:
        return min(TICK_MS, self.links.rest_ms(now))


class LogNode(Node):
    """A process with a log, on a machine whose disk keeps what was flushed."""

    def __init__(self, name: str, story: "Story", host: str, port: int) -> None:
        super().__init__(name, story.network.host(host), port, story, lambda lane: 1)
        self.story = story
        self.log = MemoryLog(file_bytes=FILE_BYTES)

    def _close(self) -> None:
        pass

    def cut_power(self) -> None:
        self.log.cut_power()
        super().cut_power()

    def flush_sometimes(self, now: Now) -> None:
        if now.monotonic_ms % FLUSH_MS < TICK_MS:
            self.log.flush()


class MasterNode(LogNode):
    def __init__(self, story: "Story") -> None:
        super().__init__("master", story, MASTER_HOST, PORT)
        self.ha_port = HA_PORT
        self.primary: Primary | None = None

    def _build(self, worker: TimedDiskWorker) -> Service:
        config = self.story.config
        self.primary = Primary(self.log, InSync(config), config, FILE_BYTES)
        return LogService(self.primary, self._tick)

    def _forget(self) -> None:
        self.primary = None

    def _tick(self, now: Now) -> Effects:
        assert self.primary is not None
        self.story.load(self.log)
        self.flush_sometimes(now)
        return self.primary.push(now)


class SlaveNode(LogNode):
    def __init__(self, story: "Story", name: str, host: str, port: int) -> None:
        super().__init__(name, story, host, port)
        self.replica: Replica | None = None
        self.checked_to = 0
        """The log was compared up to here; all of it is again at the end."""

    def _build(self, worker: TimedDiskWorker) -> Service:
        config = self.story.slave_config
        acks_flushed = self.story.acks_flushed
        self.replica = Replica(self.log, config, FILE_BYTES, self, acks_flushed=acks_flushed)
        return LogService(self.replica, self._tick)

    def _forget(self) -> None:
        self.replica = None

    def _tick(self, now: Now) -> Effects:
        assert self.replica is not None
        self.flush_sometimes(now)
        return self.replica.step(now)

    def begin(self, ticket: int, now: Now) -> Effects:
        """`LogCheck`, answered at once."""
        assert self.replica is not None
        verdict = self._verdict()
        if isinstance(verdict, CutAt):
            self.story.later(lambda: self.cut(verdict.log_offset))
        return self.replica.checked(ticket, verdict, now)

    def _verdict(self) -> Verdict:
        mine, masters = self.log, self.story.master.log
        if mine.end_offset == mine.min_offset:
            return Follow(0)
        if mine.min_offset < masters.min_offset and mine.end_offset < masters.min_offset:
            return Refuse("away for too long", "")
        start, end = max(mine.min_offset, masters.min_offset), mine.end_offset
        if mine.content(start, end) == masters.content(start, end):
            return Follow(end)
        parted = start
        while mine.content(parted, parted + 1) == masters.content(parted, parted + 1):
            parted += 1
        return CutAt(mine.record_start(parted), "another record")

    def cut(self, offset: int) -> None:
        if self.is_up:
            self.kill("to be cut")
            self.log.cut(offset)
            self.start()


class Story(Fate):
    """One run, from its seed."""

    def __init__(
        self,
        seed: int,
        *,
        slaves: int = 2,
        k: int = 1,
        is_one_host: bool = False,
        acks_flushed: bool = True,
    ) -> None:
        self.random = random.Random(seed)
        self.timeline = Timeline()
        self.network = Network(self.timeline, self.random)
        self.failures: list[str] = []
        self.acks_flushed = acks_flushed
        role = BrokerRole.SYNC_MASTER if k > 1 else BrokerRole.ASYNC_MASTER
        self.config = ReplicationConfig(
            role=role,
            in_sync_replicas=k,
            transfer_bytes=self.random.choice((1_024, 7_000, 64 << 10)),
            heartbeat_interval_ms=BEAT_MS,
            silence_ms_max=SILENCE_MS,
        )
        self.slave_config = ReplicationConfig(
            role=BrokerRole.SLAVE,
            master_ha_address=f"{MASTER_HOST}:{HA_PORT}",
            heartbeat_interval_ms=BEAT_MS,
            silence_ms_max=SILENCE_MS,
        )
        self.k = k
        self.is_loaded = True
        self.lost_tail = False
        self.held_max = 0
        self.master = MasterNode(self)
        hosts = ["10.0.0.2"] * slaves if is_one_host else [f"10.0.0.{n + 2}" for n in range(slaves)]
        self.slaves = [
            SlaveNode(self, f"slave-{number}", host, PORT + number)
            for number, host in enumerate(hosts)
        ]
        self.master.start()
        for slave in self.slaves:
            slave.start()
        self._check()

    # What happens.

    def run(self, ms: int) -> None:
        self.timeline.run(self.timeline.now_ms + ms)

    def later(self, action: Callable[[], None], ms: int = 0) -> None:
        self.timeline.after(ms, action)

    def load(self, log: MemoryLog) -> None:
        """Some sends, now and then a burst that is larger than a window."""
        if self.is_loaded and self.random.random() < 0.1:
            count = 150 if self.random.random() < 0.01 else self.random.randint(1, 4)
            for _ in range(count):
                size = 11_000 if self.random.random() < 0.05 else self.random.choice((3, 80, 900))
                log.append(self.random.randbytes(size))

    def disturb(self, faults: "list[str]", until_ms: int) -> None:
        """One fault after another, each undone after a while."""
        while self.timeline.now_ms < until_ms:
            fault = self.random.choice(faults)
            slave = self.random.choice(self.slaves)
            length_ms = self.random.choice((50, 500, 3_000, 6_000, 12_000))
            getattr(self, f"_{fault}")(slave, length_ms)
            self.run(self.random.choice((10, 300, 2_000, 8_000)))

    def _ways(self, slave: SlaveNode) -> list[tuple[str, str]]:
        ways = [(MASTER_HOST, slave.host.name), (slave.host.name, MASTER_HOST)]
        return ways if self.random.random() < 0.6 else [self.random.choice(ways)]

    def _cut(self, slave: SlaveNode, length_ms: int) -> None:
        for way in self._ways(slave):
            self.network.cut(*way)
            self.later(lambda way=way: self.network.heal(*way), length_ms)  # type: ignore[misc]

    def _slow(self, slave: SlaveNode, length_ms: int) -> None:
        for way in self._ways(slave):
            link = self.network.link(*way)
            link.bytes_per_second = self.random.choice((2_000, 50_000, 500_000))
            self.later(lambda link=link: setattr(link, "bytes_per_second", 0), length_ms)  # type: ignore[misc]

    def _reset(self, slave: SlaveNode, length_ms: int) -> None:
        sides = self.network.sides()
        if sides:
            self.random.choice(sides).reset()

    def _kill(self, slave: SlaveNode, length_ms: int) -> None:
        self._take_down(slave, slave.kill, length_ms)

    def _kill_master(self, slave: SlaveNode, length_ms: int) -> None:
        self._take_down(self.master, self.master.kill, length_ms)

    def _cut_power(self, slave: SlaveNode, length_ms: int) -> None:
        self._take_down(slave, slave.cut_power, length_ms)

    def _cut_power_of_master(self, slave: SlaveNode, length_ms: int) -> None:
        self.lost_tail = True
        self._take_down(self.master, self.master.cut_power, length_ms)

    def _take_down(self, node: LogNode, how: Callable[[], None], length_ms: int) -> None:
        if node.is_up:
            how()
            self.later(lambda: None if node.is_up else node.start(), length_ms)

    def heal(self) -> None:
        self.network.heal_all()
        for node in (self.master, *self.slaves):
            for other in (MASTER_HOST, *(slave.host.name for slave in self.slaves)):
                self.network.link(node.host.name, other).bytes_per_second = 0
            if not node.is_up:
                node.start()

    # What is judged.

    def _check(self) -> None:
        self.later(self._check, CHECK_MS)
        masters = self.master.log
        for slave in self.slaves:
            log = slave.log
            start = max(slave.checked_to, log.min_offset, masters.min_offset)
            if not self.lost_tail and log.end_offset > masters.end_offset:
                self.failures.append(f"{slave.name} is longer than the master")
            end = min(log.end_offset, masters.end_offset)
            if not self.lost_tail and log.content(start, end) != masters.content(start, end):
                self.failures.append(f"{slave.name} is no prefix of the master")
            slave.checked_to = end
        for side in self.network.sides():
            self.held_max = max(self.held_max, side.get_write_buffer_size())
        self._check_copied()

    def _check_copied(self) -> None:
        if self.master.primary is None or self.k < 2 or self.lost_tail:
            return
        copied = self.master.primary.in_sync.copied_offset(self.master.log.end_offset)
        assert copied is not None
        having = sum(
            1
            for slave in self.slaves
            if (slave.log.flushed_offset if self.acks_flushed else slave.log.end_offset) >= copied
        )
        if copied and 1 + having < self.k:
            self.failures.append(f"{copied} is called copied, and {1 + having} brokers have it")

    def judge(self) -> None:
        """Everything is well again: does everybody know?"""
        assert not self.failures, self.failures[0]
        for slave in self.slaves:
            assert slave.replica is not None
            status = slave.replica.status(slave.host.clock.now())
            assert status.state is ReplicaState.FOLLOWING, status
            masters, log = self.master.log, slave.log
            assert log.end_offset == masters.end_offset, status
            start = max(log.min_offset, masters.min_offset)
            assert log.content(start, log.end_offset) == masters.content(start, log.end_offset)
        assert self.master.primary is not None
        in_sync = self.master.primary.in_sync
        assert in_sync.count(self.master.log.end_offset) == 1 + len(self.slaves)
        if self.k > 1:
            assert in_sync.copied_offset(self.master.log.end_offset) == self.master.log.end_offset
        assert self.held_max <= WINDOW_BYTES + (512 << 10)

    # `Fate`.

    def surviving(self, disk: SimDisk) -> CrashChoice:
        return CrashChoice("nothing", frozenset(), frozenset())

    def failed(self, node: Node, error: BaseException) -> None:
        self.failures.append(f"{node.name}: {error!r}")
